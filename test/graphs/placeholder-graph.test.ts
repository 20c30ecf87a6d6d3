/** A placeholder reads the checkpoints of a graph as the graph itself does. */
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

/** Two questions at once, then a node that waits for both, then one task for each answer. */
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
 * Releases of LangGraph differ in how they end the path of a task that was sent, and in whether one that asked shows
 * what it wrote.
 */
const alike = (task: ThreadTask): ThreadTask => ({
  ...task,
  path: task.path.slice(0, 2),
  result: task.interrupts.length > 0 ? null : task.result,
});

/** As a client would see it, tasks in the order of their names: a graph has its own order, a placeholder has none. */
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
  ])("history and state of %s are the graph's own", async (_, original, inputs) => {
    const { graph, placeholder } = await ranWith(original, inputs);
    expect((await historyOf(placeholder)).map(shown)).toEqual((await historyOf(graph)).map(shown));
    expect(shown(await placeholder.getState(thread))).toEqual(shown(await graph.getState(thread)));
  });

  it("parallel, joined and sent tasks are found", async () => {
    const { Command } = await import("@langchain/langgraph");
    const { graph, placeholder } = await ranWith(fan, [{ log: [] }]);
    expect((await historyOf(placeholder)).map(shown)).toEqual((await historyOf(graph)).map(shown));
    // What ended tasks wrote becomes part of the state by reducers, which a placeholder does not know.
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

  it("a functional answer is the value", async () => {
    const { graph, placeholder } = await ranWith(functional, [{ n: 2 }]);
    expect((await placeholder.getState(thread)).values).toEqual((await graph.getState(thread)).values);
  });

  it("a thread without checkpoints is empty", async () => {
    const { placeholder } = await ranWith(chat, []);
    expect(await placeholder.getState(thread)).toEqual({ values: {}, next: [], tasks: [], config: thread });
  });

  it("nothing of it passes the output filter", async () => {
    const { placeholder } = await ranWith(hitl, [{ topic: "cats" }]);
    const filter = await createOutputFilter(placeholder);
    expect(filter.known).toBe(false);
    expect(filter.values({ topic: "cats", secret: "plan" })).toEqual({});
  });

  it("running it tells why it does not load", async () => {
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

  it("are stood in for, and they alone", async () => {
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

  it("one stands for no graph at all", async () => {
    const registry = await registryOf({});
    expect(registry.faultOf(registry.defaultId)?.message).toBe("no graph is configured");
    expect((await registry.reader(registry.defaultId)).graph).toBeInstanceOf(PlaceholderGraph);
  });

  it("a factory that fails is found out when a thread is read", async () => {
    const registry = await registryOf({
      made: () => {
        throw new Error("no key");
      },
    });
    expect(registry.faultOf("made")).toBeUndefined();
    expect((await registry.reader("made")).graph).toBeInstanceOf(PlaceholderGraph);
    expect(registry.faultOf("made")?.message).toContain("no key");
  });

  it("the last version that loaded goes on", async () => {
    const registry = await registryOf({ agent: chat });
    const fault = new GraphLoadError("broken since");
    registry.replace(new Map([["agent", { kind: "fault", fault }]]));
    expect(registry.faultOf("agent")).toBeUndefined();
    expect((await registry.graph("agent", "threads.create_run")).filter.shows("messages")).toBe(true);
  });
});
