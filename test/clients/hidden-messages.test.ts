/** The setting hold_messages: messages that may be written to a hidden key are held until their node ends. */
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import {
  Annotation,
  entrypoint,
  MessagesAnnotation,
  START,
  StateGraph,
  task,
  type LangGraphRunnableConfig,
} from "@langchain/langgraph";
import { createAgent, createMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { FakeModel } from "../fixtures/fake-model.js";
import { gateOf } from "../fixtures/gates.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import { recordingLogger } from "../helpers/service.js";
import { allEvents, readEvents, type SseEvent } from "../helpers/sse.js";
import type { Settings } from "../../src/config/settings.js";

const ask = (text: string) => new FakeModel(() => text).invoke("?");

/** The output contains the messages and the answer, but not the plan. */
const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  answer: Annotation<string>,
  plan: Annotation<AIMessage>,
  outline: Annotation<string>,
});
const narrow = new StateGraph({
  stateSchema: State,
  output: Annotation.Root({ ...MessagesAnnotation.spec, answer: State.spec.answer }),
})
  .addNode("think", async () => ({ plan: await ask("a secret plan") }))
  .addNode("sketch", async () => ({ outline: (await ask("a secret outline")).text }))
  .addNode("reply", async () => ({ messages: [await ask("a fine reply")] }))
  .addNode("conclude", async () => ({ answer: (await ask("a fine answer")).text }))
  .addNode("close", () => ({ messages: [new AIMessage({ id: "end", content: "a fine end" })] }))
  .addEdge(START, "think")
  .addEdge("think", "sketch")
  .addEdge("sketch", "reply")
  .addEdge("reply", "conclude")
  .addEdge("conclude", "close")
  .compile();

/** After its model has answered, the node waits at the gate `name`. */
const waiting = (name: string, fields: object) =>
  new StateGraph({
    stateSchema: Annotation.Root({ ...MessagesAnnotation.spec, ...fields }),
    output: MessagesAnnotation,
  })
    .addNode("model", async (_, { signal }) => {
      const messages = [await ask("word by word")];
      await gateOf(name).wait(signal, false);
      return { messages };
    })
    .addEdge(START, "model")
    .compile();

const open = async (graph: unknown, settings: Partial<Settings> = {}) =>
  startTestServer({ graphs: { graph }, settings: { hold_messages: true, ...settings } });

const request = (stream_mode: string[], more: object = {}) => ({
  assistant_id: "graph",
  input: { messages: [{ role: "user", content: "hi" }] },
  stream_mode,
  ...more,
});

async function streamed(server: TestServer, body: object): Promise<SseEvent[]> {
  return allEvents(await server.fetch("POST", "/runs/stream", body));
}

type Tuple = [{ id: string; content: string }, { langgraph_node: string }];

/** The joined tokens of each node. */
function saidBy(events: readonly SseEvent[]): Record<string, string> {
  const said: Record<string, string> = {};
  for (const { event, data } of events) {
    if (event !== "messages" && !event?.startsWith("messages|")) continue;
    const [{ content }, { langgraph_node: node }] = data as Tuple;
    said[node] = (said[node] ?? "") + content;
  }
  return said;
}

