/**
 * Runs that may be stored without anybody who executes them: refused before they began, or accepted when the storage failed
 * under them. Their rows would keep their threads busy for ever.
 */
import { isFinished, now } from "../storage/rows/rows.js";
import type { RunKey } from "../storage/contract/storage.js";
import type { OpsContext } from "../context/context.js";
import { UNOWNED, statusByState } from "./run-owners.js";

/** A statement whose answer was lost may still be carried out for so long. */
const UNCONFIRMED_MS = 120_000;
const REASON = "the storage failed while the run was being stored; it never began";

export class UncertainRuns {
  readonly #context: OpsContext;
  /** Since when they are unconfirmed, by `performance.now()`, and whether their clients were told that they are accepted. */
  readonly #runs = new Map<RunKey, { since: number; isAccepted: boolean }>();

  constructor(context: OpsContext) {
    this.#context = context;
  }

  add({ run_id, thread_id }: RunKey, isAccepted: boolean): void {
    this.#runs.set({ run_id, thread_id }, { since: performance.now(), isAccepted });
  }

  /** The run is this process's, who executes it: what had failed before has not been carried out. */
  forget(runId: string): void {
    for (const run of this.#runs.keys()) if (run.run_id === runId) this.#runs.delete(run);
  }

  /**
   * As `settle`, for every thread that is free.
   * @throws StorageUnavailableError (`storage_unavailable`)
   */
  async reconcileIdle(): Promise<void> {
    for (const threadId of new Set([...this.#runs.keys()].map(({ thread_id }) => thread_id))) {
      const lease = await this.#context.storage.locks.acquire(threadId, { wait: false });
      if (!lease) continue;
      try {
        await this.reconcile(threadId);
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
  async reconcile(threadId: string): Promise<void> {
    for (const [run, { since, isAccepted }] of [...this.#runs]) {
      if (run.thread_id !== threadId) continue;
      const found = await this.#settleRun(run, isAccepted);
      if (found === "settled") await this.#remaining(threadId);
      if (found || performance.now() - since > UNCONFIRMED_MS) this.#runs.delete(run);
    }
  }

  /** Undefined when there is no such run, or nobody has it; whoever has taken it over, or is to, sees to it. */
  async #settleRun(
    { run_id, thread_id }: RunKey,
    isAccepted: boolean,
  ): Promise<"settled" | "elsewhere" | undefined> {
    const { runs } = this.#context.storage;
    const row = await runs.get(thread_id, run_id);
    if (!row) return undefined;
    if (isFinished(row)) return "settled";
    // The statement that takes it for this process may still come.
    if (runs.take && row.owner === UNOWNED) return undefined;
    if (runs.take && row.owner !== this.#context.ownerId) return "elsewhere";
    const { owner, attempt = 1 } = row;
    const holder = runs.take && { owner, attempt };
    if (
      isAccepted &&
      this.#context.settings.resume_runs &&
      row.resumption?.unattended &&
      row.resumption.isWhole
    ) {
      await runs.update(run_id, { updated_at: now(), owner: UNOWNED }, holder);
      return "elsewhere";
    }
    await runs.update(
      run_id,
      { updated_at: now(), status: "error", error: REASON, resumption: null },
      holder,
    );
    return "settled";
  }

  async #remaining(threadId: string): Promise<void> {
    const { threads } = this.#context.storage;
    const row = await threads.get(threadId);
    if (row?.status !== "busy") return;
    const status = await statusByState(this.#context, threadId);
    await threads.update(threadId, { updated_at: now(), status });
  }
}
