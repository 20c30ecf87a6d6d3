/**
 * How runs end: what an ending makes of the run's row, its thread, its last frame and its answer
 * (docs/specification.md#states); and storing it, also when the storage is away for a while.
 */
import { thrownMessage } from "../graphs/thrown.js";
import type { JsonObject } from "../models/common.js";
import type { Run, RunStatus, RunTasks, TokenUsage } from "../models/run.js";
import { NO_TOKENS, reportedTokens } from "../models/token-counts.js";
import type { ThreadStatus } from "../models/thread.js";
import type { RunFault } from "../support/run-fault.js";
import type {
  Resumption,
  RunHolder,
  RunKey,
  RunOutcome,
  RunTable,
  ThreadLease,
} from "../storage/contract/storage.js";
import {
  errorName,
  GraphServeError,
  StorageUnavailableError,
  UnknownInterruptError,
} from "../support/errors.js";
import { isHeldBy, now } from "../storage/rows/rows.js";
import type { Metrics } from "../support/metrics.js";
import { setTimeout as sleep } from "node:timers/promises";
import type { OpsContext } from "../context/context.js";
import { remainderOf, UNOWNED, type RunRemainder } from "./run-owners.js";
import type { LiveRunOptions } from "./run-options.js";
import { isShutDown, RunAborted } from "./run-aborted.js";
import { UncertainRuns } from "./uncertain-runs.js";

export interface Ending {
  status: Extract<RunStatus, "success" | "error" | "timeout" | "interrupted">;
  /** What becomes of the thread; left out where it stays as it was. */
  threadStatus?: ThreadStatus;
  /** What was thrown, for statuses `error` and `timeout`. */
  thrown?: unknown;
  /** The same for whoever develops the graph: with the place. */
  fault?: RunFault;
  /** When what ran in it began and ended. */
  tasks?: RunTasks;
}

export const succeeded: Ending = { status: "success", threadStatus: "idle" };
/** The graph waits for an answer; the setting says how the run is called then. */
export const paused = ({ interrupted_run_status: status }: OpsContext["settings"]): Ending => ({
  status,
  threadStatus: "interrupted",
});
/** Somebody outside stopped the run. */
export const stopped: Ending = { status: "interrupted", threadStatus: "idle" };
export const failed = (thrown: unknown): Ending => ({ status: "error", threadStatus: "error", thrown });
/** The server ended before the run did: the thread is what its state says, and can be gone on with. */
const cutShort = (thrown: unknown): Ending => ({ status: "error", threadStatus: "idle", thrown });
const timedOut = (thrown: unknown): Ending => ({ status: "timeout", threadStatus: "error", thrown });

/** The ending of a run whose graph threw; `signal` tells an abort from a failure. */
export function endingOf(error: unknown, signal: AbortSignal): Ending {
  if (error instanceof UnknownInterruptError) return { status: "error", thrown: error };
  if (!signal.aborted) return failed(error);
  const reason: unknown = signal.reason;
  if (!(reason instanceof RunAborted)) return stopped;
  if (reason.abortCause === "timeout") return timedOut(reason);
  if (reason.abortCause === "shutdown") return cutShort(reason);
  return reason.abortCause === "lost" ? failed(reason) : stopped;
}

/** The ending of a run that could not begin. */
async function endingOfQueued(error: unknown): Promise<Ending> {
  if (isShutDown(error)) return cutShort(RunAborted.from("unbegun"));
  return error instanceof RunAborted ? stopped : { ...failed(error), fault: await faultOf(error) };
}

/** What is stored of an ending. */
function outcomeOf(
  run: Run,
  ending: Ending,
  { usage, holder, dead }: Pick<EndedRun, "usage" | "holder"> & { dead: RunRemainder | undefined },
): RunOutcome {
  const at = now();
  const { status, threadStatus, thrown, fault, tasks } = ending;
  const error = thrown === undefined ? null : thrownMessage(thrown);
  const threadError = threadStatus === "error" ? error : null;
  const thread = threadStatus && { state_updated_at: at, status: threadStatus, error: threadError };
  return {
    runId: run.run_id,
    holder,
    run: {
      updated_at: at,
      status,
      error,
      usage,
      ...(fault && { fault }),
      ...(tasks && { tasks }),
      ...(dead && { attempt: dead.attempt }),
      resumption: dead?.resumption ?? null,
    },
    threadId: run.thread_id,
    thread: { updated_at: at, ...thread },
  };
}

