import { Annotation, entrypoint, START, StateGraph } from "@langchain/langgraph";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createOutputFilter } from "../../src/graphs/graph-output.js";
import type { ServedGraph } from "../../src/graphs/graph.js";
import { bothFilters, filterAt, nodePathOf, PASS_ALL } from "../../src/graphs/output-filter.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { pregel, pregelKeys } from "../http/no-leaks/bare-graphs.js";

const State = Annotation.Root({ shown: Annotation<string>, secret: Annotation<string> });
const Output = Annotation.Root({ shown: Annotation<string> });
const narrow = new StateGraph({ stateSchema: State, output: Output })
  .addNode("a", () => ({ shown: "s", secret: "x" }))
  .addNode("b", () => ({}))
  .addNode("c", () => ({}))
  .addEdge(START, "a")
  .addEdge(START, "b")
  .addEdge(START, "c")
  .compile();
const wide = new StateGraph(State)
  .addNode("a", () => ({}))
  .addEdge(START, "a")
  .compile();

const filterOf = (graph: unknown, onUnknown?: (path: readonly string[]) => void) =>
  createOutputFilter(graph as ServedGraph, onUnknown);

describe("a graph with a declared output", async () => {
  const filter = await filterOf(narrow);

  it("shows only its output keys", () => {
    expect(filter.narrows).toBe(true);
    expect(filter.values({ shown: "s", secret: "x" })).toEqual({ shown: "s" });
    expect([filter.shows("shown"), filter.shows("secret")]).toEqual([true, false]);
  });

  it("filters every write of every node", () => {
    expect(filter.updates({ a: { shown: 1, secret: 2 }, b: [{ secret: 3 }, { shown: 4 }], c: null })).toEqual(
      { a: { shown: 1 }, b: [{}, { shown: 4 }], c: null },
    );
    expect(filter.writes("a", { shown: 1, secret: { $writes: [2, 3] } })).toEqual({ shown: 1 });
  });

  it("passes interrupts through", () => {
    const interrupts = [{ id: "1", value: { secret: 1 } }];
    expect(filter.updates({ __interrupt__: interrupts })).toEqual({ __interrupt__: interrupts });
    expect(filter.values({ __interrupt__: interrupts, secret: 1 })).toEqual({ __interrupt__: interrupts });
  });

  it("drops values that belong to no key", () => {
    expect(filter.values("secret text")).toBeNull();
    expect(filter.updates({ a: "secret text" })).toEqual({ a: null });
    expect(filter.updates("secret text")).toBeNull();
  });

  it("hides tasks that are not nodes", () => {
    expect(filter.updates({ task: { shown: 1 } })).toEqual({ task: null });
    expect(filter.writes("task", { shown: 1 })).toBeNull();
    expect(filter.input("task", { shown: 1 })).toBeNull();
  });
});

describe("a graph without a declared output", async () => {
  const filter = await filterOf(wide);

  it("shows its whole state", () => {
    const values = { shown: "s", secret: "x" };
    expect(filter.narrows).toBe(false);
    expect(filter.values(values)).toBe(values);
    expect(filter.speaksOpenly("a")).toBe(true);
  });

  it("shows the state keys of a Send", () => {
    expect(filter.input("a", { shown: 1, payload: 2 })).toEqual({ shown: 1 });
  });

  it("shows only the cached flag of metadata", () => {
    expect(filter.updates({ a: { shown: 1 }, __metadata__: { cached: true, more: 1 } })).toEqual({
      a: { shown: 1 },
      __metadata__: { cached: true },
    });
  });
});

describe("a functional entrypoint", async () => {
  const filter = await filterOf(entrypoint("double", async (n: number) => n * 2));

  it("shows its return value", () => {
    expect(filter.values(4)).toBe(4);
    expect(filter.updates({ double: 4 })).toEqual({ double: 4 });
    expect(filter.writes("double", { __end__: 4, __previous__: 5 })).toEqual({ __end__: 4 });
  });

  it("hides its input and the results of its tasks", () => {
    expect(filter.input("double", { n: 2 })).toEqual({});
    expect(filter.updates({ task: 4 })).toEqual({ task: null });
    expect(filter.within("double").values({ n: 2 })).toEqual({});
    expect(filter.speaksOpenly("double")).toBe(false);
  });
});

describe("a raw Pregel graph", () => {
  it.each([
    ["one channel", pregel],
    ["a list of channels", pregelKeys],
  ])("shows its output, declared as %s", async (_, graph) => {
    const filter = await filterOf(graph);
    expect(filter.narrows).toBe(true);
    expect(filter.values({ input: 1, inner: 2, out: 3, __pregel_tasks: [4] })).toEqual({ out: 3 });
    expect(filter.updates({ one: { inner: 2 }, two: { out: 3 } })).toEqual({ one: {}, two: { out: 3 } });
  });
});