describe("a graph with hidden keys", () => {
  const FINE = { reply: "a fine reply", conclude: "a fine answer", close: "a fine end" };

  it.each([false, true])(
    "streams only messages that become part of its output, stream_subgraphs %s",
    async (stream_subgraphs) => {
      const events = await streamed(await open(narrow), request(["messages-tuple"], { stream_subgraphs }));
      expect(saidBy(events)).toEqual(FINE);
      expect(JSON.stringify(events)).not.toContain("secret");
    },
  );

  it("streams only these messages in the mode messages", async () => {
    const events = await streamed(await open(narrow), request(["messages"]));
    expect(JSON.stringify(events)).not.toContain("secret");
    const grown = events.filter(({ event }) => event === "messages/partial").map(({ data }) => data);
    expect(grown.length).toBeGreaterThan(4);
    expect(grown).toContainEqual([expect.objectContaining({ content: "a fine reply" })]);
    const complete = events.filter(({ event }) => event === "messages/complete").map(({ data }) => data);
    expect(complete).toContainEqual([expect.objectContaining({ content: "a fine end" })]);
  });

  it("streams their tokens before the update of their node", async () => {
    const events = await streamed(await open(narrow), request(["messages-tuple", "updates"]));
    const order = events.flatMap(({ event, data }) =>
      event === "messages"
        ? [(data as Tuple)[1].langgraph_node]
        : event === "updates"
          ? [`updates ${Object.keys(data as object).join()}`]
          : [],
    );
    expect(order.filter((name, index) => name !== order[index - 1])).toEqual([
      "updates think",
      "updates sketch",
      "reply",
      "updates reply",
      "conclude",
      "updates conclude",
      "close",
      "updates close",
    ]);
    expect(order.filter((name) => name === "reply").length).toBeGreaterThan(2);
  });

  it("streams all messages without hold_messages", async () => {
    const server = await open(narrow, { hold_messages: false });
    expect(saidBy(await streamed(server, request(["messages-tuple"])))).toEqual({
      ...FINE,
      think: "a secret plan",
      sketch: "a secret outline",
    });
  });
});

describe("tokens are streamed while the node runs", () => {
  const agent = createAgent({
    model: new FakeModel(() => "word by word"),
    tools: [],
    middleware: [
      createMiddleware({
        name: "waiting",
        stateSchema: z.object({ _calls: z.number().default(0) }),
        wrapModelCall: async (call, handler) => {
          const answer = await handler(call);
          await gateOf("createAgent").wait(undefined, true);
          return answer;
        },
      }),
    ],
  }).graph;

  it.each<[string, unknown, Partial<Settings>]>([
    ["ordinary", waiting("ordinary", {}), {}],
    [
      "counting",
      waiting("counting", { calls: Annotation<number>({ reducer: (a) => a, default: () => 0 }) }),
      {},
    ],
    ["createAgent", agent, {}],
    ["hiding", waiting("hiding", { secret: Annotation<string> }), { hold_messages: false }],
  ])("in a graph of kind %s", async (name, graph, settings) => {
    const server = await open(graph, settings);
    const events = readEvents(await server.fetch("POST", "/runs/stream", request(["messages-tuple"])));
    const first = [await events.next(), await events.next()].map(({ value }) => value as SseEvent);
    expect(first.map(({ event }) => event)).toEqual(["metadata", "messages"]);
    gateOf(name).open();
    for await (const { event } of events) expect(event).not.toBe("error");
  });
});

describe("startup log", () => {
  const started = async (graphs: Record<string, unknown>, settings: Partial<Settings>) => {
    const logger = recordingLogger();
    await startTestServer({ graphs, settings, logger });
    return logger.of("warn").filter((line) => line.includes("hold_messages"));
  };
  const parent = new StateGraph(MessagesAnnotation)
    .addNode("child", narrow)
    .addEdge(START, "child")
    .compile();
  const graphs = { narrow, parent, plain: waiting("plain", {}) };

  it("names each graph with held tokens and its hidden keys", async () => {
    expect(await started(graphs, { hold_messages: true })).toEqual([
      "tokens of narrow are held until their node ends (hold_messages): hidden plan, outline",
      "tokens of parent are held until their node ends (hold_messages): hidden child|answer, child|plan, child|outline",
    ]);
  });

  it("names no graph without hold_messages", async () => {
    expect(await started(graphs, {})).toEqual([]);
  });
});

