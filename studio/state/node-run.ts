/** What a node did when it last ran: its input, writes and calls. */
import { signal } from "@preact/signals";
import type { RunTask } from "../../src/models/run.js";
import type { ThreadState, ThreadTask } from "../../src/models/state.js";
import { ApiError } from "../api.js";
import { drawnId, isWithin, storedRun } from "./run-facts.js";
import { askStates } from "./shown.js";

export interface NodeRun {
  id: string;
  /** All executions in the run, oldest first. */
  tasks: readonly RunTask[];
  /** Calls of models and tools in the last execution. */
  calls: readonly RunTask[];
  /** The state before the last execution; undefined until it is loaded, or if it is not stored. */
  before: ThreadState | undefined;
  /** The last execution as the state stores it. */
  task: ThreadTask | undefined;
}

/** The node whose details are shown. */
export const chosenNode = signal<string | undefined>(undefined);

/** Details of a node from the shown run, without its state. */
export function nodeRun(id: string): NodeRun | undefined {
  const all = storedRun.value?.tasks ?? [];
  const tasks = all.filter((task) => task.kind === "node" && drawnId(task) === id);
  const last = tasks.at(-1);
  if (!last) return undefined;
  const calls = all.filter((task) => task.kind !== "node" && isWithin(task.namespace, last.namespace));
  return { id, tasks, calls, before: undefined, task: undefined };
}

/** The state before the last execution of a node. */
export async function readNodeState(run: NodeRun): Promise<Pick<NodeRun, "before" | "task">> {
  const [last, threadId] = [run.tasks.at(-1), storedRun.peek()?.threadId];
  if (!last || threadId === undefined || last.step === null) return { before: undefined, task: undefined };
  const parts = last.namespace.split("|");
  const checkpoint_ns = parts.slice(0, -1).join("|");
  const body = { limit: 20, checkpoint: { checkpoint_ns }, metadata: { step: last.step - 1 } };
  const path = `/threads/${encodeURIComponent(threadId)}/history`;
  const taskId = parts.at(-1)?.slice(last.name.length + 1);
  try {
    const states = (await askStates<ThreadState[]>("POST", path, body)).body;
    const before = states.find(({ tasks }) => tasks.some(({ id }) => id === taskId)) ?? states[0];
    return { before, task: before?.tasks.find(({ id }) => id === taskId) };
  } catch (error) {
    if (error instanceof ApiError) return { before: undefined, task: undefined };
    throw error;
  }
}
