/**
 * Runs that were refused before they began, though the storage may have stored them: nobody executes such a run, and
 * its row would keep the thread busy for ever.
 */
import { isFinished } from "../storage/rows.js";
import { now, type OpsContext } from "./context.js";
import { statusByState } from "./recovery.js";

/** A statement whose answer was lost may still be carried out for so long. */
const DOUBT_MS = 120_000;
const REASON = "the storage failed while the run was being stored; it never began";

interface DoubtfulRun {
  run_id: string;
  thread_id: string;
}

export class DoubtfulRuns {
  readonly #context: OpsContext;
  /** Since when they are doubtful, by `performance.now()`. */
  readonly #runs = new Map<DoubtfulRun, number>();

  constructor(context: OpsContext) {
    this.#context = context;
  }

  add({ run_id, thread_id }: DoubtfulRun): void {
    this.#runs.set({ run_id, thread_id }, performance.now());
  }

  /**
   * As `settle`, for every thread that is free.
   * @throws StorageUnavailableError (`storage_unavailable`)
   */
  async settleIdle(): Promise<void> {
    for (const threadId of new Set([...this.#runs.keys()].map(({ thread_id }) => thread_id))) {
      const lease = await this.#context.storage.locks.acquire(threadId, { wait: false });
      if (!lease) continue;
      try {
        await this.settle(threadId);
      } finally {
        await lease.release();
      }
    }
  }

  /**
   * Settle those of a thread that were stored after all; the others are looked for again until they can no longer come.
   * The caller holds the thread's lease: a busy thread has no run then.
   * @throws StorageUnavailableError (`storage_unavailable`)
   */
  async settle(threadId: string): Promise<void> {
    for (const [run, since] of [...this.#runs]) {
      if (run.thread_id !== threadId) continue;
      const isStored = await this.#settleRun(run);
      if (isStored) await this.#rest(threadId);
      if (isStored || performance.now() - since > DOUBT_MS) this.#runs.delete(run);
    }
  }

  /** False when there is no such run. */
  async #settleRun({ run_id, thread_id }: DoubtfulRun): Promise<boolean> {
    const { metadata } = this.#context.storage;
    const row = await metadata.getRun(thread_id, run_id);
    if (!row) return false;
    if (!isFinished(row))
      await metadata.updateRun(run_id, { updated_at: now(), status: "error", error: REASON });
    return true;
  }

  async #rest(threadId: string): Promise<void> {
    const { metadata } = this.#context.storage;
    const row = await metadata.getThread(threadId);
    if (row?.status !== "busy") return;
    const status = await statusByState(this.#context, threadId);
    await metadata.updateThread(threadId, { updated_at: now(), status });
  }
}