describe("a subgraph called inside a node", () => {
  const inner = new StateGraph(MessagesAnnotation)
    .addNode("model", async () => ({ messages: [await ask("an inner word")] }))
    .addEdge(START, "model")
    .compile();
  const calling = (declared: boolean, give: (said: AIMessage) => object) =>
    new StateGraph(MessagesAnnotation)
      .addNode(
        "call",
        async (state: typeof MessagesAnnotation.State, config: LangGraphRunnableConfig) => {
          const { messages } = await inner.invoke({ messages: state.messages }, config);
          return give(messages.at(-1) as AIMessage);
        },
        declared ? { subgraphs: [inner] } : {},
      )
      .addEdge(START, "call")
      .compile();
  const body = request(["messages-tuple", "values", "updates"], { stream_subgraphs: true });
  const inside = (events: readonly SseEvent[]) =>
    events.filter(({ event }) => event?.includes("|call:")).map(({ event }) => event?.split("|")[0]);

  it("is streamed if the node declares it", async () => {
    const server = await open(calling(true, () => ({})));
    const events = await streamed(server, body);
    expect(saidBy(events)).toEqual({ model: "an inner word" });
    expect(inside(events)).toContain("values");
  });

  it("is not streamed if no node declares it, which is logged once", async () => {
    const logger = recordingLogger();
    const graph = calling(false, () => ({}));
    const server = await startTestServer({ graphs: { graph }, logger, settings: { hold_messages: true } });
    const events = await streamed(server, body);
    await streamed(server, body);
    expect(saidBy(events)).toEqual({});
    expect(new Set(inside(events))).toEqual(new Set(["updates"]));
    expect(JSON.stringify(events)).not.toContain("inner word");
    expect(logger.of("warn").filter((text) => text.includes("calls an undeclared subgraph"))).toHaveLength(1);
  });

  it("streams messages but not values without hold_messages", async () => {
    const server = await open(
      calling(false, () => ({})),
      { hold_messages: false },
    );
    const events = await streamed(server, body);
    expect(saidBy(events)).toEqual({ model: "an inner word" });
    expect(new Set(inside(events))).toEqual(new Set(["messages", "updates"]));
  });

  it.each<[string, (said: AIMessage) => object]>([
    ["itself", (said) => ({ messages: [said] })],
    ["as a message of another type", ({ text }) => ({ messages: [new ToolMessage(text, "call")] })],
  ])("is streamed once the node returns its message %s", async (_, give) => {
    const events = await streamed(await open(calling(false, give)), body);
    expect(saidBy(events)).toMatchObject({ model: "an inner word" });
  });
});

describe("a tool call in a subgraph", () => {
  const look = tool(({ at }) => `found it at ${at}`, { name: "look", schema: z.object({ at: z.string() }) });
  const call = { type: "tool_call" as const, id: "call", name: "look", args: { at: "the old oak" } };
  const around = (fields: object) => {
    const inner = new StateGraph(Annotation.Root({ ...MessagesAnnotation.spec, ...fields }))
      .addNode("search", async () => ({ messages: [await look.invoke(call)] }))
      .addEdge(START, "search")
      .compile();
    return new StateGraph(MessagesAnnotation).addNode("child", inner).addEdge(START, "child").compile();
  };
  const calls = async (graph: unknown) => {
    const events = await streamed(await open(graph), request(["tools"], { stream_subgraphs: true }));
    return events.filter(({ event }) => event?.startsWith("tools")).map(({ data }) => data);
  };
  const bare = { toolCallId: "call", name: "look" };

  it("is streamed completely if the subgraph hides nothing", async () => {
    expect(await calls(around({}))).toMatchObject([
      { ...bare, event: "on_tool_start", input: JSON.stringify(call.args) },
      { ...bare, event: "on_tool_end", output: { type: "tool", content: "found it at the old oak" } },
    ]);
  });

  it("is streamed without input and output if the subgraph hides a key", async () => {
    expect(await calls(around({ clue: Annotation<string> }))).toEqual([
      { ...bare, event: "on_tool_start" },
      { ...bare, event: "on_tool_end" },
    ]);
  });
});

describe("a functional entrypoint", () => {
  const say = task("say", async (text: string) => ask(text));
  const functional = entrypoint("functional", async () => {
    await say("a secret word");
    return { messages: [await say("the answer")] };
  });

  it("streams the messages that it returns", async () => {
    const events = await streamed(await open(functional), request(["messages-tuple", "updates", "values"]));
    expect(saidBy(events)).toEqual({ say: "the answer" });
    expect(JSON.stringify(events)).not.toContain("secret");
    const updates = events.filter(({ event }) => event === "updates").map(({ data }) => data);
    expect(updates).toEqual([
      { say: null },
      { say: null },
      { functional: { messages: [expect.objectContaining({ content: "the answer" })] } },
    ]);
  });
});
