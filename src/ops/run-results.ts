/**
 * How runs end: what an ending makes of the run's row, its thread, its last frame and its answer
 * (docs/specification.md#states); and storing it, also when the storage is away for a while.
 */
import { INTERRUPT_KEY, type OutputFilter, UNKEYED } from "../graphs/output-filter.js";
import { toWire, yieldedToWire } from "../graphs/serialize.js";
import { thrownMessage } from "../graphs/thrown.js";
import { isRecord, type JsonObject } from "../models/common.js";
import { NO_TOKENS, type Run, type RunStatus, type TokenUsage } from "../models/run.js";
import type { ThreadStatus } from "../models/thread.js";
import type { RunFault } from "../support/run-fault.js";
import type { RunOutcome, ThreadLease } from "../storage/storage.js";
import {
  attempt,
  errorName,
  GraphServeError,
  ShuttingDownError,
  StorageUnavailableError,
} from "../support/errors.js";
import { isFinished, now } from "../storage/rows.js";
import { setTimeout as sleep } from "node:timers/promises";
import type { OpsContext } from "./context.js";
import { statusByState } from "./recovery.js";

export interface Ending {
  status: Extract<RunStatus, "success" | "error" | "timeout" | "interrupted">;
  threadStatus: ThreadStatus;
  /** What was thrown, for statuses `error` and `timeout`. */
  thrown?: unknown;
  /** The same for whoever develops the graph: with the place. */
  fault?: RunFault;
}

