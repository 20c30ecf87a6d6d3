import { ShuttingDownError } from "../support/errors.js";

const MESSAGES = {
  disconnected: "the client disconnected",
  deleted: "the thread is being deleted",
  shutdown: "the server was shut down during the run",
  unbegun: "the server was shut down before the run began",
  cancelled: "the run was cancelled",
  refused: "what the run yielded could not be stored or sent",
  failed: "an error in the run was not handled",
  lost: "the thread's lock was lost",
};

/** Why a run was aborted. The `RunAborted` is the `signal.reason` of its graph. */
export type AbortCause = "timeout" | keyof typeof MESSAGES;

export class RunAborted extends Error {
  readonly abortCause: AbortCause;

  constructor(abortCause: AbortCause, message: string) {
    super(message);
    this.abortCause = abortCause;
    this.name = abortCause === "timeout" ? "TimeoutError" : "AbortError";
  }

  static from(cause: Exclude<AbortCause, "timeout">): RunAborted {
    return new RunAborted(cause, MESSAGES[cause]);
  }

  static timedOut(seconds: number): RunAborted {
    return new RunAborted("timeout", `Run timed out after ${seconds} s`);
  }
}

export const isAborted = (thrown: unknown, ...causes: AbortCause[]): boolean =>
  thrown instanceof RunAborted && causes.includes(thrown.abortCause);
export const isShutDown = (thrown: unknown): boolean =>
  thrown instanceof ShuttingDownError || isAborted(thrown, "shutdown", "unbegun");
