/** A placeholder reads the checkpoints of a graph like the graph itself. */
import { Annotation, END, interrupt, Send, START, StateGraph } from "@langchain/langgraph";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { PlaceholderGraph } from "../../src/graphs/placeholder-graph.js";
import { createOutputFilter } from "../../src/graphs/graph-output.js";
import type { ServedGraph, Snapshot } from "../../src/graphs/graph.js";
import { GraphSources } from "../../src/graphs/load.js";
import { GraphRegistry } from "../../src/graphs/registry.js";
import { PASS_ALL } from "../../src/graphs/output-filter.js";
import { threadStateOf } from "../../src/graphs/snapshot.js";
import type { ThreadTask } from "../../src/models/state.js";
import { GraphLoadError } from "../../src/support/errors.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as functional } from "../fixtures/graphs/functional.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as steps } from "../fixtures/graphs/steps.js";

const REASON = new GraphLoadError("it does not load");
const thread = { configurable: { thread_id: "t" } };

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (log, more) => log.concat(more), default: () => [] }),
});

/** Two interrupts in parallel, then a node that joins both, then one task per answer. */
const fan = new StateGraph(Log)
  .addNode("left", () => ({ log: [String(interrupt("left?"))] }))
  .addNode("right", () => ({ log: [String(interrupt("right?"))] }))
  .addNode("quick", () => ({ log: ["quick"] }))
  .addNode("both", () => ({ log: ["both"] }))
  .addNode("each", ({ log }) => ({ log: [`each ${log.length}`] }))
  .addEdge(START, "left")
  .addEdge(START, "right")
  .addEdge(START, "quick")
  .addEdge(["left", "right"], "both")
  .addConditionalEdges("both", ({ log }) => log.map((entry) => new Send("each", { log: [entry] })), ["each"])
  .addEdge("each", END)
  .compile({ name: "fan" });

async function ranWith(original: unknown, inputs: readonly unknown[]) {
  const graph = (original as ServedGraph).withConfig({});
  const saver = new MemorySaver();
  graph.checkpointer = saver;
  for (const input of inputs) await drain(graph, input).catch(() => undefined);
  const placeholder = new PlaceholderGraph(REASON);
  placeholder.checkpointer = saver;
  return { graph, placeholder };
}

async function drain(graph: ServedGraph, input: unknown): Promise<void> {
  for await (const _ of await graph.stream(input, thread));
}

async function historyOf(graph: ServedGraph): Promise<Snapshot[]> {
  const snapshots: Snapshot[] = [];
  for await (const snapshot of graph.getStateHistory(thread)) snapshots.push(snapshot);
  return snapshots;
}

/**
 * Removes differences between LangGraph releases: the end of the path of a sent task, and the result of an interrupted
 * task.
 */
const alike = (task: ThreadTask): ThreadTask => ({
  ...task,
  path: task.path.slice(0, 2),
  result: task.interrupts.length > 0 ? null : task.result,
});

/** The state as a client sees it. Tasks are sorted, because their order differs between graph and placeholder. */
function shown(snapshot: Snapshot) {
  const state = threadStateOf(snapshot, PASS_ALL);
  return {
    ...state,
    next: [...state.next].sort(),
    tasks: state.tasks.map(alike).sort((a, b) => a.id.localeCompare(b.id)),
    interrupts: [...state.interrupts].sort((a, b) => a.id.localeCompare(b.id)),
  };
}

