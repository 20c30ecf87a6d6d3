/** Stores how runs ended, and keeps at it when the storage is away for a while. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Run, TokenUsage } from "../models/run.js";
import { isFinished } from "../storage/rows.js";
import type { RunOutcome, ThreadLease } from "../storage/storage.js";
import { GraphServeError, StorageUnavailableError } from "../support/errors.js";
import { now, type OpsContext } from "./context.js";
import { statusByState } from "./recovery.js";
import { type Ending, failed, outcomeOf, RunAborted } from "./run-ending.js";

const PAUSES_MS = [0, 50, 250];

interface SettledEnding extends Ending {
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
        await this.#context.storage.runs.settle([outcome]);
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
   * Store how a run ended, do what is left to do, then release its lease. Returns the end as it is to be told: a success that a crash could
   * undo, since it cannot be stored, or that came after the thread was lost, is a failure. Never rejects.
   */
  async end(
    run: Run,
    ending: Ending,
    usage: TokenUsage,
    { lease, atEnd }: { lease: ThreadLease; atEnd?: () => Promise<void> },
  ): Promise<SettledEnding> {
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
    if (!isLost) await atEnd?.();
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
    await this.#context.storage.runs.settle(outcomes);
    const added = this.#deferred.get(threadId)?.filter((outcome) => !outcomes.includes(outcome)) ?? [];
    if (added.length > 0) this.#deferred.set(threadId, added);
    else this.#deferred.delete(threadId);
  }
}

/** An end that was no failure becomes one; a failure is told as it was. */
const orFailed = (ending: Ending, error: Error): Ending =>
  ending.thrown === undefined ? failed(error) : ending;

// * Runs that were refused before they began, though the storage may have stored them: nobody executes such a run, and
// its row would keep the thread busy for ever.

/** A statement whose answer was lost may still be carried out for so long. */
const DOUBT_MS = 120_000;
const REASON = "the storage failed while the run was being stored; it never began";

interface DoubtfulRun {
  run_id: string;
  thread_id: string;
}

class DoubtfulRuns {
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
    const { runs } = this.#context.storage;
    const row = await runs.get(thread_id, run_id);
    if (!row) return false;
    if (!isFinished(row)) await runs.update(run_id, { updated_at: now(), status: "error", error: REASON });
    return true;
  }

  async #rest(threadId: string): Promise<void> {
    const { threads } = this.#context.storage;
    const row = await threads.get(threadId);
    if (row?.status !== "busy") return;
    const status = await statusByState(this.#context, threadId);
    await threads.update(threadId, { updated_at: now(), status });
  }
}
