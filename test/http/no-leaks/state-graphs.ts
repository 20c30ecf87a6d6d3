/** State graphs with marks in every value that their output schemas hide. */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  Command,
  END,
  messagesStateReducer,
  Send,
  START,
  StateGraph,
  task,
} from "@langchain/langgraph";
import { createAgent, createMiddleware } from "langchain";
import { z } from "zod";
import { FakeModel } from "../../fixtures/fake-model.ts";
import { FINE, leak, leakyModel, pauseAndAsk } from "./mark.ts";

const shown = Annotation<string>;
const messages = Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] });
const list = (first: string[] = []) =>
  Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => first });

/** Hides strings, messages, lists, a default, a node's private input, and arguments of tasks. */
function makeAnnotation() {
  const State = Annotation.Root({
    topic: shown,
    shown,
    secret: Annotation<string>,
    draft: messages,
    note: Annotation<BaseMessage>,
    talk: Annotation<string>,
    list: list([leak("annotation.default")]),
  });
  const Private = Annotation.Root({ aside: Annotation<string> });
  const mark = (place: string) => leak(`annotation.${place}`);
  const find = tool(() => mark("tool-output"), { name: "find", schema: z.object({ what: z.string() }) });
  return new StateGraph({
    stateSchema: State,
    output: Annotation.Root({ topic: State.spec.topic, shown: State.spec.shown }),
  })
    .addNode("gather", async () => ({
      secret: mark("secret"),
      aside: mark("aside"),
      list: [String(await find.invoke({ what: mark("tool-input") }))],
    }))
    .addNode("alone", ({ aside }: typeof Private.State) => ({ list: [`${aside} read`] }), { input: Private })
    .addNode("think", async () => ({ note: await leakyModel("annotation.tokens").invoke("?") }))
    .addNode("tell", async () => ({ talk: (await leakyModel("annotation.text").invoke("?")).text }))
    .addNode("write", () => ({ draft: [new AIMessage({ id: "hidden", content: mark("message") })] }))
    .addNode("worker", ({ payload }: { payload: string }) => ({ list: [`${payload} done`] }))
    .addNode("route", () => new Command({ update: { secret: mark("command") }, goto: ["ask", "beside"] }), {
      ends: ["ask", "beside"],
    })
    .addNode("beside", () => ({ list: [mark("pending")] }))
    .addNode("ask", async (_, config) => ({ shown: await pauseAndAsk(config) }))
    .addEdge(START, "gather")
    .addEdge("gather", "alone")
    .addEdge("alone", "think")
    .addEdge("alone", "tell")
    .addEdge("alone", "write")
    .addConditionalEdges("think", () => [new Send("worker", { payload: mark("send"), topic: FINE })], [
      "worker",
    ])
    .addEdge("worker", "route")
    .addEdge("ask", END)
    .compile({ name: "annotation" });
}

/** Hides keys with defaults at every depth of their schemas. */
function makeZod() {
  const mark = (place: string) => leak(`zod.${place}`);
  const State = z.object({
    topic: z.string().default(FINE),
    shown: z.string().optional(),
    secret: z.string().default(mark("default")),
    deep: z
      .object({ inner: z.string().default(mark("inner-default")), more: z.array(z.string()).optional() })
      .default({ inner: mark("object-default") }),
  });
  return new StateGraph({ state: State, output: State.pick({ topic: true, shown: true }) })
    .addNode("gather", () => ({ secret: mark("secret"), deep: { inner: mark("deep") } }))
    .addNode("ask", async (_, config) => ({ shown: await pauseAndAsk(config) }))
    .addEdge(START, "gather")
    .addEdge("gather", "ask")
    .addEdge("ask", END)
    .compile({ name: "zod" });
}

