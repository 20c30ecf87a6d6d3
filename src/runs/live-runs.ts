/** The unfinished runs of this process. The server owns them: a response is only a subscriber. */
import { EventEmitter, once, setMaxListeners } from "node:events";
import { INTERRUPT_KEY } from "../graphs/output-filter.js";
import type { RunWatch } from "../graphs/stream/run-watch.js";
import type { JsonObject } from "../models/common.js";
import type { Run, RunTasks } from "../models/run.js";
import type { Interrupt } from "../models/state.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type { Resumption } from "../storage/contract/runs.js";
import { GraphServeError, ShuttingDownError } from "../support/errors.js";
import { withTimeout } from "../support/pause.js";
import { ActiveRuns } from "./active-runs.js";
import type { OpsContext } from "../context/context.js";
import type { Execution } from "./execute.js";
import { type Queue, WaiterGroup } from "./queue.js";
import { FrameBudget } from "../frames/frame-budget.js";
import type { RecoveryContext } from "./run-owners.js";
import { answerFrom } from "../models/interrupt-answer.js";
import { RunLogs } from "../frames/run-logs.js";
import { RunLog, type RunLogOptions } from "../frames/run-log.js";
import type { LiveRunOptions } from "./run-options.js";
import { NextAttempt, RequeuedRuns } from "./requeued-runs.js";
import { executing } from "./state.js";
import { type AbortCause, RunAborted } from "./run-aborted.js";
import { scopeOf } from "../threads/thread-origin.js";
import { failedAnswer, lastFrame } from "./run-ending.js";
import { countEnd, type Departure, hasLeft, type RunResult, RunResults } from "./run-results.js";
import type { RunTrace } from "../tracing/tracing.js";

/** The context of operations, with the live runs that they share. */
export interface EngineContext extends RecoveryContext {
  readonly live: LiveRuns;
  /** Whether runs that cannot end here are requeued for other processes. */
  readonly requeues: boolean;
  readonly queue: Queue<EngineContext, LiveRun>;
}

/** Follows the runs of threads whose events have readers. */
export interface ThreadFollower {
  /** Whether the events of the thread have readers, so that its runs must capture all modes. */
  follows(threadId: string): boolean;
  /** Called when a run is queued or starts. */
  added(live: LiveRun): void;
  /** Called when a thread is deleted. */
  forget(threadId: string): void;
  /** Called on shutdown: no further run starts. */
  stop(): void;
}

interface End {
  answer: JsonObject;
  run: Run;
  /** The error that kept the graph from starting, if no frame reports it. */
  error?: Error;
  became: Departure;
}

/** One run: queued until it holds its thread, then running, then ended. */
export class LiveRun {
  /** The run as it was accepted, with status `pending`. */
  readonly run: Run;
  /** See `scopeOf`. */
  readonly scope: string | null;
  /** This process, with the attempt that it executes, or will execute once the run holds its thread. */
  readonly holder: { owner: string; attempt: number };
  readonly log: RunLog | undefined;
  /** Observes the run; undefined if there is no observer. */
  readonly watch: RunWatch | undefined;
  /** Stored in the run's row, so that another process can resume it after a crash. */
  resumption: Resumption | null;
  /** Set if the run is rolled back. Called when the run has ended and still holds its thread. Must not reject. */
  beforeRelease: (() => Promise<void>) | undefined;
  /** End time in the run's row; undefined until the run has ended. */
  endedAt: string | undefined;
  /** True if the run ended only in this process: a later attempt continues it. */
  hasLeft = false;

