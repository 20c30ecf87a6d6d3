/** A run of this process, from the moment it is accepted: what others may follow and stop. */
import type { JsonObject } from "../models/common.js";
import type { RunAborted } from "./run-abort.js";
import { failedAnswer } from "./run-answer.js";
import type { RunLog } from "./run-log.js";
import type { RunTask } from "./run-task.js";

export class RunHandle {
  readonly threadId: string;
  readonly runId: string;
  /** The run's frames; undefined for a run that nobody streams. */
  readonly log: RunLog | undefined;
  /** What the run answers once it has ended, however it ended. Never rejects. */
  readonly answer: Promise<JsonObject>;

  #hasBegun = false;
  #stopped: RunAborted | undefined;
  #stop: (reason: RunAborted) => void;
  #end: (answer: JsonObject) => void = () => undefined;

  /** `stop` is what cancels the run while it still waits for its thread. */
  constructor(
    ids: { thread_id: string; run_id: string },
    log: RunLog | undefined,
    stop: (reason: RunAborted) => void,
  ) {
    this.threadId = ids.thread_id;
    this.runId = ids.run_id;
    this.log = log;
    this.#stop = stop;
    this.answer = new Promise((resolve) => (this.#end = resolve));
  }

  /** The run has its thread. */
  begin(task: RunTask): void {
    this.#hasBegun = true;
    this.#stop = (reason) => task.abort(reason);
    // It may have been stopped between its thread's becoming free and now.
    if (this.#stopped) task.abort(this.#stopped);
    task.done.then(
      () => this.#end(task.answer),
      (error: unknown) => this.fail(error),
    );
  }

  /** True once the run has had its thread. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** The run ended before it began. */
  fail(error: unknown): void {
    this.#end(failedAnswer(error));
  }

  stop(reason: RunAborted): void {
    this.#stopped ??= reason;
    this.#stop(reason);
  }
}
