/** Nested graphs with marks in values that the inner or outer output schema hides. */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  END,
  messagesStateReducer,
  START,
  StateGraph,
  type LangGraphRunnableConfig,
} from "@langchain/langgraph";
import { FINE, leak, leakyModel, pauseAndAsk } from "./mark.ts";

const shown = Annotation<string>;
const messages = () => Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] });
const Outer = Annotation.Root({ topic: shown, shown, messages: messages() });

/** An inner graph without an output schema, with keys that the outer graph lacks. Interrupts in its last node. */
function openInner(name: string, place: string) {
  const mark = (what: string) => leak(`${place}.${what}`);
  const State = Annotation.Root({
    ...Outer.spec,
    private: Annotation<string>,
    thoughts: messages(),
    byDefault: Annotation<string>({ reducer: (_, next) => next, default: () => mark("default") }),
  });
  return new StateGraph(State)
    .addNode("hide", async () => ({
      private: mark("private"),
      thoughts: [new AIMessage({ id: mark("message-id"), content: mark("message") })],
    }))
    .addNode("think", async () => ({ thoughts: [await leakyModel(`${place}.tokens`).invoke("?")] }))
    .addNode("ask", async ({ private: hidden }, config) => ({
      private: `${hidden} kept`,
      shown: await pauseAndAsk(config),
    }))
    .addEdge(START, "hide")
    .addEdge("hide", "think")
    .addEdge("think", "ask")
    .addEdge("ask", END)
    .compile({ name });
}

/** Two levels of nesting; neither graph declares an output schema. */
function makeOpenSubgraphs() {
  const child = new StateGraph(Annotation.Root({ ...Outer.spec, between: Annotation<string> }))
    .addNode("before", () => ({ between: leak("openSubgraphs.between") }))
    .addNode("leaf", openInner("leaf", "openSubgraphs.leaf"))
    .addEdge(START, "before")
    .addEdge("before", "leaf")
    .addEdge("leaf", END)
    .compile({ name: "child" });
  return new StateGraph(Outer)
    .addNode("child", child)
    .addEdge(START, "child")
    .addEdge("child", END)
    .compile({ name: "openSubgraphs" });
}

/** An inner graph that hides a key the outer graph shows, and shows a key the outer graph hides. */
function narrowInner(place: string) {
  const mark = (what: string) => leak(`${place}.${what}`);
  const State = Annotation.Root({ ...Outer.spec, outside: Annotation<string> });
  return new StateGraph({
    stateSchema: State,
    output: Annotation.Root({ topic: shown, shown, outside: State.spec.outside }),
  })
    .addNode("hide", () => ({
      messages: [new AIMessage({ id: mark("message-id"), content: mark("message") })],
      outside: mark("outside"),
    }))
    .addNode("think", async () => ({ messages: [await leakyModel(`${place}.tokens`).invoke("?")] }))
    .addNode("ask", async (_, config) => ({ shown: await pauseAndAsk(config) }))
    .addEdge(START, "hide")
    .addEdge("hide", "think")
    .addEdge("think", "ask")
    .addEdge("ask", END)
    .compile({ name: "narrow" });
}

const Outside = Annotation.Root({ ...Outer.spec, outside: Annotation<string> });
const Shown = Annotation.Root(Outer.spec);

function makeNarrowSubgraph() {
  return new StateGraph({ stateSchema: Outside, output: Shown })
    .addNode("child", narrowInner("narrowSubgraph"))
    .addEdge(START, "child")
    .addEdge("child", END)
    .compile({ name: "narrowSubgraph" });
}

/** A node that calls graphs unknown to the outer graph. */
function makeCalled() {
  const inner = openInner("inner", "called");
  const hiding = narrowInner("called.narrow");
  return new StateGraph(Outer)
    .addNode("call", async ({ topic }, config: LangGraphRunnableConfig) => {
      await inner.invoke({ topic }, config);
      return { shown: FINE };
    })
    .addNode("stream", async ({ topic }, config: LangGraphRunnableConfig) => {
      for await (const _ of await hiding.stream({ topic }, config));
      return { shown: FINE };
    })
    .addEdge(START, "call")
    .addEdge("call", "stream")
    .addEdge("stream", END)
    .compile({ name: "called" });
}

/** Like `called`, but the inner graphs are declared with the node. */
function makeDeclared() {
  const inner = openInner("inner", "declared");
  const hiding = narrowInner("declared.narrow");
  return new StateGraph(Outer)
    .addNode(
      "call",
      async ({ topic }: typeof Outer.State, config: LangGraphRunnableConfig) => {
        await hiding.invoke({ topic }, config);
        const { shown } = await inner.invoke({ topic }, config);
        return { shown };
      },
      { subgraphs: [inner, hiding] },
    )
    .addEdge(START, "call")
    .addEdge("call", END)
    .compile({ name: "declared" });
}

/** A subgraph that updates the outer graph with `Command.PARENT`. */
function makeToParent() {
  const child = new StateGraph(Annotation.Root({ ...Outer.spec, private: Annotation<string> }))
    .addNode("hide", () => ({ private: leak("toParent.private") }))
    .addNode("ask", async (_, config) => {
      const answer = await pauseAndAsk(config);
      return new Command({
        graph: Command.PARENT,
        update: { shown: answer, secret: leak("toParent.update") },
        goto: "close",
      });
    })
    .addEdge(START, "hide")
    .addEdge("hide", "ask")
    .compile({ name: "child" });
  const State = Annotation.Root({ ...Outer.spec, secret: Annotation<string> });
  return new StateGraph({ stateSchema: State, output: Outer })
    .addNode("child", child, { ends: ["close"] })
    .addNode("close", () => ({ secret: leak("toParent.secret") }))
    .addEdge(START, "child")
    .compile({ name: "toParent" });
}

export const openSubgraphs = makeOpenSubgraphs();
export const narrowSubgraph = makeNarrowSubgraph();
export const called = makeCalled();
export const declared = makeDeclared();
export const toParent = makeToParent();