/** The terminal frame: `end`, or `error` for a run that failed or timed out. */
export function lastFrame(run: Run, ending: Ending, usage: TokenUsage): { event: string; data: string } {
  const { run_id, thread_id } = run;
  const { status, thrown } = ending;
  if (thrown === undefined)
    return { event: "end", data: JSON.stringify({ run_id, thread_id, status, usage }) };
  const message = thrownMessage(thrown);
  const refusal = thrown instanceof UnknownInterruptError ? thrown.refusal : {};
  const data = { error: errorName(thrown), message, detail: message, ...refusal, run_id, status, usage };
  return { event: "error", data: JSON.stringify(data) };
}

/** Count a run that has ended here, after `ms`. */
export function countEnd(
  metrics: Metrics,
  { run: { metadata, status, usage }, ...end }: { run: Run; isTaken?: boolean; isGivenBack?: boolean },
  ms: number | undefined,
): void {
  const { input_tokens, output_tokens } = reportedTokens(usage);
  metrics.runEnded({
    graph: String(metadata.graph_id),
    status: end.isGivenBack ? "given_back" : end.isTaken ? "lost" : status,
    seconds: ms === undefined ? undefined : ms / 1000,
    inputTokens: input_tokens,
    outputTokens: output_tokens,
  });
}

// Storing how runs ended.

const PAUSES_MS = [0, 50, 250];

/** How a run ended, as it is to be told. */
export interface RunResult extends Ending {
  usage: TokenUsage;
  /** What the run's row says of it. */
  stored: Pick<Run, "updated_at" | "status" | "error" | "attempt">;
  /** True when the run lost its thread before its end: what becomes of that is not the run's to say. */
  isLost: boolean;
  /** True when another process has the run, or is to have it: how it ends is told there. */
  isTaken: boolean;
  /** True when this process left it to others by itself. */
  isGivenBack?: boolean;
}

/** What a run was when its graph had ended. */
interface EndedRun {
  run: Run;
  ending: Ending;
  usage: TokenUsage;
  holder: RunHolder;
  /** With which it can go on elsewhere, should it not end here. */
  resumption: Resumption | undefined;
  lease: ThreadLease;
  /** Whether the storage has refused a write of it. */
  isTaken: boolean;
  /** Whether its thread was lost. */
  isLost?: boolean;
  /** What is left to do while its thread is held. */
  atEnd: LiveRunOptions["atEnd"];
}

type CutOff = Pick<EndedRun, "ending" | "holder" | "resumption" | "isLost">;

export class RunResults {
  readonly #context: OpsContext;
  /** Outcomes that could not be stored yet, by thread. */
  readonly #deferred = new Map<string, RunOutcome[]>();
  /** Runs that may be stored without anybody who executes them. */
  #unconfirmed: UncertainRuns | undefined;

  constructor(context: OpsContext) {
    this.#context = context;
  }

