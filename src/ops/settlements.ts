/** Stores how runs ended, and keeps at it when the storage is away for a while. */
import { setTimeout as sleep } from "node:timers/promises";
import { GraphServeError, StorageUnavailableError } from "../errors.js";
import type { Run, TokenUsage } from "../models/run.js";
import type { RunOutcome, ThreadLease } from "../storage/storage.js";
import type { OpsContext } from "./context.js";
import { DoubtfulRuns } from "./doubtful-runs.js";
import { RunAborted } from "./run-abort.js";
import { failed, outcomeOf, type Ending } from "./run-ending.js";

const PAUSES_MS = [0, 50, 250];

export interface SettledEnding extends Ending {
  /** What the run's row says of it. */
  stored: Pick<Run, "updated_at" | "status" | "error">;
}

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

  /**
   * Store how a run ended, then release its lease. Returns the end as it is to be told: a success that a crash could
   * undo, since it cannot be stored, or that came after the thread was lost, is a failure. Never rejects.
   */
  async end(run: Run, ending: Ending, usage: TokenUsage, lease: ThreadLease): Promise<SettledEnding> {
    await lease.confirm?.();
    const isLost = lease.lost?.aborted ?? false;
    let final = isLost ? orFailed(ending, RunAborted.because("lost")) : ending;
    let outcome = outcomeOf(run, final, usage);
    // What becomes of a thread that was lost is not this run's to say.
    if (isLost) outcome.thread = { updated_at: outcome.thread.updated_at };
    if (!(await this.store(outcome))) {
      const message = `the run ended as ${final.status}, but its end could not be stored`;
      final = orFailed(final, new StorageUnavailableError(message));
      outcome = { ...outcomeOf(run, final, usage), ...(isLost && { thread: outcome.thread }) };
      this.defer(outcome);
    }
    await lease.release();
    if (isLost) {
      // Should nobody have it, it is set right as soon as it can be had again.
      this.doubtful.add(run);
      void this.flushAll();
    }
    const { updated_at, status = run.status, error = null } = outcome.run;
    return { ...final, stored: { updated_at, status, error } };
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

/** An end that was no failure becomes one; a failure is told as it was. */
const orFailed = (ending: Ending, error: Error): Ending =>
  ending.thrown === undefined ? failed(error) : ending;
