/** Finds the task of a graph that threw. LangGraph stores the error of a task with the checkpoint before it. */
import type { JsonObject } from "../models/common.js";
import { tryOr, errorMessage } from "../support/errors/thrown.js";
import type { ServedGraph, SnapshotTask } from "./graph.js";
import { readState } from "./snapshot.js";

/** A task that threw or did not end. */
export interface FailedTask {
  /** Id of the root graph's task that contains this task. LangGraph marks thrown errors with it. */
  id: string;
  node: string;
  /** Checkpoint namespace of the subgraph of the task; empty for the root graph. */
  namespace: string;
  /** Message of its stored error; undefined for a task that was still running. */
  message?: string;
}

/** Maximum number of tasks examined per namespace, because each may require a state read. Tasks that threw come first. */
const MAX_TASKS = 20;

/** Innermost tasks that failed or did not end in the last superstep of a run. Never rejects. */
export async function failedTasks(graph: ServedGraph, configurable: JsonObject): Promise<FailedTask[]> {
  const tasks = await tasksIn({ graph, configurable }, "");
  const found = await Promise.all(tasks.map((task) => innermost({ graph, configurable }, task, task.id, "")));
  return found.flat();
}

interface Place {
  graph: ServedGraph;
  configurable: JsonObject;
}

/** The failed and unfinished tasks of a namespace; empty if the namespace is not a subgraph. */
async function tasksIn({ graph, configurable }: Place, namespace: string): Promise<SnapshotTask[]> {
  try {
    const { tasks } = await readState(graph, { configurable: { ...configurable, checkpoint_ns: namespace } });
    const threw = tasks.filter(({ error }) => error != null);
    // Tasks that were aborted because another one threw.
    const isStopped = ({ error }: SnapshotTask) => (error as { name?: unknown }).name === "AbortError";
    const atWork = tasks.filter(
      ({ error, result, interrupts = [] }) =>
        error == null && result === undefined && interrupts.length === 0,
    );
    return [...threw.filter((task) => !isStopped(task)), ...threw.filter(isStopped), ...atWork].slice(
      0,
      MAX_TASKS,
    );
  } catch {
    return [];
  }
}

/** The failed tasks in a task's subgraph, otherwise the task itself. LangGraph does not link a failed task to its subgraph. */
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

/** The task whose id LangGraph attached to the error. */
export function markedTask(thrown: unknown, tasks: readonly FailedTask[]): FailedTask | undefined {
  const mark = tryOr(() => (thrown as { pregelTaskId?: unknown }).pregelTaskId);
  const marked = tasks.filter(({ id, message }) => id === mark && message !== undefined);
  return sameMessage(thrown, marked) ?? marked[0];
}

/**
 * The task that threw an error without a mark. For an error that no task threw, such as a time limit, the only task that
 * was running.
 */
export function likelyFailedTask(thrown: unknown, tasks: readonly FailedTask[]): FailedTask | undefined {
  const [only, ...others] = tasks;
  const isAlone = only?.message === undefined && others.length === 0;
  return sameMessage(thrown, tasks) ?? (isAlone ? only : undefined);
}
