import { Annotation, StateGraph, entrypoint } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import type { ServedGraph } from "../../src/graphs/graph.js";
import { createOutputFilter } from "../../src/graphs/output-filter.js";

const State = Annotation.Root({ shown: Annotation<string>, secret: Annotation<string> });
const Output = Annotation.Root({ shown: Annotation<string> });
const narrow = new StateGraph({ stateSchema: State, output: Output })
  .addNode("a", () => ({ shown: "s", secret: "x" }))
  .addEdge("__start__", "a")
  .compile() as unknown as ServedGraph;
const wide = new StateGraph(State)
  .addNode("a", () => ({}))
  .addEdge("__start__", "a")
  .compile() as unknown as ServedGraph;

describe("a graph with a declared output", () => {
  const filter = createOutputFilter(narrow);

  it("shows only its output keys", () => {
    expect(filter.narrows).toBe(true);
    expect(filter.values({ shown: "s", secret: "x" })).toEqual({ shown: "s" });
  });

  it("filters every write of every node", () => {
    expect(filter.updates({ a: { shown: 1, secret: 2 }, b: [{ secret: 3 }, { shown: 4 }], c: null })).toEqual(
      {
        a: { shown: 1 },
        b: [{}, { shown: 4 }],
        c: null,
      },
    );
  });

  it("lets interrupts through", () => {
    const interrupts = [{ id: "1", value: { secret: 1 } }];
    expect(filter.updates({ __interrupt__: interrupts })).toEqual({ __interrupt__: interrupts });
    expect(filter.values({ __interrupt__: interrupts, secret: 1 })).toEqual({ __interrupt__: interrupts });
  });

  it("drops values that belong to no key", () => {
    expect(filter.values("secret text")).toBeNull();
    expect(filter.updates({ a: "secret text" })).toEqual({ a: null });
    expect(filter.updates("secret text")).toBeNull();
  });
});

describe("a graph without a declared output", () => {
  it("shows its whole state", () => {
    const filter = createOutputFilter(wide);
    const values = { shown: "s", secret: "x" };
    expect(filter.narrows).toBe(false);
    expect(filter.values(values)).toBe(values);
  });
});

describe("a functional entrypoint", () => {
  it("shows what it returns", () => {
    const graph = entrypoint("double", async (n: number) => n * 2) as unknown as ServedGraph;
    expect(createOutputFilter(graph).values(4)).toBe(4);
  });
});

describe("a graph whose output is unknown", () => {
  it.each([[undefined], [null], [{}], [5]])("shows nothing when the output is %j", (outputChannels) => {
    const filter = createOutputFilter({ ...narrow, outputChannels });
    expect(filter.known).toBe(false);
    expect(filter.values({ shown: "s" })).toEqual({});
    expect(filter.updates({ a: { shown: 1 } })).toEqual({ a: {} });
  });
});
