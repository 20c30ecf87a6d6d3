/** How a run ended: its status, and what its clients receive (docs/specification.md#states). */
import { thrownMessage } from "../graphs/thrown.js";
import type { JsonObject } from "../models/common.js";
import type { Run, RunTasks, TokenUsage } from "../models/run.js";
import type { EndStatus } from "../models/run-status.js";
import type { StoredPreview, ThreadStatus } from "../models/thread-fields.js";
import { UnknownInterruptError } from "../support/errors.js";
import { errorName } from "../support/errors/thrown.js";
import type { RunFault } from "../support/run-fault.js";
import { isShutDown, RunAborted } from "./run-aborted.js";

export interface Ending {
  status: EndStatus;
  /** New status of the thread; unchanged if undefined. */
  threadStatus?: ThreadStatus;
  /** The thrown value, for the statuses `error` and `timeout`. */
  thrown?: unknown;
  /** The same error for the developer of the graph, with its source location. */
  fault?: RunFault;
  tasks?: RunTasks;
  preview?: StoredPreview;
}

export const succeeded: Ending = { status: "success", threadStatus: "idle" };
/** The graph waits for an answer. The setting interrupted_run_status determines the status of the run. */
export const paused = ({
  interrupted_run_status: status,
}: {
  interrupted_run_status: "interrupted" | "success";
}): Ending => ({
  status,
  threadStatus: "interrupted",
});
/** The run was stopped from outside, for example by a cancel request. */
export const stopped: Ending = { status: "interrupted", threadStatus: "idle" };
export const failed = (thrown: unknown): Ending => ({ status: "error", threadStatus: "error", thrown });
/** The server stopped before the run ended. The thread can be used again from its last state. */
const cutShort = (thrown: unknown): Ending => ({ status: "error", threadStatus: "idle", thrown });
const timedOut = (thrown: unknown): Ending => ({ status: "timeout", threadStatus: "error", thrown });

/** The ending of a run whose graph threw. `signal` distinguishes an abort from a failure. */
export function endingOf(error: unknown, signal: AbortSignal): Ending {
  if (error instanceof UnknownInterruptError) return { status: "error", thrown: error };
  if (!signal.aborted) return failed(error);
  const reason: unknown = signal.reason;
  if (!(reason instanceof RunAborted)) return stopped;
  if (reason.abortCause === "timeout") return timedOut(reason);
  if (reason.abortCause === "shutdown") return cutShort(reason);
  return reason.abortCause === "lost" ? failed(reason) : stopped;
}

/** The ending of a run that could not start. */
export async function endingOfQueued(error: unknown): Promise<Ending> {
  if (isShutDown(error)) return cutShort(RunAborted.from("unbegun"));
  return error instanceof RunAborted ? stopped : { ...failed(error), fault: await faultOf(error) };
}

/** Turns a success into a failure. A failure keeps its own error. */
export const orFailed = (ending: Ending, error: Error): Ending =>
  ending.thrown === undefined ? { ...failed(error), tasks: ending.tasks, preview: ending.preview } : ending;

/** Imported only when a run fails. */
const faultOf = async (thrown: unknown): Promise<RunFault> =>
  (await import("../graphs/run-fault.js")).runFault(thrown);

/** The terminal frame: `end`, or `error` for a run that failed or timed out. */
export function lastFrame(
  { run_id, thread_id }: Run,
  { status, thrown, usage }: Ending & { usage: TokenUsage },
): [event: string, data: string] {
  if (thrown === undefined) return ["end", JSON.stringify({ run_id, thread_id, status, usage })];
  const message = thrownMessage(thrown);
  const refusal = thrown instanceof UnknownInterruptError ? thrown.refusal : {};
  const data = { error: errorName(thrown), message, detail: message, ...refusal, run_id, status, usage };
  return ["error", JSON.stringify(data)];
}

/** SDK clients look for the error of a failed run under this key, and throw it. */
const ERROR_KEY = "__error__";

/** The answer for a caller that waits for a failed run. */
export function failedAnswer(thrown: unknown): JsonObject {
  return { [ERROR_KEY]: { error: errorName(thrown), message: thrownMessage(thrown) } };
}
