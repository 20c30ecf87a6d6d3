/**
 * Maps runs to tasks: a task is a run and the runs that resumed it, on the thread that is the
 * task's context.
 */
import type { Task } from "@a2a-js/sdk";
import type { Run } from "../models/run.js";
import { isFinished } from "../models/run-status.js";
import type { CallerService } from "../service/service.js";
import { type Outcome, runOutcome } from "../view/outcome.js";
import { closingMessage, outputArtifact } from "./messages.js";

/** Task states used here, with the protocol's numbers. */
export const STATES = {
  submitted: 1,
  working: 2,
  completed: 3,
  failed: 4,
  canceled: 5,
  inputRequired: 6,
} as const;

const STATE_OF: Record<Outcome["status"], number> = {
  success: STATES.completed,
  interrupted: STATES.inputRequired,
  cancelled: STATES.canceled,
  error: STATES.failed,
};

/** A task id combines its thread and its first run, because clients send only the id. */
export interface TaskRef {
  threadId: string;
  runId: string;
}

export const taskId = ({ threadId, runId }: TaskRef): string => `${threadId}:${runId}`;

/** Undefined if the text is not a task id. */
export function parseTaskId(taskId: string): TaskRef | undefined {
  const [, threadId, runId] = /^([0-9a-f-]{36}):([0-9a-f-]{36})$/.exec(taskId) ?? [];
  return threadId === undefined || runId === undefined ? undefined : { threadId, runId };
}

/** Metadata key of a run for the first run of its task. */
const TASK_KEY = "a2a_task";

export const taskMetadata = ({ runId }: TaskRef): Record<string, string> => ({ [TASK_KEY]: runId });

/** Number of newest runs of a thread that are searched for a task. */
const MOST_RUNS_OF_THREAD = 100;

/** The last run of a task; undefined if there is none. @throws NotFoundError (`thread_not_found`) */
export async function lastRun(
  { runs }: CallerService,
  { threadId, runId }: TaskRef,
): Promise<Run | undefined> {
  const newest = await runs.list(threadId, { limit: MOST_RUNS_OF_THREAD });
  return newest.find(({ run_id, metadata }) => run_id === runId || metadata[TASK_KEY] === runId);
}

/** The task's state after its last run. */
export async function currentTask(service: CallerService, ref: TaskRef, run: Run): Promise<Task> {
  if (!isFinished(run)) return openTask(ref, run.status === "pending" ? STATES.submitted : STATES.working);
  const { answer } = await service.runs.join(ref.threadId, run.run_id);
  return endedTask(ref, run.run_id, runOutcome(await answer, run.status));
}

export function openTask(ref: TaskRef, state: number): Task {
  const status = { state, message: undefined, timestamp: new Date().toISOString() };
  return {
    id: taskId(ref),
    contextId: ref.threadId,
    status,
    artifacts: [],
    history: [],
    metadata: undefined,
  };
}

/** @param runId the last run of the task */
export function endedTask(ref: TaskRef, runId: string, outcome: Outcome): Task {
  const task = openTask(ref, STATE_OF[outcome.status]);
  const message = closingMessage({ taskId: task.id, contextId: task.contextId }, outcome);
  const artifacts = outcome.status === "success" ? [outputArtifact(runId, outcome)] : [];
  return { ...task, artifacts, ...(task.status && { status: { ...task.status, message } }) };
}
