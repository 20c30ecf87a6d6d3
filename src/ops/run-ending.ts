/** How a run ended, and what that makes of its row, its thread and its last frame (spec, States and transitions). */
import { errorMessage, errorName } from "../errors.js";
import type { Run, RunStatus, TokenUsage } from "../models/run.js";
import type { ThreadStatus } from "../models/thread.js";
import type { RunOutcome } from "../storage/storage.js";
import { now } from "./context.js";
import { RunAborted } from "./run-abort.js";

export interface Ending {
  status: Extract<RunStatus, "success" | "error" | "timeout" | "interrupted">;
  threadStatus: ThreadStatus;
  /** What was thrown, for statuses `error` and `timeout`. */
  thrown?: unknown;
}

export const succeeded: Ending = { status: "success", threadStatus: "idle" };
/** The graph waits for an answer. */
export const paused: Ending = { status: "interrupted", threadStatus: "interrupted" };
/** Somebody outside stopped the run. */
export const stopped: Ending = { status: "interrupted", threadStatus: "idle" };
export const failed = (thrown: unknown): Ending => ({ status: "error", threadStatus: "error", thrown });
export const timedOut = (thrown: unknown): Ending => ({ status: "timeout", threadStatus: "error", thrown });

/** The ending of a run whose graph threw; `signal` tells an abort from a failure. */
export function endingOf(error: unknown, signal: AbortSignal): Ending {
  if (!signal.aborted) return failed(error);
  const reason: unknown = signal.reason;
  if (!(reason instanceof RunAborted)) return stopped;
  if (reason.abortCause === "timeout") return timedOut(reason);
  return reason.abortCause === "lost" ? failed(reason) : stopped;
}

const messageOf = ({ thrown }: Ending): string | null => (thrown === undefined ? null : errorMessage(thrown));

/** What is stored of an ending. */
export function outcomeOf(run: Run, ending: Ending, usage: TokenUsage): RunOutcome {
  const at = now();
  const error = messageOf(ending);
  return {
    runId: run.run_id,
    run: { updated_at: at, status: ending.status, error, usage },
    threadId: run.thread_id,
    thread: { updated_at: at, state_updated_at: at, status: ending.threadStatus, error },
  };
}

/** The terminal frame: `end`, or `error` for a run that failed or timed out. */
export function lastFrame(run: Run, ending: Ending, usage: TokenUsage): { event: string; data: string } {
  const { run_id, thread_id } = run;
  const { status, thrown } = ending;
  if (thrown === undefined)
    return { event: "end", data: JSON.stringify({ run_id, thread_id, status, usage }) };
  const message = errorMessage(thrown);
  return {
    event: "error",
    data: JSON.stringify({ error: errorName(thrown), message, detail: message, run_id, status, usage }),
  };
}
