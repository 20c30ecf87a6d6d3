/** Reading a graph's generator directly gives what its public stream gives. */
import { AIMessageChunk } from "@langchain/core/messages";
import {
  Annotation,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
  type LangGraphRunnableConfig,
} from "@langchain/langgraph";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { describe, expect, it } from "vitest";
import type { GraphConfig, ServedGraph } from "../../src/graphs/graph.js";
import { directChunks, readingOf } from "../../src/graphs/stream/direct-chunks.js";
import { Consumer } from "../../src/support/event-loop.js";
import { FakeModel } from "../fixtures/fake-model.js";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  log: Annotation<string[]>({ reducer: (one, other) => one.concat(other), default: () => [] }),
});
type Update = Partial<typeof State.State>;
type Node = (state: typeof State.State, config: LangGraphRunnableConfig) => Update | Promise<Update>;

const served = (graph: unknown) => graph as ServedGraph;

function oneNode(node: Node) {
  return new StateGraph(State).addNode("work", node).addEdge(START, "work").addEdge("work", END);
}

const GRAPHS: Record<string, () => { graph: ServedGraph; input: unknown }> = {
  "custom events and updates": () => ({
    graph: served(
      oneNode((_, { writer }) => {
        for (let event = 0; event < 50; event += 1) writer?.({ event });
        return { log: ["done"] };
      }).compile({ checkpointer: new MemorySaver() }),
    ),
    input: { log: ["in"] },
  }),
  "tokens of a model": () => ({
    graph: served(
      oneNode(async (state) => ({
        messages: [await new FakeModel(() => ({ text: "one two three" })).invoke(state.messages)],
      })).compile({ checkpointer: new MemorySaver() }),
    ),
    input: { messages: [{ role: "user", content: "count" }] },
  }),
  "a subgraph and parallel tasks": () => {
    const inner = oneNode(() => ({ log: ["inner"] })).compile();
    const graph = new StateGraph(State)
      .addNode("fan", () => ({}))
      .addNode("leaf", () => ({ log: ["leaf"] }))
      .addNode("inner", inner)
      .addEdge(START, "fan")
      .addConditionalEdges("fan", () => [new Send("leaf", {}), new Send("leaf", {})], ["leaf"])
      .addEdge("leaf", "inner")
      .compile({ checkpointer: new MemorySaver() });
    return { graph: served(graph), input: { log: ["in"] } };
  },
  "an interrupt": () => ({
    graph: served(
      oneNode(() => ({ log: [interrupt<string, string>("which one?")] })).compile({
        checkpointer: new MemorySaver(),
      }),
    ),
    input: { log: [] },
  }),
};

const configOf = (): GraphConfig => ({
  configurable: { thread_id: "11111111-1111-4111-8111-111111111111" },
  runId: "22222222-2222-4222-8222-222222222222",
  streamMode: ["values", "updates", "custom", "messages"],
  subgraphs: true,
});

async function listOf(chunks: AsyncIterable<unknown>): Promise<unknown[]> {
  const list: unknown[] = [];
  for await (const chunk of chunks) list.push(chunk);
  return list;
}

/** Ids of checkpoints, tasks and messages differ from one execution to the next. */
const withoutIds = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, part: unknown) =>
      /^(id|.*_id|.*_ids|.*checkpoint_ns|langgraph_path)$/.test(key) ? undefined : part,
    ).replaceAll(/:[0-9a-f-]{36}/g, ""),
  );

function direct(graph: ServedGraph, input: unknown, config: GraphConfig): AsyncGenerator<unknown> {
  const chunks = directChunks(graph, input, config);
  if (!chunks) throw new Error("the graph is not read directly");
  return chunks;
}

