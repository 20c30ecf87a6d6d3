/** Stores how runs ended, and keeps at it when the storage is away for a while. */
import { setTimeout as sleep } from "node:timers/promises";
import { GraphServeError } from "../errors.js";
import type { RunOutcome } from "../storage/storage.js";
import type { OpsContext } from "./context.js";
import { DoubtfulRuns } from "./doubtful-runs.js";

const PAUSES_MS = [0, 50, 250];

export class Settlements {
  /** Runs that may be stored without anybody who executes them. */
  readonly doubtful: DoubtfulRuns;
  readonly #context: OpsContext;
  /** Outcomes that could not be stored yet, by thread. */
  readonly #deferred = new Map<string, RunOutcome[]>();

  constructor(context: OpsContext) {
    this.#context = context;
    this.doubtful = new DoubtfulRuns(context);
  }

  /** Store an outcome; false when the storage refused it time and again. Never rejects. */
  async store(outcome: RunOutcome): Promise<boolean> {
    for (const pause of PAUSES_MS) {
      if (pause > 0) await sleep(pause);
      try {
        await this.#context.storage.metadata.settleRuns([outcome]);
        return true;
      } catch (error) {
        const fields = { err: error, run_id: outcome.runId, thread_id: outcome.threadId };
        this.#context.logger.error(fields, "the end of a run could not be stored");
        // Whatever is no failure of the storage would fail again.
        if (!(error instanceof GraphServeError)) break;
      }
    }
    return false;
  }

  /** Keep an outcome for later. */
  defer(outcome: RunOutcome): void {
    const outcomes = this.#deferred.get(outcome.threadId) ?? [];
    this.#deferred.set(outcome.threadId, [...outcomes, outcome]);
  }

  /**
   * Store what was kept for a thread, so that an old run's end never overwrites a new run's beginning. The caller holds
   * the thread's lease.
   * @throws StorageUnavailableError (`storage_unavailable`)
   */
  async flush(threadId: string): Promise<void> {
    await this.#flushDeferred(threadId);
    await this.doubtful.settle(threadId);
  }

  /** Store all that was kept, as far as the storage takes it. Never rejects. */
  async flushAll(): Promise<void> {
    try {
      for (const threadId of this.#deferred.keys()) await this.#flushDeferred(threadId);
      await this.doubtful.settleIdle();
    } catch (error) {
      this.#context.logger.error({ err: error }, "ends of runs still cannot be stored");
    }
  }

  async #flushDeferred(threadId: string): Promise<void> {
    const outcomes = this.#deferred.get(threadId);
    if (!outcomes) return;
    await this.#context.storage.metadata.settleRuns(outcomes);
    const added = this.#deferred.get(threadId)?.filter((outcome) => !outcomes.includes(outcome)) ?? [];
    if (added.length > 0) this.#deferred.set(threadId, added);
    else this.#deferred.delete(threadId);
  }
}