export const succeeded: Ending = { status: "success", threadStatus: "idle" };
/** The graph waits for an answer; the setting says how the run is called then. */
export const paused = ({ interrupted_run_status }: OpsContext["settings"]): Ending => ({
  status: interrupted_run_status,
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
  if (!signal.aborted) return failed(error);
  const reason: unknown = signal.reason;
  if (!(reason instanceof RunAborted)) return stopped;
  if (reason.abortCause === "timeout") return timedOut(reason);
  if (reason.abortCause === "shutdown") return cutShort(reason);
  return reason.abortCause === "lost" ? failed(reason) : stopped;
}

/** The ending of a run that could not begin. */
async function endingOfQueued(error: unknown): Promise<Ending> {
  const isShutDown = error instanceof RunAborted && error.abortCause === "shutdown";
  if (isShutDown || error instanceof ShuttingDownError) return cutShort(RunAborted.because("unbegun"));
  return error instanceof RunAborted ? stopped : { ...failed(error), fault: await faultOf(error) };
}

const messageOf = ({ thrown }: Ending): string | null =>
  thrown === undefined ? null : thrownMessage(thrown);

/** What is stored of an ending. */
export function outcomeOf(run: Run, ending: Ending, usage: TokenUsage): RunOutcome {
  const at = now();
  const { status, threadStatus, fault } = ending;
  const error = messageOf(ending);
  const threadError = threadStatus === "error" ? error : null;
  return {
    runId: run.run_id,
    run: { updated_at: at, status, error, usage, ...(fault && { fault }) },
    threadId: run.thread_id,
    thread: { updated_at: at, state_updated_at: at, status: threadStatus, error: threadError },
  };
}

/** The terminal frame: `end`, or `error` for a run that failed or timed out. */
export function lastFrame(run: Run, ending: Ending, usage: TokenUsage): { event: string; data: string } {
  const { run_id, thread_id } = run;
  const { status, thrown } = ending;
  if (thrown === undefined)
    return { event: "end", data: JSON.stringify({ run_id, thread_id, status, usage }) };
  const message = thrownMessage(thrown);
  return {
    event: "error",
    data: JSON.stringify({ error: errorName(thrown), message, detail: message, run_id, status, usage }),
  };
}

const MESSAGES = {
  disconnected: "the client disconnected",
  deleted: "the thread is being deleted",
  shutdown: "the server was shut down during the run",
  unbegun: "the server was shut down before the run began",
  cancelled: "the run was cancelled",
  refused: "what the run yielded could not be stored or sent",
  failed: "an error of the run was handled by nothing",
  lost: "the thread's lock was lost",
};

/** Why a run was stopped from outside; `signal.reason` of its graph. */
export type AbortCause = "timeout" | keyof typeof MESSAGES;

export class RunAborted extends Error {
  readonly abortCause: AbortCause;

  constructor(abortCause: AbortCause, message: string) {
    super(message);
    this.abortCause = abortCause;
    this.name = abortCause === "timeout" ? "TimeoutError" : "AbortError";
  }

  static because(cause: Exclude<AbortCause, "timeout">): RunAborted {
    return new RunAborted(cause, MESSAGES[cause]);
  }

  static timedOut(seconds: number): RunAborted {
    return new RunAborted("timeout", `Run timed out after ${seconds} s`);
  }
}

// The body that answers a caller who waits for a run, or joins it.

/** Under this key SDK clients look for the error of a run that failed, and throw it. */
const ERROR_KEY = "__error__";

/** Turns a value into what clients see of it. */
type Convert = (value: unknown) => unknown;

/**
 * The run's final visible values, with its open interrupts beside them. Always an object: SDK clients search it for the
 * key of an error. Throws what `convert` does.
 */
export function runAnswer(
  visible: unknown,
  interrupts: unknown[] | undefined,
  convert: Convert = toWire,
): JsonObject {
  const values = convert(visible);
  const shown = isRecord(values) ? values : values == null ? {} : { [UNKEYED]: values };
  return interrupts ? { ...shown, [INTERRUPT_KEY]: convert(interrupts) } : shown;
}

/** What a run yielded that its answer is made of. */
interface Yielded {
  lastValues: unknown;
  interrupts: unknown[] | undefined;
}

/** @throws UnserializableError when the run's values cannot be sent (`invalid_request`) */
export function finalAnswer({ lastValues, interrupts }: Yielded, filter: OutputFilter): JsonObject {
  return runAnswer(filter.values(lastValues), interrupts, (value) => yieldedToWire(value, "values"));
}

/** The answer of a run that was stopped: its values as far as they can be read. Never throws. */
export function answerSoFar({ lastValues, interrupts }: Yielded, filter: OutputFilter): JsonObject {
  return attempt(() => runAnswer(filter.values(lastValues), interrupts)) ?? {};
}

/** The answer of a run that failed. */
export function failedAnswer(thrown: unknown): JsonObject {
  return { [ERROR_KEY]: { error: errorName(thrown), message: thrownMessage(thrown) } };
}

// Storing how runs ended.

const PAUSES_MS = [0, 50, 250];

/** How a run ended, as it is to be told. */
export interface RunResult extends Ending {
  usage: TokenUsage;
  /** What the run's row says of it. */
  stored: Pick<Run, "updated_at" | "status" | "error">;
  /** True when the run lost its thread before its end: what becomes of that is not the run's to say. */
  isLost: boolean;
}

export class RunResults {
  readonly #context: OpsContext;
  /** Outcomes that could not be stored yet, by thread. */
  readonly #deferred = new Map<string, RunOutcome[]>();
  /** Runs that may be stored without anybody who executes them. */
  readonly #unconfirmed: UnconfirmedRuns;

  constructor(context: OpsContext) {
    this.#context = context;
    this.#unconfirmed = new UnconfirmedRuns(context);
  }

  /**
   * Store how a run ended, and do what is left to do while its thread is held. A success that a crash could undo, since
   * it cannot be stored, or that came after the thread was lost, is a failure. Never rejects.
   */
  async end(
    run: Run,
    ending: Ending,
    usage: TokenUsage,
    lease: ThreadLease,
    atEnd: (() => Promise<void>) | undefined,
  ): Promise<RunResult> {
    await lease.confirm?.();
    const isLost = lease.lost?.aborted ?? false;
    const final = isLost ? orFailed(ending, RunAborted.because("lost")) : ending;
    const result = await this.#storeOrDefer(run, final, usage, isLost);
    if (!isLost) await atEnd?.();
    return { ...result, isLost };
  }

  /** Store the end of a run that could not begin; its thread is another's. Never rejects. */
  async endQueued(run: Run, error: unknown): Promise<RunResult> {
    const ending = await endingOfQueued(error);
    const usage = { ...NO_TOKENS, source: "callbacks" as const };
    const outcome = withoutThread(outcomeOf(run, ending, usage));
    if (!(await this.#store(outcome))) this.#defer(outcome);
    return { ...ending, usage, stored: storedOf(run, outcome), isLost: false };
  }

  /** A run may have been stored though its storing failed. */
  suspect(run: RunKey): void {
    this.#unconfirmed.add(run);
  }

  /** Look after a run that may have left its thread busy without anybody who executes it. Never rejects. */
  async confirm(run: RunKey): Promise<void> {
    this.#unconfirmed.add(run);
    await this.flushAll();
  }

  /**
   * Store what was kept for a thread, so that an old run's end never overwrites a new run's beginning. The caller holds
   * the thread's lease.
   * @throws StorageUnavailableError (`storage_unavailable`)
   */
  async flush(threadId: string): Promise<void> {
    await this.#flushDeferred(threadId);
    await this.#unconfirmed.settle(threadId);
  }

  /** Store all that was kept, as far as the storage takes it. Never rejects. */
  async flushAll(): Promise<void> {
    try {
      for (const threadId of this.#deferred.keys()) await this.#flushDeferred(threadId);
      await this.#unconfirmed.settleIdle();
    } catch (error) {
      this.#context.logger.error({ err: error }, "ends of runs still cannot be stored");
    }
  }

  async #storeOrDefer(
    run: Run,
    ending: Ending,
    usage: TokenUsage,
    isLost: boolean,
  ): Promise<Omit<RunResult, "isLost">> {
    const outcomeFor = (final: Ending): RunOutcome => {
      const outcome = outcomeOf(run, final, usage);
      return isLost ? withoutThread(outcome) : outcome;
    };
    const outcome = outcomeFor(ending);
    if (await this.#store(outcome)) return { ...ending, usage, stored: storedOf(run, outcome) };
    const message = `the run ended as ${ending.status}, but its end could not be stored`;
    const final = orFailed(ending, new StorageUnavailableError(message));
    const deferred = outcomeFor(final);
    this.#defer(deferred);
    return { ...final, usage, stored: storedOf(run, deferred) };
  }

  /** Store an outcome; false when the storage refused it time and again. Never rejects. */
  async #store(outcome: RunOutcome): Promise<boolean> {
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

const storedOf = (run: Run, { run: { updated_at, status = run.status, error = null } }: RunOutcome) => ({
  updated_at,
  status,
  error,
});

/** An end that was no failure becomes one; a failure is told as it was. */
const orFailed = (ending: Ending, error: Error): Ending =>
  ending.thrown === undefined ? failed(error) : ending;

// Runs that were refused before they began, though the storage may have stored them: nobody executes such a run, and
// its row would keep the thread busy for ever.

/** A statement whose answer was lost may still be carried out for so long. */
const UNCONFIRMED_MS = 120_000;
const REASON = "the storage failed while the run was being stored; it never began";

type RunKey = Pick<Run, "run_id" | "thread_id">;

class UnconfirmedRuns {
  readonly #context: OpsContext;
  /** Since when they are unconfirmed, by `performance.now()`. */
  readonly #runs = new Map<RunKey, number>();

  constructor(context: OpsContext) {
    this.#context = context;
  }

  add({ run_id, thread_id }: RunKey): void {
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
      if (isStored || performance.now() - since > UNCONFIRMED_MS) this.#runs.delete(run);
    }
  }

  /** False when there is no such run. */
  async #settleRun({ run_id, thread_id }: RunKey): Promise<boolean> {
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
