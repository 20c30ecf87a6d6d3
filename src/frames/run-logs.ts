/** Logs of ended runs, retained for clients that reconnect while the budget has room. */
import type { Run } from "../models/run.js";
import type { RunLog } from "./run-log.js";

const KEEP_MS = 5 * 60_000;

/** An ended run and its frames. */
export interface EndedRun {
  run: Pick<Run, "run_id" | "thread_id" | "created_at" | "updated_at"> & {
    graph_id: string;
    /** Ids of the interrupts it answered: see `answerFrom`. */
    answers?: readonly string[];
  };
  log: RunLog;
}

interface RetainedRun extends EndedRun {
  endedAt: number;
}

export class RunLogs {
  /** By run id, oldest first. */
  readonly #ended = new Map<string, RetainedRun>();
  /** By thread, in the order in which they ended. */
  readonly #ofThread = new Map<string, Set<RetainedRun>>();

  keep(run: EndedRun["run"], log: RunLog, at = Date.now()): void {
    if (this.#ended.has(run.run_id)) this.forget(run.run_id);
    const kept: RetainedRun = { run, log, endedAt: at };
    this.#ended.set(run.run_id, kept);
    const others = this.#ofThread.get(run.thread_id);
    if (others) others.add(kept);
    else this.#ofThread.set(run.thread_id, new Set([kept]));
    log.keep(() => this.forget(run.run_id));
    this.expire(at);
  }

  get(runId: string): RunLog | undefined {
    return this.#ended.get(runId)?.log;
  }

  /** The ended runs of a thread, in the order in which they ended. */
  ofThread(threadId: string): EndedRun[] {
    return [...(this.#ofThread.get(threadId) ?? [])];
  }

  forget(runId: string): void {
    const kept = this.#ended.get(runId);
    if (!kept) return;
    this.#ended.delete(runId);
    const { thread_id } = kept.run;
    const others = this.#ofThread.get(thread_id);
    others?.delete(kept);
    if (others?.size === 0) this.#ofThread.delete(thread_id);
    kept.log.keep(undefined);
  }

  /** Removes the runs of a deleted thread. */
  forgetThread(threadId: string): void {
    for (const { run } of this.ofThread(threadId)) this.forget(run.run_id);
  }

  /** Removes runs that ended more than `KEEP_MS` ago. */
  expire(at = Date.now()): void {
    for (const [runId, { endedAt }] of this.#ended) {
      if (at - endedAt < KEEP_MS) return;
      this.forget(runId);
    }
  }
}