  readonly #context: EngineContext;
  readonly #isStateless: boolean;
  readonly #atEnd: LiveRunOptions["atEnd"];
  readonly #ifLost: LiveRunOptions["ifLost"];
  readonly #ifUnbegun: LiveRunOptions["ifUnbegun"];
  /** Time of acceptance, by `performance.now()`. */
  readonly #since: number;
  /** Removes the run from the wait queue of its thread when aborted. */
  #waitAbort: AbortController | undefined;
  #stopReason: RunAborted | undefined;
  /** Time at which the run got its thread, by `performance.now()`. */
  #begunAt: number | undefined;
  /** Set once the run holds its thread. */
  #execution: Execution | undefined;
  /** Set when the run starts, if traces are exported. */
  #trace: RunTrace | undefined;
  #end: End | undefined;
  /** Whether the run was requeued: other attempts follow. */
  #isRequeued = false;
  #next: NextAttempt<LiveRun> | undefined;
  /** Emits `end`. Unlike a promise, it does not retain callers that stop waiting. */
  readonly #events = new EventEmitter().setMaxListeners(0);

  constructor(
    context: EngineContext,
    run: Run,
    since: number,
    { log, stateless, atEnd, ifLost, ifUnbegun }: LiveRunOptions,
    resumption: Resumption | null,
  ) {
    this.#context = context;
    this.scope = scopeOf(context);
    this.resumption = resumption;
    this.run = run;
    this.holder = { owner: context.ownerId, attempt: Math.max(run.attempt, 1) };
    this.#since = since;
    this.log = log;
    this.watch = context.watch?.(run);
    this.#isStateless = stateless !== undefined;
    this.#atEnd = atEnd;
    this.#ifLost = ifLost;
    this.#ifUnbegun = ifUnbegun;
  }