describe("a graph whose output is unknown", () => {
  it.each([[undefined], [null], [{}], [5]])("shows nothing if the output is %j", async (outputChannels) => {
    const filter = await filterOf({ ...narrow, outputChannels });
    expect(filter.known).toBe(false);
    expect(filter.narrows).toBe(true);
    expect(filter.values({ shown: "s" })).toEqual({});
    expect(filter.updates({ a: { shown: 1 } })).toEqual({ a: {} });
    expect(filter.within("a").values({ shown: "s" })).toEqual({});
  });

  it("shows only its output if it has no channels", async () => {
    const filter = await filterOf({ outputChannels: ["shown"], nodes: {} });
    expect(filter.values({ shown: 1, secret: 2 })).toEqual({ shown: 1 });
  });
});

describe("a subgraph", () => {
  const Inner = Annotation.Root({ ...State.spec, note: Annotation<string> });
  const openInner = new StateGraph(Inner)
    .addNode("n", () => ({}))
    .addEdge(START, "n")
    .compile();
  const narrowInner = new StateGraph({ stateSchema: Inner, output: Output })
    .addNode("n", () => ({}))
    .addEdge(START, "n")
    .compile();
  const around = (inner: typeof openInner | typeof narrowInner) =>
    new StateGraph(State).addNode("inner", inner).addEdge(START, "inner").compile();
  const all = { shown: 1, secret: 2, note: 3 };

  it("shows the keys that both outputs contain", async () => {
    const wider = await filterOf(around(openInner));
    expect(wider.within("inner").values(all)).toEqual({ shown: 1, secret: 2 });
    const narrower = await filterOf(around(narrowInner));
    expect(narrower.within("inner").values(all)).toEqual({ shown: 1 });
    expect([wider.narrows, narrower.narrows]).toEqual([true, true]);
  });

  it("is found by its namespace", async () => {
    const filter = await filterOf(around(openInner));
    const id = "0197f0a0-0000-7000-8000-000000000001";
    for (const namespace of [`inner:${id}`, `inner:${id}|2`, "inner", [`inner:${id}`]])
      expect(filterAt(filter, namespace).values(all)).toEqual({ shown: 1, secret: 2 });
    expect(filterAt(filter, "")).toBe(filter);
    expect(nodePathOf(`a:${id}|1|b:${id}`)).toEqual(["a", "b"]);
  });

  it("shows nothing if no node declares it, and reports it once values are dropped", async () => {
    const unknown: string[] = [];
    const filter = await filterOf(around(openInner), (path) => void unknown.push(path.join("|")));
    const deep = filterAt(filter, "inner|n");
    expect(deep.known).toBe(false);
    expect(unknown).toEqual([]);
    expect(deep.values(all)).toEqual({});
    expect(new Set(unknown)).toEqual(new Set(["inner|n"]));
  });

  it("shows the keys common to all subgraphs declared by a node", async () => {
    const graph = new StateGraph(State)
      .addNode("calls", () => ({}), { subgraphs: [openInner, narrowInner] })
      .addEdge(START, "calls")
      .compile();
    expect((await filterOf(graph)).within("calls").values(all)).toEqual({ shown: 1 });
  });

  it("shows nothing if it runs on another server", async () => {
    const remote = new RemoteGraph({ graphId: "chat", url: "http://127.0.0.1:9" });
    const graph = new StateGraph(State).addNode("remote", remote).addEdge(START, "remote").compile();
    const filter = await filterOf(graph);
    expect([filter.known, filter.within("remote").known]).toEqual([true, false]);
    expect(filter.within("remote").values(all)).toEqual({});
  });
});

describe("messages of a node", () => {
  it("are streamed if all keys that the node may write are visible", async () => {
    expect((await filterOf(chat)).speaksOpenly("model")).toBe(true);
    expect((await filterOf(narrow)).speaksOpenly("a")).toBe(false);
    expect((await filterOf(chat)).speaksOpenly("task")).toBe(false);
  });

  it("are streamed if the hidden keys cannot hold text", async () => {
    const shape = { shown: z.string(), count: z.number().optional(), way: z.enum(["a", "b"]).nullable() };
    const graphOf = (state: z.ZodObject) =>
      new StateGraph({ state, output: z.object({ shown: z.string() }) })
        .addNode("a", () => ({}))
        .addEdge(START, "a")
        .compile();
    expect((await filterOf(graphOf(z.object(shape)))).speaksOpenly("a")).toBe(true);
    const more = z.object({ ...shape, note: z.string() });
    expect((await filterOf(graphOf(more))).speaksOpenly("a")).toBe(false);
  });

  it("are streamed in a graph of createAgent", async () => {
    const filter = await filterOf(agent.graph);
    expect(filter.shows("jumpTo")).toBe(false);
    expect(filter.speaksOpenly("model_request")).toBe(true);
  });
});

describe("two combined filters", async () => {
  const both = bothFilters(await filterOf(narrow), await filterOf(wide));

  it("show what both show", () => {
    expect(both.values({ shown: 1, secret: 2 })).toEqual({ shown: 1 });
    expect(both.updates({ a: { shown: 1, secret: 2 }, b: { shown: 1 } })).toEqual({
      a: { shown: 1 },
      b: null,
    });
    expect([both.known, both.narrows, both.shows("secret"), both.speaksOpenly("a")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(both.within("a").values({ shown: 1 })).toEqual({});
  });

  it("are reduced to one if the other shows everything", () => {
    expect(bothFilters(both, PASS_ALL)).toBe(both);
    expect(bothFilters(PASS_ALL, both)).toBe(both);
  });
});