/** A createAgent graph with middleware that keeps private notes. */
function makeAgent() {
  const mark = (place: string) => leak(`agent.${place}`);
  const noting = createMiddleware({
    name: "noting",
    stateSchema: z.object({ _notes: z.string().default(mark("default")) }),
    beforeModel: () => ({ _notes: mark("notes") }),
  });
  const ask = tool(async (_, config) => `told: ${await pauseAndAsk(config)}`, {
    name: "ask",
    schema: z.object({}),
  });
  const model = new FakeModel((said) =>
    said.at(-1)?.type === "tool"
      ? `${FINE}: ${said.at(-1)?.text}`
      : { text: FINE, toolCalls: [{ name: "ask", args: {}, id: "call", type: "tool_call" }] },
  );
  return createAgent({ model, tools: [ask], middleware: [noting] }).graph;
}

/** Shows its whole state, and sends a node a payload outside the state. */
function makeSend() {
  const State = Annotation.Root({ topic: shown, shown, done: list() });
  return new StateGraph(State)
    .addNode("worker", ({ payload }: { payload: string }) => ({ done: [payload.replace(/.*/, FINE)] }))
    .addNode("ask", async (_, config) => ({ shown: await pauseAndAsk(config) }))
    .addConditionalEdges(
      START,
      () => [
        new Send("worker", { payload: leak("send.one"), topic: FINE }),
        new Send("worker", { payload: leak("send.two") }),
        new Send("ask", { payload: leak("send.asking") }),
      ],
      ["worker", "ask"],
    )
    .compile({ name: "send" });
}

/** Shows its whole state. Its nodes call tasks, one of them with the name of the calling node. */
function makeTasks() {
  const State = Annotation.Root({ topic: shown, shown, messages });
  const mark = (place: string) => leak(`tasks.${place}`);
  const found = task("find", async (what: string) => `${what} ${mark("text")}`);
  const asState = task("asState", async () => ({ shown: mark("object"), topic: mark("object-topic") }));
  const namesake = task("work", async () => ({ shown: mark("namesake") }));
  const said = task("say", async () => new AIMessage({ id: "said", content: mark("message") }));
  const spoken = task("speak", async () => leakyModel("tasks.tokens").invoke("?"));
  return new StateGraph(State)
    .addNode("work", async () => {
      await Promise.all([found(mark("input")), asState(), namesake(), said(), spoken()]);
      return { messages: [new AIMessage({ id: "shown", content: FINE })] };
    })
    .addNode("ask", async (_, config) => {
      await found(mark("second-input"));
      return { shown: await pauseAndAsk(config) };
    })
    .addEdge(START, "work")
    .addEdge("work", "ask")
    .addEdge("ask", END)
    .compile({ name: "tasks" });
}

/** Two nodes write one hidden key in the same superstep. LangGraph's error message contains both values. */
function makeConflict() {
  const State = Annotation.Root({ topic: shown, secret: Annotation<string> });
  return new StateGraph({ stateSchema: State, output: Annotation.Root({ topic: shown }) })
    .addNode("one", () => ({ secret: leak("conflict.one") }))
    .addNode("two", () => ({ secret: leak("conflict.two") }))
    .addEdge(START, "one")
    .addEdge(START, "two")
    .compile({ name: "conflict" });
}

/** A graph without output channels, so its visible keys cannot be determined. */
function makeUnknown() {
  const State = Annotation.Root({ topic: shown, shown, secret: Annotation<string> });
  const graph = new StateGraph(State)
    .addNode("gather", () => ({ secret: leak("unknown.secret"), shown: leak("unknown.shown") }))
    .addNode("ask", async (_, config) => ({ shown: leak(`unknown.${await pauseAndAsk(config)}`) }))
    .addEdge(START, "gather")
    .addEdge("gather", "ask")
    .addEdge("ask", END)
    .compile({ name: "unknown" });
  return Object.assign(graph, { outputChannels: undefined });
}

export const annotation = makeAnnotation();
export const zod = makeZod();
export const agent = makeAgent();
export const send = makeSend();
export const tasks = makeTasks();
export const conflict = makeConflict();
export const unknown = makeUnknown();
