/**
 * Stores how runs ended: the changes to the row and the thread (docs/specification.md#states). Outcomes that the storage
 * does not accept are stored later.
 */
import { thrownMessage } from "../graphs/thrown.js";
import type { Run, TokenUsage } from "../models/run.js";
import { NO_TOKENS, reportedTokens, UNITS_PER_USD } from "../models/token-counts.js";
import type { ModelUsage } from "../models/model-calls.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type { Resumption, RunHolder, RunKey, RunOutcome } from "../storage/contract/runs.js";
import type { Storage } from "../storage/contract/storage.js";
import type { UsageRow } from "../storage/contract/usage.js";
import { GraphServeError, StorageUnavailableError } from "../support/errors.js";
import { isHeldBy, now } from "../storage/rows/rows.js";
import type { Metrics } from "../support/metrics.js";
import { setTimeout as sleep } from "node:timers/promises";
import type { OpsContext } from "../context/context.js";
import { remainderOf, type RunRemainder } from "./run-owners.js";
import { died, ended as endedAs, isUnclaimed, requeued, rolledBack } from "./state.js";
import type { LiveRunOptions } from "./run-options.js";
import { RunAborted } from "./run-aborted.js";
import { type Ending, endingOfQueued, orFailed } from "./run-ending.js";
import { UncertainRuns } from "./uncertain-runs.js";

/** Records the metrics of a run that ended in this process. `ms` is its duration in milliseconds. */
export function countEnd(
  metrics: Metrics,
  {
    run: { metadata, status, usage },
    became,
    models = [],
  }: { run: Run; became: Departure; models?: readonly ModelUsage[] },
  ms: number | undefined,
): void {
  const { input_tokens, output_tokens } = reportedTokens(usage);
  metrics.runEnded({
    graph: String(metadata.graph_id),
    status: became === "requeued" ? "requeued" : became === "taken" ? "lost" : status,
    seconds: ms === undefined ? undefined : ms / 1000,
    inputTokens: input_tokens,
    outputTokens: output_tokens,
    costs: models.map(({ model, cost }) => ({ model, usd: cost / UNITS_PER_USD })),
  });
}

// Storing outcomes.

/** Delays before the attempts to store an outcome, in milliseconds. */
const RETRY_DELAYS_MS = [0, 50, 250];

/**
 * How a run left this process. It `ended`, or is `dead` until it is redriven; or a later attempt reports its end, because
 * this process `requeued` it or another process has `taken` it over.
 */
export type Departure = "ended" | "dead" | "requeued" | "taken";

/** Whether a later attempt reports the end of the run. */
export const hasLeft = (became: Departure | undefined): boolean =>
  became === "requeued" || became === "taken";

/** How a run ended, for its readers. */
export interface RunResult extends Ending {
  usage: TokenUsage;
  /** The stored fields of the run's row. */
  stored: Pick<Run, "updated_at" | "status" | "error" | "attempt">;
  became: Departure;
  /** True if the run lost its thread lock before it ended. It must not change the thread then. */
  isLost: boolean;
}

/** A run whose graph has ended. */
interface EndedRun {
  run: Run;
  ending: Ending;
  usage: TokenUsage;
  /** Rows of the model calls of this attempt. */
  models?: readonly UsageRow[];
  holder: RunHolder;
  /** Set if another process can resume the run. */
  resumption: Resumption | undefined;
  /** The same if the thread lock was lost. */
  ifLost: () => Resumption | undefined;
  lease: ThreadLease;
  /** Whether the storage rejected a write because another process owns the run. */
  isTaken: boolean;
  /** Whether the thread lock was lost. */
  isLost?: boolean;
  /** Whether it is deleted with its checkpoints next. Until then it stays unfinished: a crash must not keep them. */
  isRolledBack?: boolean;
  /** Called while the thread is still locked. */
  atEnd: LiveRunOptions["atEnd"];
}

type EndedAttempt = Omit<EndedRun, "ifLost" | "lease" | "isTaken" | "atEnd">;
type Result = Omit<RunResult, "isLost">;

export class RunResults {
  readonly #context: OpsContext;
  /** Outcomes that are not stored yet, by thread. */
  readonly #deferred = new Map<string, RunOutcome[]>();
  /** Runs that have left their queue here, while that is being stored. By thread. */
  readonly #leaving = new Map<string, Set<Promise<unknown>>>();
  /** Runs that may have been stored although no process executes them. */
  #uncertain: UncertainRuns | undefined;

  constructor(context: OpsContext) {
    this.#context = context;
  }