describe("direct chunks of a graph", () => {
  it.each(Object.keys(GRAPHS))("equal those of the public stream: %s", async (name) => {
    const one = GRAPHS[name]?.();
    const other = GRAPHS[name]?.();
    if (!one || !other) throw new Error(`no graph ${name}`);
    const ours = await listOf(direct(one.graph, one.input, configOf()));
    const theirs = await listOf(await other.graph.stream(other.input, configOf()));
    expect(ours.length).toBeGreaterThan(1);
    expect(withoutIds(ours)).toEqual(withoutIds(theirs));
  });

  it("contain at least what the public stream has before a node throws", async () => {
    const failing = () =>
      served(
        oneNode((_, { writer }) => {
          for (let event = 0; event < 20; event += 1) writer?.({ event });
          throw new Error("broken");
        }).compile(),
      );
    const read = async (chunks: AsyncIterable<unknown>) => {
      const taken: unknown[] = [];
      await expect(new Consumer((chunk) => taken.push(chunk)).read(chunks)).rejects.toThrow("broken");
      return taken;
    };
    const config: GraphConfig = { streamMode: ["custom"] };
    const theirs = await read(await failing().stream({ log: [] }, config));
    const ours = await read(direct(failing(), { log: [] }, config));
    // What LangGraph has buffered when a node throws is lost; without the wrappers, less is buffered.
    expect(ours.slice(0, theirs.length)).toEqual(theirs);
    expect(ours.length).toBeGreaterThanOrEqual(theirs.length);
  });

  it("apply the recursion limit of the graph and of the config", async () => {
    const endless = new StateGraph(State)
      .addNode("again", () => ({ log: ["x"] }))
      .addEdge(START, "again")
      .addEdge("again", "again")
      .compile();
    const steps = async (graph: unknown, config: GraphConfig) => {
      const taken: unknown[] = [];
      await expect(
        new Consumer((chunk) => taken.push(chunk)).read(direct(served(graph), { log: [] }, config)),
      ).rejects.toThrow(/Recursion limit/);
      return taken.length;
    };
    expect(await steps(endless, { streamMode: ["updates"] })).toBe(25);
    expect(await steps(endless.withConfig({ recursionLimit: 7 }), { streamMode: ["updates"] })).toBe(7);
    expect(await steps(endless, { streamMode: ["updates"], recursionLimit: 3 })).toBe(3);
  });

  it("end immediately when the signal aborts, although the node ignores it", async () => {
    const controller = new AbortController();
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const graph = served(
      oneNode(async (_, { writer }) => {
        writer?.("begun");
        await gate;
        return {};
      }).compile(),
    );
    const { signal } = controller;
    const reading = new Consumer(() => controller.abort(new Error("stopped by the test"))).read(
      direct(graph, { log: [] }, { streamMode: ["custom"], signal }),
      signal,
    );
    await expect(reading).rejects.toThrow("stopped by the test");
    release();
  });
});

describe("how a graph is read", () => {
  const compiled = () => oneNode(() => ({ log: ["done"] })).compile();

  it("a compiled graph is read directly", () => {
    expect(readingOf(served(compiled()))).toBe("direct");
    expect(readingOf(served(compiled().withConfig({ recursionLimit: 5 })))).toBe("direct");
  });

  it("a graph with its own stream method keeps it", () => {
    const graph = compiled();
    const stream = graph.stream.bind(graph);
    expect(readingOf(served(Object.assign(graph, { stream })))).toBe("public");
    class Own extends (compiled().constructor as new (fields: object) => object) {
      stream() {
        return undefined;
      }
    }
    expect(readingOf(Object.setPrototypeOf(compiled(), Own.prototype) as ServedGraph)).toBe("public");
  });

  it("a remote graph and an unknown class are not read directly", () => {
    const remote = new RemoteGraph({ graphId: "chat", url: "http://127.0.0.1:9" });
    expect(readingOf(served(remote))).toBe("public");
    expect(readingOf(served({ stream: () => undefined }))).toBe("public");
    expect(readingOf(served({ lg_is_pregel: true, stream: () => undefined }))).toBe("unknown");
    expect(directChunks(served(remote), {}, {})).toBeUndefined();
  });

  it("a graph that runs inside of another graph's node is not read directly", async () => {
    let inside: unknown = "not called";
    const inner = served(compiled());
    const outer = oneNode(() => {
      inside = directChunks(inner, { log: [] }, { streamMode: ["values"] });
      return {};
    }).compile();
    await outer.invoke({ log: [] });
    expect(inside).toBeUndefined();
    expect(directChunks(inner, { log: [] }, { streamMode: ["values"] })).toBeDefined();
  });
});

it("an AIMessageChunk is what the messages mode carries", async () => {
  const { graph, input } = GRAPHS["tokens of a model"]?.() ?? {};
  const chunks = await listOf(
    direct(graph as ServedGraph, input, { ...configOf(), streamMode: ["messages"] }),
  );
  const [first] = chunks as [[string[], string, [unknown]]];
  expect(first[2][0]).toBeInstanceOf(AIMessageChunk);
});
