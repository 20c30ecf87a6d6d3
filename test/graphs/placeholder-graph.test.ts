/** A placeholder reads the checkpoints of a graph as the graph itself does. */
import { Annotation, END, interrupt, Send, START, StateGraph } from "@langchain/langgraph";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { PlaceholderGraph, loadWithPlaceholders } from "../../src/graphs/placeholder-graph.js";
import { createOutputFilter } from "../../src/graphs/graph-output.js";
import type { ServedGraph, Snapshot } from "../../src/graphs/graph.js";
import { GraphSources } from "../../src/graphs/load.js";
import { OPEN_FILTER } from "../../src/graphs/output-filter.js";
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
  const state = threadStateOf(snapshot, OPEN_FILTER);
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

describe("placeholders for graphs that do not load", () => {
  const load = (graphs: Record<string, unknown>) =>
    loadWithPlaceholders(
      new GraphSources(
        new Map(Object.entries(graphs).map(([id, value]) => [id, { kind: "value", value } as const])),
        { cwd: process.cwd() },
      ),
    );

  it("take the place of what does not load alone", async () => {
    const { graphs, faults } = await load({ good: chat, bad: 1 });
    expect([...graphs.keys()]).toEqual(["good", "bad"]);
    expect([...faults.keys()]).toEqual(["bad"]);
  });

  it("one stands for no graph at all", async () => {
    const { graphs, faults } = await load({});
    expect(graphs.size).toBe(1);
    expect([...faults.values()].map(({ message }) => message)).toEqual(["no graph is configured"]);
  });

  it("a factory that fails is found out when called", async () => {
    const { graphs, faults } = await load({
      made: () => {
        throw new Error("no key");
      },
    });
    const loaded = graphs.get("made");
    expect(faults.size).toBe(0);
    const graph = loaded?.kind === "factory" ? await loaded.factory({}) : undefined;
    expect(graph).toBeInstanceOf(PlaceholderGraph);
    expect(faults.get("made")?.message).toContain("no key");
  });
});