describe("placeholder graph", () => {
  it.each([
    ["a chat", chat, [{ messages: [{ role: "user", content: "hi" }] }]],
    ["a loop", steps, [{ n: 0 }]],
    ["an open question", hitl, [{ topic: "cats" }]],
    ["an answered question", hitl, [{ topic: "cats" }, { topic: "dogs" }]],
    ["a failure", fail, [{ x: 1 }]],
  ])("history and state of %s match those of the graph", async (_, original, inputs) => {
    const { graph, placeholder } = await ranWith(original, inputs);
    expect((await historyOf(placeholder)).map(shown)).toEqual((await historyOf(graph)).map(shown));
    expect(shown(await placeholder.getState(thread))).toEqual(shown(await graph.getState(thread)));
  });

  it("parallel, joined and sent tasks are found", async () => {
    const { Command } = await import("@langchain/langgraph");
    const { graph, placeholder } = await ranWith(fan, [{ log: [] }]);
    expect((await historyOf(placeholder)).map(shown)).toEqual((await historyOf(graph)).map(shown));
    // Reducers apply the writes of ended tasks to the state, and a placeholder does not have the reducers.
    const { values: _open, ...open } = shown(await graph.getState(thread));
    const { values: _placeholder, ...placeholderOpen } = shown(await placeholder.getState(thread));
    expect(placeholderOpen).toEqual(open);
    const answers = open.interrupts.map(({ id }) => [id, "yes"]);
    await drain(graph, new Command({ resume: Object.fromEntries(answers) as Record<string, string> }));
    const history = await historyOf(graph);
    expect(history.some(({ next }) => next.includes("both"))).toBe(true);
    expect(history.some(({ next }) => next.filter((name) => name === "each").length > 1)).toBe(true);
    expect((await historyOf(placeholder)).map(shown)).toEqual(history.map(shown));
  });

  it("the result of a functional graph is its value", async () => {
    const { graph, placeholder } = await ranWith(functional, [{ n: 2 }]);
    expect((await placeholder.getState(thread)).values).toEqual((await graph.getState(thread)).values);
  });

  it("a thread without checkpoints is empty", async () => {
    const { placeholder } = await ranWith(chat, []);
    expect(await placeholder.getState(thread)).toEqual({ values: {}, next: [], tasks: [], config: thread });
  });

  it("the output filter hides all its values", async () => {
    const { placeholder } = await ranWith(hitl, [{ topic: "cats" }]);
    const filter = await createOutputFilter(placeholder);
    expect(filter.known).toBe(false);
    expect(filter.values({ topic: "cats", secret: "plan" })).toEqual({});
  });

  it("every other method rejects with the load error", async () => {
    const { placeholder } = await ranWith(chat, []);
    await expect(placeholder.stream()).rejects.toBe(REASON);
    await expect(placeholder.updateState()).rejects.toBe(REASON);
    await expect(placeholder.bulkUpdateState()).rejects.toBe(REASON);
    await expect(placeholder.getGraphAsync()).rejects.toBe(REASON);
    expect(() => placeholder.streamEvents()).toThrow(REASON);
  });
});

describe("graphs that do not load", () => {
  const registryOf = async (graphs: Record<string, unknown>) =>
    new GraphRegistry({
      graphs: await new GraphSources(
        new Map(Object.entries(graphs).map(([id, value]) => [id, { kind: "value", value } as const])),
        { cwd: process.cwd() },
      ).loadEach(),
      assistant_namespace: "test",
      standIns: true,
      checkpointer: new MemorySaver(),
      onUnknownOutput: () => undefined,
      onBrokenFactory: () => undefined,
    });

  it("are replaced by placeholders, without affecting other graphs", async () => {
    const registry = await registryOf({ good: chat, bad: 1 });
    expect(registry.ids).toEqual(["good", "bad"]);
    expect([registry.faultOf("good"), registry.faultOf("bad")?.code]).toEqual([
      undefined,
      "graph_load_failed",
    ]);
    expect((await registry.reader("bad")).graph).toBeInstanceOf(PlaceholderGraph);
    await expect(registry.graph("bad", "threads.create_run")).rejects.toMatchObject({
      code: "graph_not_loaded",
      message: 'graph "bad" does not load: bad is a number, not a graph',
    });
  });

  it("a placeholder is used if no graph is configured", async () => {
    const registry = await registryOf({});
    expect(registry.faultOf(registry.defaultId)?.message).toBe("no graph is configured");
    expect((await registry.reader(registry.defaultId)).graph).toBeInstanceOf(PlaceholderGraph);
  });

  it("a failing factory is detected when a thread is read", async () => {
    const registry = await registryOf({
      made: () => {
        throw new Error("no key");
      },
    });
    expect(registry.faultOf("made")).toBeUndefined();
    expect((await registry.reader("made")).graph).toBeInstanceOf(PlaceholderGraph);
    expect(registry.faultOf("made")?.message).toContain("no key");
  });

  it("the last version that loaded stays in use", async () => {
    const registry = await registryOf({ agent: chat });
    const fault = new GraphLoadError("broken since");
    registry.replace(new Map([["agent", { kind: "fault", fault }]]));
    expect(registry.faultOf("agent")).toBeUndefined();
    expect((await registry.graph("agent", "threads.create_run")).filter.shows("messages")).toBe(true);
  });
});
