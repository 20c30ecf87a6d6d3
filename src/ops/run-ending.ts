/** How a run ended, and what that makes of its row, its thread and its last frame (spec, States and transitions). */
import { INTERRUPT_KEY, type OutputFilter, UNKEYED } from "../graphs/output-filter.js";
import { toWire, yieldedToWire } from "../graphs/serialize.js";
import { thrownMessage } from "../graphs/thrown.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { Run, RunStatus, TokenUsage } from "../models/run.js";
import type { ThreadStatus } from "../models/thread.js";
import type { RunOutcome } from "../storage/storage.js";
import { attempt, errorName } from "../support/errors.js";
import { now } from "./context.js";

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
const timedOut = (thrown: unknown): Ending => ({ status: "timeout", threadStatus: "error", thrown });

/** The ending of a run whose graph threw; `signal` tells an abort from a failure. */
export function endingOf(error: unknown, signal: AbortSignal): Ending {
  if (!signal.aborted) return failed(error);
  const reason: unknown = signal.reason;
  if (!(reason instanceof RunAborted)) return stopped;
  if (reason.abortCause === "timeout") return timedOut(reason);
  return reason.abortCause === "lost" ? failed(reason) : stopped;
}

const messageOf = ({ thrown }: Ending): string | null =>
  thrown === undefined ? null : thrownMessage(thrown);

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
  const message = thrownMessage(thrown);
  return {
    event: "error",
    data: JSON.stringify({ error: errorName(thrown), message, detail: message, run_id, status, usage }),
  };
}

/** Why a run was stopped from outside; `signal.reason` of its graph. */
export type AbortCause =
  "disconnected" | "timeout" | "deleted" | "shutdown" | "lost" | "cancelled" | "refused" | "failed";

const MESSAGES: Record<Exclude<AbortCause, "timeout">, string> = {
  disconnected: "the client disconnected",
  deleted: "the thread is being deleted",
  shutdown: "the server is shutting down",
  cancelled: "the run was cancelled",
  refused: "what the run yielded could not be stored or sent",
  failed: "an error of the run was handled by nothing",
  lost: "the thread's lock was lost",
};

export class RunAborted extends Error {
  readonly abortCause: AbortCause;

  constructor(abortCause: AbortCause, message: string) {
    super(message);
    this.abortCause = abortCause;
    this.name = abortCause === "timeout" ? "TimeoutError" : "AbortError";
  }

  static because(cause: Exclude<AbortCause, "timeout">): RunAborted {
    return new RunAborted(cause, MESSAGES[cause]);
  }

  static timedOut(seconds: number): RunAborted {
    return new RunAborted("timeout", `Run timed out after ${seconds} s`);
  }
}

// The body that answers a caller who waits for a run, or joins it.

/** Under this key SDK clients look for the error of a run that failed, and throw it. */
const ERROR_KEY = "__error__";

/** Turns a value into what clients see of it. */
type Convert = (value: unknown) => unknown;

/**
 * The run's final visible values, with its open interrupts beside them. Always an object: SDK clients search it for the
 * key of an error. Throws what `convert` does.
 */
export function runAnswer(
  visible: unknown,
  interrupts: unknown[] | undefined,
  convert: Convert = toWire,
): JsonObject {
  const values = convert(visible);
  const shown = isRecord(values) ? values : values == null ? {} : { [UNKEYED]: values };
  return interrupts ? { ...shown, [INTERRUPT_KEY]: convert(interrupts) } : shown;
}

/** What a run yielded that its answer is made of. */
interface Yielded {
  lastValues: unknown;
  interrupts: unknown[] | undefined;
}

/** @throws UnserializableError when the run's values cannot be sent (`invalid_request`) */
export function finalAnswer({ lastValues, interrupts }: Yielded, filter: OutputFilter): JsonObject {
  return runAnswer(filter.values(lastValues), interrupts, (value) => yieldedToWire(value, "values"));
}

/** The answer of a run that was stopped: its values as far as they can be read. Never throws. */
export function answerSoFar({ lastValues, interrupts }: Yielded, filter: OutputFilter): JsonObject {
  return attempt(() => runAnswer(filter.values(lastValues), interrupts)) ?? {};
}

/** The answer of a run that failed. */
export function failedAnswer(thrown: unknown): JsonObject {
  return { [ERROR_KEY]: { error: errorName(thrown), message: thrownMessage(thrown) } };
}