  /**
   * Stores how a run ended, and calls `atEnd` while its thread is locked. A success becomes a failure if it cannot be
   * stored, because a crash would undo it, or if the thread lock was lost before it. Never rejects.
   */
  async end(ended: EndedRun): Promise<RunResult> {
    const { ending, lease, atEnd } = ended;
    await lease.confirm?.();
    const isLost = ended.isTaken || (lease.lost?.aborted ?? false);
    const final = isLost ? orFailed(ending, RunAborted.from("lost")) : ending;
    const resumption = ended.isTaken
      ? undefined
      : (ended.resumption ?? (isLost ? ended.ifLost() : undefined));
    const own = { ...ended, ending: final, resumption, isLost };
    let result = resumption && (await this.#requeue(own));
    if (!result) {
      const end = this.#endOf(own);
      const isStored = await this.#tryStore(end.outcome);
      result = isStored ? end.result : await this.#failUnstored(own);
    }
    if (hasLeft(result.became)) return { ...result, isLost };
    if (!isLost) await atEnd?.(result.became === "dead");
    return { ...result, isLost, ...(isLost && (await this.#isTaken(ended)) && { became: "taken" }) };
  }

  /** Stores the end of a run that could not start and does not hold its thread. Never rejects. */
  async endQueued(run: Run, error: unknown, resumption: Resumption | undefined): Promise<RunResult> {
    const leaving = this.#leaving.get(run.thread_id) ?? new Set();
    this.#leaving.set(run.thread_id, leaving);
    const ended = this.#endQueued(run, error, resumption);
    leaving.add(ended);
    try {
      return await ended;
    } finally {
      leaving.delete(ended);
      if (leaving.size === 0) this.#leaving.delete(run.thread_id);
    }
  }

  async #endQueued(run: Run, error: unknown, resumption: Resumption | undefined): Promise<RunResult> {
    const ending = await endingOfQueued(error);
    const usage = { ...NO_TOKENS, source: "callbacks" as const };
    const holder = { owner: this.#context.ownerId, attempt: run.attempt };
    const hasBegun = run.status === "running";
    // Counts as lost: the graph did not run, so the storage is the likely cause.
    const own = { run, holder, usage, ending, resumption, isLost: true };
    const left = await this.#requeue(own, hasBegun);
    if (left) return { ...left, isLost: false };
    const { outcome, result } = this.#endOf(own, hasBegun);
    // The run may have failed to start because another process has taken it over: its end is not known here.
    if (await this.#isTaken(own)) return { ...result, isLost: false, became: "taken" };
    if (!(await this.#tryStore(outcome))) this.#defer(outcome);
    return { ...result, isLost: false };
  }

  /** Records a run that may have been stored although storing it failed. */
  markUncertain(run: RunKey, isAccepted = false): void {
    (this.#uncertain ??= new UncertainRuns(this.#context)).add(run, isAccepted);
  }

  /** Called when this process owns and executes the run: it is no longer uncertain. */
  taken = ({ run_id }: RunKey): void => this.#uncertain?.forget(run_id);

  /** Reconciles a run that may have left its thread busy without a process that executes it. Never rejects. */
  async reconcile(run: RunKey): Promise<void> {
    this.markUncertain(run, true);
    await this.flushAll();
  }

  /**
   * Stores the deferred outcomes of a thread, so that the end of an old run never overwrites the start of a new one. A run
   * that leaves its queue to be resumed later is stored first, so that the caller sees it. The caller holds the thread's
   * lease.
   * @throws StorageUnavailableError (`storage_unavailable`)
   */
  async flush(threadId: string): Promise<void> {
    const leaving = this.#leaving.get(threadId);
    if (leaving) await Promise.all(leaving);
    const deferred = this.#deferred.get(threadId);
    if (deferred) await this.#flushDeferred(threadId, deferred);
    await this.#uncertain?.reconcile(threadId);
  }

  /** Tries to store all deferred outcomes. Never rejects. */
  async flushAll(): Promise<void> {
    try {
      for (const [threadId, outcomes] of this.#deferred) await this.#flushDeferred(threadId, outcomes);
      await this.#uncertain?.reconcileIdle();
    } catch (error) {
      this.#context.logger.error({ err: error }, "outcomes of runs still cannot be stored");
    }
  }

  /**
   * Whether another process owns the run, according to its row. A run that was requeued as attempt `requeuedAs` is not
   * taken: only the response to that update may have been lost. Never rejects.
   */
  async #isTaken({ run, holder }: Pick<EndedRun, "run" | "holder">, requeuedAs?: number): Promise<boolean> {
    const { runs } = this.#context.storage;
    const { run_id, thread_id } = run;
    if (!this.#context.capabilities.takeover) return false;
    const row = await runs.get(thread_id, run_id).catch(() => undefined);
    if (row === undefined || isHeldBy(row, { ...holder, state: row.state })) return false;
    const { owner, attempt } = row;
    if (isUnclaimed(row) && attempt === requeuedAs) return false;
    const fields = { run_id, thread_id, attempt: holder.attempt, taken: { owner, attempt } };
    this.#context.logger.warn(fields, "the run was lost: another process has taken it over");
    return true;
  }

  /** A run whose end could not be stored is requeued if possible: another process then only has to store its end. */
  async #failUnstored(ended: EndedAttempt): Promise<Result> {
    const message = `the run ended as ${ended.ending.status}, but its outcome could not be stored`;
    const failed = { ...ended, ending: orFailed(ended.ending, new StorageUnavailableError(message)) };
    const left = await this.#requeue(failed);
    if (left) return left;
    const deferred = this.#endOf(failed);
    this.#defer(deferred.outcome);
    return deferred.result;
  }

  /** What is stored of a run that ends here, and its result. */
  #endOf(ended: EndedAttempt, hasBegun = true): { outcome: RunOutcome; result: Result } {
    const { run, ending, usage, models, holder, isLost } = ended;
    const { status, threadStatus, thrown, fault, tasks, preview } = ending;
    const dead = ended.resumption && this.#remainderOf(ended, ended.resumption, hasBegun);
    // Without takeover, no process would complete it.
    const isRolledBack = ended.isRolledBack && this.#context.capabilities.takeover;
    const left = isRolledBack ? rolledBack({ ...holder, resumption: null }) : endedAs(status);
    const updated_at = now();
    const error = thrown === undefined ? null : thrownMessage(thrown);
    const threadError = threadStatus === "error" ? error : null;
    const thread = threadStatus &&
      !isLost &&
      !isRolledBack && {
        ...{ state_updated_at: updated_at, status: threadStatus, error: threadError },
        ...(preview && { preview }),
      };
    const outcome = {
      runId: run.run_id,
      holder,
      run: {
        ...{ updated_at, error, usage },
        ...(fault && { fault }),
        ...(tasks && { tasks }),
        ...(dead ? { ...died(dead.resumption), attempt: dead.attempt } : left),
      },
      threadId: run.thread_id,
      thread: { updated_at, ...thread },
      ...(models && { usage: models }),
    };
    const stored = { updated_at, status, error, attempt: holder.attempt };
    return { outcome, result: { ...ending, usage, stored, became: dead ? "dead" : "ended" } };
  }

  /** Requeues a run that another process can resume. Undefined if the run ends here. */
  async #requeue(ended: EndedAttempt, hasBegun = true): Promise<Result | undefined> {
    const remainder = ended.resumption && this.#remainderOf(ended, ended.resumption, hasBegun);
    if (!remainder || remainder.isDead) return undefined;
    const { run, holder, usage, models, ending } = ended;
    const { run_id, thread_id } = run;
    const updated_at = now();
    const patch = { updated_at, ...requeued(remainder), resumption: remainder.resumption };
    const outcome = {
      ...{ runId: run_id, holder, run: patch, threadId: thread_id, thread: { updated_at } },
      ...(models && { usage: models }),
    };
    const changed = await this.#tryStore(outcome, async ({ runs, usage }) => {
      if (models) await usage?.store(models);
      return runs.update(run_id, patch, holder);
    });
    if (!changed) this.#defer(outcome);
    const stored = { updated_at, status: run.status, error: null, attempt: holder.attempt };
    const result = { ...ending, usage, stored };
    if (changed?.answer === false && (await this.#isTaken({ run, holder }, remainder.attempt)))
      return { ...result, became: "taken" };
    const reason = thrownMessage(ending.thrown);
    this.#context.logger.info({ run_id, thread_id, reason }, "the run was requeued");
    return { ...result, became: "requeued" };
  }

  /** What another process can resume. Undefined if the run ends here after all. */
  #remainderOf(
    { ending, holder, isLost }: EndedAttempt,
    resumption: Resumption,
    hasBegun: boolean,
  ): RunRemainder | undefined {
    const { settings, storage } = this.#context;
    const { thrown } = ending;
    const aborted = { thrown, attempt: holder.attempt, resumption, isLost, hasBegun };
    const remainder = remainderOf(aborted, settings.max_attempts);
    return remainder?.isDead && !storage.deadRuns ? undefined : remainder;
  }

  /**
   * Stores an outcome, by `change` if it is given. Returns the answer of the storage, or undefined if every attempt
   * failed. Never rejects.
   */
  async #tryStore(
    outcome: RunOutcome,
    change?: (storage: Storage) => Promise<boolean>,
  ): Promise<{ answer: boolean | void } | undefined> {
    const { storage, logger } = this.#context;
    for (const pause of RETRY_DELAYS_MS) {
      if (pause > 0) await sleep(pause);
      try {
        return { answer: await (change ? change(storage) : storage.runs.settle([outcome])) };
      } catch (error) {
        const fields = { err: error, run_id: outcome.runId, thread_id: outcome.threadId };
        logger.error(fields, "the outcome of a run could not be stored");
        // Only storage errors can be temporary.
        if (!(error instanceof GraphServeError)) break;
      }
    }
    return undefined;
  }

  #defer(outcome: RunOutcome): void {
    const outcomes = this.#deferred.get(outcome.threadId) ?? [];
    this.#deferred.set(outcome.threadId, [...outcomes, outcome]);
  }

  async #flushDeferred(threadId: string, outcomes: readonly RunOutcome[]): Promise<void> {
    await this.#context.storage.runs.settle(outcomes);
    const added = this.#deferred.get(threadId)?.filter((outcome) => !outcomes.includes(outcome)) ?? [];
    if (added.length > 0) this.#deferred.set(threadId, added);
    else this.#deferred.delete(threadId);
  }
}