  get state(): "queued" | "running" | "ended" {
    if (this.#end) return "ended";
    return this.#execution ? "running" : "queued";
  }

  /** Set if the run was requeued and this process has taken it up again. */
  get next(): NextAttempt<LiveRun> {
    return (this.#next ??= new NextAttempt());
  }

  /** Whether the run is interrupted when its client disconnects. */
  get isAttended(): boolean {
    return this.#ifLost !== undefined;
  }

  /** True once the run has held its thread, even after it has ended. */
  get hasBegun(): boolean {
    return !!this.#execution;
  }

  /** Registers a stored run that waits for its thread. `waitAbort` stops it before it starts. */
  queue(waitAbort: AbortController): void {
    this.#waitAbort = waitAbort;
    this.#context.live.add(this);
  }

  /**
   * Starts the run on its locked thread. Resolves when the run is in flight: that is stored before `prepared` resolves.
   * Rejects with the error of `prepared`; the thread is unlocked then.
   */
  async begin(lease: ThreadLease, prepared: Promise<Execution>): Promise<void> {
    let execution: Execution;
    try {
      execution = await prepared;
    } catch (error) {
      await lease.release();
      throw error;
    }
    void this.#execute(execution, lease);
  }

  /** Stops the run. Its row, its thread and its stream end like those of any other run. */
  stop(reason: RunAborted): void {
    this.#stopReason ??= reason;
    this.#waitAbort?.abort(reason);
    this.#execution?.abort(reason);
    if (this.#isRequeued) void this.#stopNext();
  }

  /** Ends a queued run that is stored but cannot start. It does not hold its thread. */
  async fail(error: unknown): Promise<void> {
    const { results } = this.#context.live;
    const resumption = this.#requeueable(this.resumption) ?? this.#resumableIfLost();
    const result = await results.endQueued(this.run, error, resumption);
    // On a shutdown, the row has a different error.
    const { thrown = error, stored, became } = result;
    const end = { answer: failedAnswer(thrown), run: { ...this.run, ...stored }, became };
    if (became === "requeued") await this.#expectNext();
    if (!hasLeft(became)) await this.#ifUnbegun?.();
    // Finishes first, so that the log of a run that continues in another process is not kept as complete.
    if (hasLeft(became)) this.#finish(end);
    else this.log?.push(...lastFrame(this.run, result));
    this.log?.close();
    // An earlier run, or the failed start of this one, may have left the thread busy.
    await results.reconcile(this.run);
    this.#finish(end);
  }

  /** Start and end times of the tasks so far; undefined before the graph is called. */
  tasks(): RunTasks | undefined {
    return this.#execution?.tasks();
  }

  /** The run as it ended. Rejects if the storage failed before the graph started and no frame reports it. */
  async ended(): Promise<Run> {
    const { run, error } = await this.#whenEnded();
    if (error !== undefined) throw error;
    return run;
  }

  /**
   * The answer of the run once it has ended, regardless of how. Rejects with an AbortError when `signal` aborts; an
   * aborted wait is not retained, however long the run continues.
   */
  async answer(signal?: AbortSignal): Promise<JsonObject> {
    return (await this.#whenEnded(signal)).answer;
  }

  onEnd(listener: () => void): void {
    this.#events.once("end", listener);
  }

  async #whenEnded(signal?: AbortSignal): Promise<End> {
    if (!this.#end && signal) await once(this.#events, "end", { signal });
    else if (!this.#end) await new Promise<void>((resolve) => this.#events.once("end", resolve));
    return this.#end as End;
  }

  /** Executes the run and publishes its end: by then the row is settled and the thread is free. Never rejects. */
  async #execute(execution: Execution, lease: ThreadLease): Promise<void> {
    try {
      const result = await this.#hold(execution, lease);
      const { thrown, stored, usage, became } = result;
      const isEnd = !hasLeft(became);
      const isUnreported = isEnd && !execution.hasStarted && !this.log;
      if (isEnd) this.log?.push(...lastFrame(this.run, result));
      // If no process holds the thread, its status is corrected once it can be locked.
      if (result.isLost) void this.#context.live.results.reconcile(this.run);
      this.#finish({
        answer: thrown === undefined ? execution.answer : failedAnswer(thrown),
        run: { ...this.run, ...stored, usage },
        became,
        ...(isUnreported && thrown instanceof GraphServeError && { error: thrown }),
      });
      // After other failures of the storage, the next attempt waits for the poll of requeued runs.
      if (became === "requeued" && result.isLost) this.#takeUp();
    } catch (error) {
      const run = { ...this.run, status: "error" as const };
      this.#finish({ answer: failedAnswer(error), run, error: error as Error, became: "ended" });
    }
  }

  /** Holds the thread until the end of the run is stored. */
  async #hold(execution: Execution, lease: ThreadLease): Promise<RunResult> {
    try {
      this.#execution = execution;
      this.#begunAt = performance.now();
      const { run } = this;
      const { live, metrics, tracing, trace: parent, caller, settings } = this.#context;
      live.add(this);
      const isQueued = settings.queue !== "none";
      const trace = tracing?.begin(run, this.holder.attempt, parent, isQueued, caller?.user.identity);
      this.#trace = trace;
      metrics?.runStarted((this.#begunAt - this.#since) / 1000);
      this.watch?.begin(this.#isStateless);
      if (live.takeovers.has(run.thread_id)) this.#stopReason ??= RunAborted.from("cancelled");
      // The run may also have been stopped after its thread became free.
      if (this.#stopReason) execution.abort(this.#stopReason);
      const ended = await (trace ? trace.within(() => execution.run()) : execution.run());
      // If another process has marked the run as rolled back, and this one does not know it yet, no end is stored.
      const holder = this.beforeRelease ? this.holder : executing(this.holder);
      const ifLost = () => this.#resumableIfLost();
      const resumption = this.resumption ? this.#requeueable(this.resumption) : undefined;
      const own = { run, holder, resumption, ifLost, atEnd: this.#atEnd, lease };
      const isRolledBack = this.beforeRelease !== undefined;
      const result = await live.results.end({ ...own, ...ended, isRolledBack });
      if (result.became === "requeued") await this.#expectNext();
      if (this.beforeRelease && result.became === "ended" && !result.isLost) await this.beforeRelease();
      return result;
    } finally {
      await lease.release();
    }
  }

  /** For a run whose client waits and whose thread lock was lost. During a shutdown, its client leaves too. */
  #resumableIfLost(): Resumption | undefined {
    return this.#context.live.stopping.aborted ? undefined : this.#requeueable(this.#ifLost?.());
  }

  /** What another process needs to resume the run. Undefined if the run ends with its client or this process. */
  #requeueable(resumption: Resumption | null | undefined): Resumption | undefined {
    if (!this.#context.requeues || !resumption?.unattended || !resumption.isWhole) return undefined;
    const spent = this.#begunAt === undefined ? 0 : performance.now() - this.#begunAt;
    const spent_ms = resumption.spent_ms + Math.round(spent);
    const answers = this.resumption?.answers;
    return {
      ...resumption,
      spent_ms,
      ...(answers && { answers }),
      ...(this.beforeRelease && { rollback: true as const }),
    };
  }

  /** The run was requeued. A stop that came too late for this attempt applies to the next one. */
  async #expectNext(): Promise<void> {
    this.#isRequeued = true;
    this.#context.live.requeued.add(this);
    if (this.#stopReason) await this.#stopNext();
  }

  /** Never rejects. */
  async #stopNext(): Promise<void> {
    const { run_id } = this.run;
    if (this.#stopReason?.abortCause === "shutdown") return;
    await this.#context.storage.runs
      .requestCancel(run_id)
      .catch((error: unknown) =>
        this.#context.logger.error({ err: error, run_id }, "a requeued run could not be cancelled"),
      );
  }

  /** Lets a requeued run continue at once, here or in another process. */
  #takeUp(): void {
    const { live, queue, logger } = this.#context;
    const { run_id, thread_id } = this.run;
    if (live.stopping.aborted) return;
    queue
      .takeUp(thread_id)
      .catch((error: unknown) =>
        logger.warn({ err: error, run_id }, "a requeued run could not be resumed yet"),
      );
  }

  #finish(end: End): void {
    if (this.#end) return;
    this.#end = end;
    this.endedAt = end.run.updated_at;
    this.hasLeft = hasLeft(end.became);
    this.log?.close();
    this.#events.emit("end");
    this.#trace?.end({ run: end.run, answer: end.answer, tasks: this.tasks() });
    const ms = this.#begunAt === undefined ? undefined : performance.now() - this.#begunAt;
    if (this.#context.metrics)
      countEnd(this.#context.metrics, { ...end, models: this.#execution?.models() }, ms);
    if (ms !== undefined) {
      const interrupts = (end.answer[INTERRUPT_KEY] ?? []) as Interrupt[];
      this.watch?.end({ run: end.run, ms, interrupts });
    }
  }
}

/** All live runs, the logs of recently ended ones, and the outcomes that are not stored yet. */
export class LiveRuns {
  /** Set once the events of a thread are requested. */
  follower: ThreadFollower | undefined;
  /** Error of the last heartbeat; undefined if the heartbeat was stored. */
  writeFault: GraphServeError | undefined;
  readonly active: ActiveRuns;
  /** Memory limit for the logs of all runs and threads together. */
  readonly budget: FrameBudget;
  readonly requeued = new RequeuedRuns<LiveRun>();
  readonly results: RunResults;
  /** Logs of ended runs. */
  readonly logs = new RunLogs();
  /** Callers that wait for runs of other processes. */
  readonly callers = new WaiterGroup();

  readonly #context: OpsContext;
  /** By run id. At most one run of a thread is running. */
  readonly #runs = new Map<string, LiveRun>();
  readonly #stopping = new AbortController();
  /** Aborts when the process stops accepting runs. */
  readonly stopping: AbortSignal = this.#stopping.signal;
  /** Threads that callers wait to take over, with the number of these callers. */
  readonly takeovers = new Map<string, number>();

  constructor(context: OpsContext) {
    this.#context = context;
    this.results = new RunResults(context);
    // Every caller that waits for a thread adds a listener.
    setMaxListeners(0, this.stopping);
    const { logger, settings } = context;
    const { max_kept_frame_bytes, max_active_runs } = settings;
    this.active = new ActiveRuns(max_active_runs);
    this.budget = new FrameBudget(max_kept_frame_bytes, (readers) =>
      logger.warn(
        { readers, max_kept_frame_bytes },
        "frames were dropped before slow clients had read them: those clients get a gap",
      ),
    );
  }

  /** Accepts no more runs. Waiting callers are rejected. */
  stopAccepting(): void {
    this.#stopping.abort(new ShuttingDownError());
  }

  /** Makes a run visible to other callers until it has ended. */
  add(live: LiveRun): void {
    const { run, log, scope } = live;
    const { run_id, thread_id, created_at, metadata } = run;
    if (this.#runs.get(run_id) === live) return;
    this.#runs.set(run_id, live);
    this.requeued.taken(live);
    this.active.count(scope, 1);
    this.follower?.added(live);
    this.#context.frames?.publish(live);
    live.onEnd(() => {
      this.active.count(scope, -1);
      if (this.#runs.get(run_id) === live) this.#runs.delete(run_id);
      if (!log || live.hasLeft) return;
      const { endedAt: updated_at = run.updated_at } = live;
      const labels = { graph_id: String(metadata.graph_id), answers: answerFrom(run) };
      this.logs.keep({ run_id, thread_id, created_at, updated_at, ...labels }, log);
    });
  }

  /** A log for a run of the thread. It counts towards the memory limit. */
  newLog(
    threadId: string,
    { isWide = this.follower?.follows(threadId), ...options }: Omit<RunLogOptions, "budget"> = {},
  ): RunLog {
    return new RunLog({ ...options, isWide, budget: this.budget });
  }

  /** A log for a run that is not streamed. Undefined if the events of the thread have no readers. */
  followersLog(threadId: string): RunLog | undefined {
    return this.follower?.follows(threadId) ? this.newLog(threadId, { isWide: true }) : undefined;
  }

  /** Number of unfinished runs. */
  get size(): number {
    return this.#runs.size;
  }

  /** The unfinished runs of a thread, in the order in which they arrived. */
  ofThread(threadId: string): LiveRun[] {
    return [...this.#runs.values()].filter(({ run }) => run.thread_id === threadId);
  }

  /** The run with this id, if it is queued or running here. */
  find(runId: string): LiveRun | undefined {
    return this.#runs.get(runId);
  }

  /** The log of a run, including a recently ended one. */
  logOf(runId: string): RunLog | undefined {
    return this.find(runId)?.log ?? this.logs.get(runId);
  }

  /** Stops every run of the thread until `wait` has resolved. */
  async takeOver<T>(threadId: string, wait: () => Promise<T>): Promise<T> {
    const others = this.takeovers.get(threadId) ?? 0;
    this.takeovers.set(threadId, others + 1);
    this.abort(threadId, "cancelled");
    try {
      return await wait();
    } finally {
      const remaining = (this.takeovers.get(threadId) ?? 1) - 1;
      if (remaining > 0) this.takeovers.set(threadId, remaining);
      else this.takeovers.delete(threadId);
    }
  }

  /** Stops the run that holds the thread, if there is one. */
  abort(threadId: string, cause: Exclude<AbortCause, "timeout">): void {
    for (const live of this.#runs.values()) {
      if (live.run.thread_id === threadId && live.state === "running") live.stop(RunAborted.from(cause));
    }
  }

  /** Forgets the frames of a deleted thread, and ends the streams of its events. */
  forgetThread(threadId: string): void {
    this.logs.forgetThread(threadId);
    this.follower?.forget(threadId);
  }

  /** Waits for all runs, at most `graceSeconds`, then stops the remaining ones: they end or are requeued. */
  async stop(graceSeconds: number): Promise<void> {
    const ended = () => Promise.all([...this.#runs.values()].map((live) => live.answer()));
    if (this.#runs.size > 0) await withTimeout(graceSeconds * 1000, ended());
    for (const live of this.#runs.values()) live.stop(RunAborted.from("shutdown"));
    await ended();
    this.follower?.stop();
    await this.results.flushAll();
  }
}
