/** Why a run was stopped from outside; `signal.reason` of its graph. */
export type AbortCause =
  "disconnected" | "timeout" | "deleted" | "shutdown" | "lost" | "cancelled" | "unstored";

const MESSAGES: Record<Exclude<AbortCause, "timeout">, string> = {
  disconnected: "the client disconnected",
  deleted: "the thread is being deleted",
  shutdown: "the server is shutting down",
  cancelled: "the run was cancelled",
  unstored: "the run's state could not be stored",
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