  /**
   * Store how a run ended, and do what is left to do while its thread is held. A success that a crash could undo, since
   * it cannot be stored, or that came after the thread was lost, is a failure. Never rejects.
   */
  async end(ended: EndedRun): Promise<RunResult> {
    const { ending, lease, atEnd } = ended;
    await lease.confirm?.();
    const isLost = ended.isTaken || (lease.lost?.aborted ?? false);
    const final = isLost ? orFailed(ending, RunAborted.from("lost")) : ending;
    const resumption = ended.isTaken ? undefined : ended.resumption;
    const own = { ...ended, ending: final, resumption, isLost };
    const result = (await this.#giveBack(own)) ?? (await this.#storeOrDefer(own, isLost));
    if (result.isTaken) return { ...result, isLost };
    if (!isLost) await atEnd?.(this.#leftOf({ ...own, ending: result }) !== undefined);
    return { ...result, isLost, isTaken: isLost && (await this.#isTaken(ended)) };
  }

  /** Store the end of a run that could not begin; its thread is another's. Never rejects. */
  async endQueued(run: Run, error: unknown, resumption: Resumption | undefined): Promise<RunResult> {
    const ending = await endingOfQueued(error);
    const usage = { ...NO_TOKENS, source: "callbacks" as const };
    const holder = { owner: this.#context.ownerId, attempt: run.attempt };
    const hasBegun = run.status === "running";
    // Its graph has not been at work: mostly it is the storage that was away.
    const own = { run, holder, usage, ending, resumption, isLost: true };
    const left = await this.#giveBack(own, hasBegun);
    if (left) return { ...left, isLost: false };
    const outcome = withoutThread(outcomeOf(run, ending, { ...own, dead: this.#leftOf(own, hasBegun) }));
    if (!(await this.#store(outcome))) this.#defer(outcome);
    return { ...ending, usage, stored: storedOf(run, outcome), isLost: false, isTaken: false };
  }

  /** A run may have been stored though its storing failed. */
  markUncertain(run: RunKey, isAccepted = false): void {
    (this.#unconfirmed ??= new UncertainRuns(this.#context)).add(run, isAccepted);
  }

  /** This process has the run, and executes it. */
  taken = ({ run_id }: RunKey): void => this.#unconfirmed?.forget(run_id);

  /** Look after a run that may have left its thread busy without anybody who executes it. Never rejects. */
  async reconcile(run: RunKey): Promise<void> {
    this.markUncertain(run, true);
    await this.flushAll();
  }

  /**
   * Store what was kept for a thread, so that an old run's end never overwrites a new run's beginning. The caller holds
   * the thread's lease.
   * @throws StorageUnavailableError (`storage_unavailable`)
   */
  async flush(threadId: string): Promise<void> {
    await this.#flushDeferred(threadId);
    await this.#unconfirmed?.reconcile(threadId);
  }

  /** Store all that was kept, as far as the storage takes it. Never rejects. */
  async flushAll(): Promise<void> {
    try {
      for (const threadId of this.#deferred.keys()) await this.#flushDeferred(threadId);
      await this.#unconfirmed?.reconcileIdle();
    } catch (error) {
      this.#context.logger.error({ err: error }, "ends of runs still cannot be stored");
    }
  }

  /**
   * Whether the run's row says that it is another's; not where it was given back as this attempt, the answer to which
   * may have been lost. Never rejects.
   */
  async #isTaken({ run, holder }: Pick<EndedRun, "run" | "holder">, leftAs?: number): Promise<boolean> {
    const { runs } = this.#context.storage;
    const { run_id, thread_id } = run;
    if (!runs.take) return false;
    const row = await runs.get(thread_id, run_id).catch(() => undefined);
    if (row === undefined || isHeldBy(row, holder)) return false;
    const { owner, attempt } = row;
    if (owner === UNOWNED && attempt === leftAs) return false;
    const fields = { run_id, thread_id, attempt: holder.attempt, taken: { owner, attempt } };
    this.#context.logger.warn(fields, "the run was lost: another process has taken it over");
    return true;
  }

  /** A success that cannot be stored goes on elsewhere where it can: there is nothing left to do but to store it. */
  async #storeOrDefer(ended: EndedRun, isLost: boolean): Promise<Omit<RunResult, "isLost">> {
    const { run, ending, usage, holder } = ended;
    const isTaken = false;
    const outcomeFor = (final: Ending): RunOutcome => {
      const dead = this.#leftOf({ ...ended, ending: final });
      const outcome = outcomeOf(run, final, { usage, holder, dead });
      return isLost ? withoutThread(outcome) : outcome;
    };
    const outcome = outcomeFor(ending);
    if (await this.#store(outcome)) return { ...ending, usage, stored: storedOf(run, outcome), isTaken };
    const message = `the run ended as ${ending.status}, but its end could not be stored`;
    const final = orFailed(ending, new StorageUnavailableError(message));
    const left = await this.#giveBack({ ...ended, ending: final });
    if (left) return left;
    const deferred = outcomeFor(final);
    this.#defer(deferred);
    return { ...final, usage, stored: storedOf(run, deferred), isTaken };
  }

  /** Where the run has not ended here, it is whoever's that takes it; undefined for one that has. */
  async #giveBack(
    ended: Omit<EndedRun, "lease" | "isTaken" | "atEnd">,
    hasBegun = true,
  ): Promise<Omit<RunResult, "isLost"> | undefined> {
    const left = this.#leftOf(ended, hasBegun);
    if (!left || left.isDead) return undefined;
    const { run, holder, usage, ending } = ended;
    const { run_id, thread_id } = run;
    const updated_at = now();
    const patch = { updated_at, owner: UNOWNED, attempt: left.attempt, resumption: left.resumption };
    const outcome = { runId: run_id, holder, run: patch, threadId: thread_id, thread: { updated_at } };
    const isHeld = await this.#ask(outcome, (runs) => runs.update(run_id, patch, holder));
    if (isHeld === undefined) this.#defer(outcome);
    const told = { ...ending, usage, stored: storedOf(run, outcome), isTaken: true };
    if (isHeld === false && (await this.#isTaken({ run, holder }, left.attempt))) return told;
    const reason = thrownMessage(ending.thrown);
    this.#context.logger.info({ run_id, thread_id, reason }, "the run was requeued");
    return { ...told, isGivenBack: true };
  }

  /** Undefined for a run that ends here. */
  #leftOf({ ending, holder, resumption, isLost }: CutOff, hasBegun = true): RunRemainder | undefined {
    if (!resumption) return undefined;
    const { settings, storage } = this.#context;
    const { thrown } = ending;
    const cut = { thrown, attempt: holder.attempt, resumption, isLost, hasBegun };
    const left = remainderOf(cut, settings.max_attempts);
    return left?.isDead && !storage.deadRuns ? undefined : left;
  }

  /** Store an outcome; false when the storage refused it time and again. Never rejects. */
  async #store(outcome: RunOutcome): Promise<boolean> {
    const stored = await this.#ask(outcome, (runs) => runs.settle([outcome]).then(() => true));
    return stored ?? false;
  }

  /** What the storage says to a change of a run; undefined when it failed time and again. Never rejects. */
  async #ask<Answer>(
    { runId: run_id, threadId: thread_id }: RunOutcome,
    change: (runs: RunTable) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    for (const pause of PAUSES_MS) {
      if (pause > 0) await sleep(pause);
      try {
        return await change(this.#context.storage.runs);
      } catch (error) {
        const fields = { err: error, run_id, thread_id };
        this.#context.logger.error(fields, "the end of a run could not be stored");
        // Whatever is no failure of the storage would fail again.
        if (!(error instanceof GraphServeError)) break;
      }
    }
    return undefined;
  }

  /** Keep an outcome for later. */
  #defer(outcome: RunOutcome): void {
    const outcomes = this.#deferred.get(outcome.threadId) ?? [];
    this.#deferred.set(outcome.threadId, [...outcomes, outcome]);
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

/** Loaded when a run fails. */
const faultOf = async (thrown: unknown): Promise<RunFault> =>
  (await import("../graphs/run-fault.js")).runFault(thrown);

/** An outcome that leaves the thread as it is. */
const withoutThread = (outcome: RunOutcome): RunOutcome => ({
  ...outcome,
  thread: { updated_at: outcome.thread.updated_at },
});

function storedOf(run: Run, { run: { updated_at, status = run.status, error = null }, holder }: RunOutcome) {
  return { updated_at, status, error, attempt: holder?.attempt ?? run.attempt };
}

/** An end that was no failure becomes one; a failure is told as it was. */
const orFailed = (ending: Ending, error: Error): Ending =>
  ending.thrown === undefined ? { ...failed(error), tasks: ending.tasks } : ending;

/** Under this key SDK clients look for the error of a run that failed, and throw it. */
const ERROR_KEY = "__error__";

/** What answers a caller who waits for a run that failed. */
export function failedAnswer(thrown: unknown): JsonObject {
  return { [ERROR_KEY]: { error: errorName(thrown), message: thrownMessage(thrown) } };
}
