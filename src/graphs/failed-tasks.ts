/** Which task of a graph threw: LangGraph stores the error of a task beside the checkpoint before it. */
import type { JsonObject } from "../models/common.js";
import { tryOr, errorMessage } from "../support/errors.js";
import type { ServedGraph, SnapshotTask } from "./graph.js";
import { readState } from "./snapshot.js";

/** A task that threw, or that had not ended. */
export interface FailedTask {
  /** Id of the task of the graph itself that it is a part of: LangGraph marks what is thrown with it. */
  id: string;
  node: string;
  /** Checkpoint namespace of the subgraph that it is in; empty in the graph itself. */
  namespace: string;
  /** What it threw, as far as it is stored; undefined for one that was still at work. */
  message?: string;
}

/** Tasks of a namespace that are looked at, those that threw before others: each may have a state of its own to read. */
const MOST_TASKS = 20;

/** Tasks of the superstep that a run ended in which failed, or had not ended; the innermost ones. Never rejects. */
export async function failedTasks(graph: ServedGraph, configurable: JsonObject): Promise<FailedTask[]> {
  const tasks = await tasksIn({ graph, configurable }, "");
  const found = await Promise.all(tasks.map((task) => innermost({ graph, configurable }, task, task.id, "")));
  return found.flat();
}

interface Place {
  graph: ServedGraph;
  configurable: JsonObject;
}

/** The tasks of a namespace that did not come to their end; none where it is of no subgraph. */
async function tasksIn({ graph, configurable }: Place, namespace: string): Promise<SnapshotTask[]> {
  try {
    const { tasks } = await readState(graph, { configurable: { ...configurable, checkpoint_ns: namespace } });
    const threw = tasks.filter(({ error }) => error != null);
    // Tasks that were stopped because another one threw.
    const isStopped = ({ error }: SnapshotTask) => (error as { name?: unknown }).name === "AbortError";
    const atWork = tasks.filter(
      ({ error, result, interrupts = [] }) =>
        error == null && result === undefined && interrupts.length === 0,
    );
    return [...threw.filter((task) => !isStopped(task)), ...threw.filter(isStopped), ...atWork].slice(
      0,
      MOST_TASKS,
    );
  } catch {
    return [];
  }
}

/** The tasks of the subgraph that a task is, else the task itself; LangGraph names no subgraph of one that failed. */
async function innermost(
  place: Place,
  task: SnapshotTask,
  id: string,
  namespace: string,
): Promise<FailedTask[]> {
  const inside = `${namespace && `${namespace}|`}${task.name}:${task.id}`;
  const inner = await tasksIn(place, inside);
  const found = await Promise.all(inner.map((each) => innermost(place, each, id, inside)));
  if (found.length > 0) return found.flat();
  const { name: node, error } = task;
  return [{ id, node, namespace, ...(error != null && { message: errorMessage(error) }) }];
}

const sameMessage = (thrown: unknown, tasks: readonly FailedTask[]): FailedTask | undefined =>
  tasks.find(({ message }) => message === errorMessage(thrown));

/** The task that LangGraph marked this with. */
export function markedTask(thrown: unknown, tasks: readonly FailedTask[]): FailedTask | undefined {
  const mark = tryOr(() => (thrown as { pregelTaskId?: unknown }).pregelTaskId);
  const marked = tasks.filter(({ id, message }) => id === mark && message !== undefined);
  return sameMessage(thrown, marked) ?? marked[0];
}

/** The task that threw what cannot be marked; for what no task threw, such as a time limit, the only one at work. */
export function likelyFailedTask(thrown: unknown, tasks: readonly FailedTask[]): FailedTask | undefined {
  const [only, ...others] = tasks;
  const isAlone = only?.message === undefined && others.length === 0;
  return sameMessage(thrown, tasks) ?? (isAlone ? only : undefined);
}
