/** Finding the task that threw in a superstep with very many tasks. */
import { Annotation, Send, START, StateGraph } from "@langchain/langgraph";
import { expect, it, onTestFinished, vi } from "vitest";
import { failedTasks } from "../../src/graphs/failed-tasks.js";
import type { ServedGraph } from "../../src/graphs/graph.js";
import { openStorage } from "../../src/storage/open.js";

const TASKS = 60;
const LOOKED_AT = 20;

it("the task that threw is found among many without reading the state of each", async () => {
  const storage = await openStorage({
    checkpointer_scheme: "memory",
    checkpointer_options: {},
    max_queued_runs: 1,
  });
  onTestFinished(() => storage.close());
  const State = Annotation.Root({ n: Annotation<number> });
  const work = async ({ n }: { n: number }): Promise<object> => {
    if (n < TASKS - 1) return new Promise(() => undefined);
    throw new Error("the last one");
  };
  const graph = new StateGraph(State)
    .addNode("work", work)
    .addConditionalEdges(START, () => Array.from({ length: TASKS }, (_, n) => new Send("work", { n })), [
      "work",
    ])
    .compile({ checkpointer: storage.checkpointer });
  const configurable = { thread_id: "one" };
  await expect(graph.invoke({ n: 0 }, { configurable })).rejects.toThrow("the last one");
  const getState = vi.spyOn(graph, "getState");
  const found = await failedTasks(graph as unknown as ServedGraph, configurable);
  expect(found[0]).toMatchObject({ node: "work", message: "the last one" });
  expect(found).toHaveLength(LOOKED_AT);
  // One call is for the graph itself.
  expect(getState).toHaveBeenCalledTimes(LOOKED_AT + 1);
});
