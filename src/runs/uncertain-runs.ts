/**
 * Runs that may be stored although no process executes them: rejected before they started, or accepted while the
 * storage failed. Their rows would keep their threads busy forever.
 */
import { now } from "../storage/rows/rows.js";
import { isFinished } from "../models/run-status.js";
import type { RunKey } from "../storage/contract/runs.js";
import type { OpsContext } from "../context/context.js";
import { statusByState } from "../threads/thread-state.js";
import { ended, hasBegun, isUnclaimed, leaseOf, requeued } from "./state.js";

/** How long a statement without a response may still take effect, in milliseconds. */
const UNCERTAIN_MS = 120_000;
const REASON = "the storage failed while the run was being stored; it never began";

export class UncertainRuns {
  readonly #context: OpsContext;
  /** Since when a run is uncertain, by `performance.now()`, and whether its client was informed that it is accepted. */
  readonly #runs = new Map<RunKey, { since: number; isAccepted: boolean }>();

  constructor(context: OpsContext) {
    this.#context = context;
  }

  add({ run_id, thread_id }: RunKey, isAccepted: boolean): void {
    this.#runs.set({ run_id, thread_id }, { since: performance.now(), isAccepted });
  }

  /** This process owns and executes the run, so the failed statement did not take effect. */
  forget(runId: string): void {
    for (const run of this.#runs.keys()) if (run.run_id === runId) this.#runs.delete(run);
  }

  /**
   * Reconciles the runs of every thread that is not locked.
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
   * Settles the runs of a thread that were stored after all. The others are checked again until they can no longer
   * appear. The caller holds the thread's lease, so no run is in flight on the thread.
   * @throws StorageUnavailableError (`storage_unavailable`)
   */
  async reconcile(threadId: string): Promise<void> {
    for (const [run, { since, isAccepted }] of [...this.#runs]) {
      if (run.thread_id !== threadId) continue;
      const found = await this.#settleRun(run, isAccepted);
      if (found === "settled") await this.#settleThread(threadId);
      if (found || performance.now() - since > UNCERTAIN_MS) this.#runs.delete(run);
    }
  }

  /** `remote` if another process is responsible for the run. Undefined if the run is unknown or not owned yet. */
  async #settleRun(
    { run_id, thread_id }: RunKey,
    isAccepted: boolean,
  ): Promise<"settled" | "remote" | undefined> {
    const { storage, capabilities, ownerId, settings } = this.#context;
    const { runs } = storage;
    const row = await runs.get(thread_id, run_id);
    if (!row) return undefined;
    if (isFinished(row)) return "settled";
    // The statement that claims the run for this process may still take effect.
    if (capabilities.takeover && isUnclaimed(row)) return undefined;
    if (capabilities.takeover && row.owner !== ownerId) return "remote";
    const holder = capabilities.takeover ? leaseOf(row) : undefined;
    const { resumption } = row;
    if (isAccepted && settings.resume_runs && resumption?.isWhole) {
      const patch = { ...requeued(row), resumption: { ...resumption, unattended: true } };
      await runs.update(run_id, { updated_at: now(), ...patch }, holder);
      return "remote";
    }
    await runs.update(run_id, { updated_at: now(), ...ended("error"), error: REASON }, holder);
    return "settled";
  }

  async #settleThread(threadId: string): Promise<void> {
    const { threads } = this.#context.storage;
    const row = await threads.get(threadId);
    // A busy thread is how the next run learns of one that must be resumed first.
    if (row?.status !== "busy" || (await this.#hasBegunRun(threadId))) return;
    const status = await statusByState(this.#context, threadId);
    await threads.update(threadId, { updated_at: now(), status });
  }

  async #hasBegunRun(threadId: string): Promise<boolean> {
    const { runs } = this.#context.storage;
    for (const { run_id } of await runs.unfinished({ threadId })) {
      const row = await runs.get(threadId, run_id);
      if (row && hasBegun(row)) return true;
    }
    return false;
  }
}
