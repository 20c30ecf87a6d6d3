/** The runs of this process that have not ended. The server owns them: a response is only a subscriber. */
import { EventEmitter, once, setMaxListeners } from "node:events";
import { INTERRUPT_KEY } from "../graphs/output-filter.js";
import type { RunWatch } from "../graphs/stream/run-watch.js";
import type { JsonObject } from "../models/common.js";
import type { Run, RunTasks } from "../models/run.js";
import type { Interrupt } from "../models/state.js";
import type { Resumption, RunHolder, ThreadLease } from "../storage/contract/storage.js";
import { GraphServeError, ShuttingDownError } from "../support/errors.js";
import { withTimeout } from "../support/pause.js";
import { ActiveRuns } from "./active-runs.js";
import type { OpsContext } from "../context/context.js";
import type { Execution } from "./execute.js";
import type { Queue } from "./queue.js";
import { FrameBudget } from "../frames/frame-budget.js";
import type { RecoverOptions } from "./run-owners.js";
import { answerFrom, RunLog, type RunLogOptions, RunLogs, type Stateless } from "../frames/run-log.js";
import type { LiveRunOptions, QueueOptions } from "./run-options.js";
import { type AbortCause, RunAborted } from "./run-aborted.js";
import { scopeOf } from "../threads/thread-origin.js";
import { countEnd, failedAnswer, lastFrame, type RunResult, RunResults } from "./run-results.js";

/** What the operations work with, and the live runs that they share. */
export interface EngineContext extends OpsContext {
  readonly live: LiveRuns;
  /** See to the runs of dead processes. @throws StorageUnavailableError (`storage_unavailable`) */
  readonly recover: (options?: RecoverOptions) => Promise<void>;
  /** Whether runs that cannot end here are left for others to go on with. */
  readonly givesBack: boolean;
  /** Shares runs out among processes; undefined while each executes what it accepts. */
  readonly queue?: Queue<EngineContext, LiveRun, QueueOptions>;
}

/** Hears of the runs of threads whose events somebody reads. */
export interface ThreadFollower {
  /** Whether somebody reads the events of the thread, so that its runs are collected for that. */
  follows(threadId: string): boolean;
  /** A run is queued, or begins. */
  added(live: LiveRun): void;
  /** The thread is gone. */
  forget(threadId: string): void;
  /** No run comes any more. */
  stop(): void;
}

interface End {
  answer: JsonObject;
  run: Run;
  /** What kept its graph from beginning, where no frame tells it. */
  error?: Error;
  /** Another process has the run: this is not how it ends. */
  isTaken?: boolean;
  /** This one left it to others by itself. */
  isGivenBack?: boolean;
}

/** One run: queued until it has its thread, then running, then ended. */
export class LiveRun {
  /** The run as it was accepted: `pending`. */
  readonly run: Run;
  readonly log: RunLog | undefined;
  /** Hears what the run does; undefined when nobody watches. */
  readonly watch: RunWatch | undefined;
  /** What the run's row keeps in case this process dies. */
  readonly resumption: Resumption | null;

  readonly #context: EngineContext;
  readonly #isStateless: boolean;
  readonly #atEnd: LiveRunOptions["atEnd"];
  /** When it was accepted, by `performance.now()`. */
  readonly #since: number;
  /** Aborted, it gives up the run's place in the queue of its thread. */
  #place: AbortController | undefined;
  #stopStored: RunAborted | undefined;
  /** When it had its thread, by `performance.now()`. */
  #begunAt: number | undefined;
  /** Set once the run has its thread. */
  #execution: Execution | undefined;
  #end: End | undefined;
  /** Emits `end`: unlike a promise, it keeps nothing of those who wait and leave. */
  readonly #events = new EventEmitter().setMaxListeners(0);

  constructor(
    context: EngineContext,
    run: Run,
    since: number,
    { log, stateless, atEnd }: LiveRunOptions,
    resumption: Resumption | null,
  ) {
    this.#context = context;
    this.resumption = resumption;
    this.run = run;
    this.#since = since;
    this.log = log;
    this.watch = context.watch?.(run);
    this.#isStateless = stateless !== undefined;
    this.#atEnd = atEnd;
  }

  /** See `scopeOf`. */
  get scope(): string | null {
    return scopeOf(this.#context);
  }

  get state(): "queued" | "running" | "ended" {
    if (this.#end) return "ended";
    return this.#execution ? "running" : "queued";
  }

  /** This process, at the attempt that it executes, or will when the run has its thread. */
  get holder(): RunHolder {
    return { owner: this.#context.ownerId, attempt: Math.max(this.run.attempt, 1) };
  }

  /** True when the run has ended here alone: another process goes on with it. */
  get isTaken(): boolean {
    return this.#end?.isTaken ?? false;
  }

  /** True once the run has had its thread, also when it has ended since. */
  get hasBegun(): boolean {
    return !!this.#execution;
  }

  /** The run is stored while others hold its thread. Who stops it before it begins aborts `place`. */
  queue(place: AbortController): void {
    this.#place = place;
    this.#context.live.add(this);
  }

  /**
   * Take the thread. Resolves when the run is in flight: `prepare` has stored that, and says what to execute.
   * Rejects with what `prepare` throws; the thread is free then.
   */
  begin(lease: ThreadLease, prepare: () => Promise<Execution>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#hold(lease, prepare, resolve)
        .then((result) => this.#tell(result))
        .catch((error: Error) => {
          const run = { ...this.run, status: "error" as const };
          if (this.hasBegun) this.#finish({ answer: failedAnswer(error), run, error });
          reject(error);
        });
    });
  }

  /** When the run ended, as its row has it; undefined until then. */
  get endedAt(): string | undefined {
    return this.#end?.run.updated_at;
  }

  /** Stop the run. Its row, its thread and its stream end as after every other run. */
  stop(reason: RunAborted): void {
    this.#stopStored ??= reason;
    this.#place?.abort(reason);
    this.#execution?.abort(reason);
  }

  /** The queued run cannot begin, though its row is stored; its thread is another's. */
  async fail(error: unknown): Promise<void> {
    const { results } = this.#context.live;
    const result = await results.endQueued(this.run, error, this.#resumable());
    // Not always what kept it: in a shutdown its row says that instead.
    const { thrown = error, stored, isTaken, isGivenBack } = result;
    const end = { answer: failedAnswer(thrown), run: { ...this.run, ...stored }, isTaken, isGivenBack };
    // Its log, which ends with this, must not look like all of it.
    if (isTaken) this.#finish(end);
    else this.#pushLast(result);
    this.log?.close();
    // The run before it, or its own start, may have left the thread busy.
    await results.reconcile(this.run);
    this.#finish(end);
  }

  /** When what has run in it so far began and ended; undefined before its graph is called. */
  tasks(): RunTasks | undefined {
    return this.#execution?.tasks();
  }

  /** The run as it ended. Rejects when the storage failed before the graph began and no frame tells it. */
  async ended(): Promise<Run> {
    const { run, error } = await this.#whenEnded();
    if (error !== undefined) throw error;
    return run;
  }

  /**
   * What the run answers once it has ended, however it ended. Rejects with an AbortError when `signal` aborts; nothing
   * of the waiting stays behind then, however long the run still takes.
   */
  async answer(signal?: AbortSignal): Promise<JsonObject> {
    return (await this.#whenEnded(signal)).answer;
  }

  /** Called when the run ends. */
  onEnd(listener: () => void): void {
    this.#events.once("end", listener);
  }

  async #whenEnded(signal?: AbortSignal): Promise<End> {
    if (!this.#end) await once(this.#events, "end", { signal });
    return this.#end as End;
  }

  /** Holds the thread until the run's end is stored. The lease is released here and nowhere else. */
  async #hold(lease: ThreadLease, prepare: () => Promise<Execution>, begun: () => void): Promise<RunResult> {
    try {
      const execution = await prepare();
      this.#start(execution);
      begun();
      const ending = { ...(await execution.run()), tasks: execution.tasks() };
      const { run, holder } = this;
      const own = { run, holder, resumption: this.#resumable(), atEnd: this.#atEnd, lease };
      const ended = { ending, usage: execution.tokens(), isTaken: execution.isTaken };
      return await this.#context.live.results.end({ ...own, ...ended });
    } finally {
      await lease.release();
    }
  }

  /** What another process needs to go on with it; undefined when it ends with this one. */
  #resumable(): Resumption | undefined {
    const { resumption } = this;
    if (!this.#context.givesBack || !resumption?.unattended || !resumption.isWhole) return undefined;
    const spent = this.#begunAt === undefined ? 0 : performance.now() - this.#begunAt;
    return { ...resumption, spent_ms: resumption.spent_ms + Math.round(spent) };
  }

  #start(execution: Execution): void {
    this.#execution = execution;
    this.#context.live.add(this);
    this.#begunAt = performance.now();
    this.#context.metrics?.runStarted((this.#begunAt - this.#since) / 1000);
    this.watch?.begin(this.#isStateless);
    if (this.#context.live.isTakenOver(this.run.thread_id)) this.#stopStored ??= RunAborted.from("cancelled");
    // It may also have been stopped between its thread's becoming free and now.
    if (this.#stopStored) execution.abort(this.#stopStored);
  }

  /** Who has seen the last frame finds the row settled and the thread free. */
  #tell(result: RunResult): void {
    const { thrown, stored, usage, isTaken, isGivenBack } = result;
    const hasStarted = this.#execution?.hasStarted;
    if (!isTaken) this.#pushLast(result);
    // Should nobody have the thread, it is set right as soon as it can be had again.
    if (result.isLost) void this.#context.live.results.reconcile(this.run);
    this.#finish({
      answer: thrown === undefined ? (this.#execution?.answer ?? {}) : failedAnswer(thrown),
      run: { ...this.run, ...stored, usage },
      isTaken,
      isGivenBack,
      ...(!hasStarted && !this.log && thrown instanceof GraphServeError && { error: thrown }),
    });
  }

  #pushLast(result: RunResult): void {
    const { event, data } = lastFrame(this.run, result, result.usage);
    this.log?.push(event, data);
  }

  #finish(end: End): void {
    if (this.#end) return;
    this.#end = end;
    this.log?.close();
    this.#events.emit("end");
    const ms = this.#begunAt === undefined ? undefined : performance.now() - this.#begunAt;
    if (this.#context.metrics) countEnd(this.#context.metrics, end, ms);
    if (ms !== undefined) {
      const interrupts = (end.answer[INTERRUPT_KEY] ?? []) as Interrupt[];
      this.watch?.end({ run: end.run, ms, interrupts });
    }
  }
}

/** All of them, the logs of those that ended lately, and the results that are still to be stored. */
export class LiveRuns {
  /** Set once somebody asks for the events of a thread. */
  follower: ThreadFollower | undefined;
  /** Why the last heartbeat could not be stored; undefined if it was. */
  writeFault: GraphServeError | undefined;
  /** How many there may be. */
  readonly active: ActiveRuns;
  /** Limits what the logs of all runs and threads keep together. */
  readonly budget: FrameBudget;

  #results: RunResults | undefined;
  #logs: RunLogs | undefined;
  readonly #context: OpsContext;
  /** By run id. At most one of a thread is running. */
  readonly #runs = new Map<string, LiveRun>();
  readonly #stopping = new AbortController();
  /** Threads that callers wait for to take them over, with how many do. */
  readonly #takeovers = new Map<string, number>();

  constructor(context: OpsContext) {
    this.#context = context;
    // Every caller that waits for a thread listens.
    setMaxListeners(0, this.#stopping.signal);
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

  get results(): RunResults {
    return (this.#results ??= new RunResults(this.#context));
  }

  /** Logs of ended runs. */
  get logs(): RunLogs {
    return (this.#logs ??= new RunLogs());
  }

  /** Accept no more runs; callers that wait are turned away. */
  stopAccepting(): void {
    this.#stopping.abort(new ShuttingDownError());
  }

  /** Aborts when no more runs are accepted. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Let others find a run until it has ended. */
  add(live: LiveRun): void {
    const { run, log } = live;
    if (this.find(run.run_id) === live) return;
    this.#runs.set(run.run_id, live);
    live.onEnd(this.active.enter(live.scope));
    this.follower?.added(live);
    this.#context.frames?.publish(live);
    live.onEnd(() => {
      if (this.find(run.run_id) === live) this.#runs.delete(run.run_id);
      if (log && !live.isTaken) this.#keep(live, log);
    });
  }

  #keep({ run, endedAt = run.updated_at }: LiveRun, log: RunLog): void {
    const { run_id, thread_id, created_at, metadata } = run;
    const facts = { graph_id: String(metadata.graph_id), answers: answerFrom(run) };
    this.logs.keep({ run_id, thread_id, created_at, updated_at: endedAt, ...facts }, log);
  }

  /** A log for a run of the thread that is about to start. */
  newLog(threadId: string, stateless?: Stateless, attempt?: number): RunLog {
    return this.logWith({ stateless, isWide: this.follower?.follows(threadId), attempt });
  }

  /** A log whose frames count for the budget. */
  logWith(options: RunLogOptions): RunLog {
    return new RunLog({ ...options, budget: this.budget });
  }

  /** The same for a run that nobody streams: undefined where nobody reads the thread's events either. */
  followersLog(threadId: string): RunLog | undefined {
    return this.follower?.follows(threadId) ? this.logWith({ isWide: true }) : undefined;
  }

  /** The runs of a thread that have not ended, in the order in which they came. */
  ofThread(threadId: string): LiveRun[] {
    return [...this.#runs.values()].filter(({ run }) => run.thread_id === threadId);
  }

  /** The run with this id, while it is queued or running here. */
  find(runId: string): LiveRun | undefined {
    return this.#runs.get(runId);
  }

  /** Frames of a run, also of one that ended lately. */
  logOf(runId: string): RunLog | undefined {
    return this.find(runId)?.log ?? this.logs.get(runId);
  }

  /** Stop the runs that other processes ask this one to stop. */
  async watchCancels(): Promise<void> {
    if (this.#runs.size === 0) return;
    const { storage, ownerId } = this.#context;
    for (const runId of await storage.runs.cancelRequests(ownerId)) {
      this.find(runId)?.stop(RunAborted.from("cancelled"));
    }
  }

  /** Until `wait` has the thread, whatever runs on it is stopped. */
  async takeOver<T>(threadId: string, wait: () => Promise<T>): Promise<T> {
    const others = this.#takeovers.get(threadId) ?? 0;
    this.#takeovers.set(threadId, others + 1);
    this.abort(threadId, "cancelled");
    try {
      return await wait();
    } finally {
      const left = (this.#takeovers.get(threadId) ?? 1) - 1;
      if (left > 0) this.#takeovers.set(threadId, left);
      else this.#takeovers.delete(threadId);
    }
  }

  isTakenOver(threadId: string): boolean {
    return this.#takeovers.has(threadId);
  }

  /** Stop the run that has the thread, where there is one. */
  abort(threadId: string, cause: Exclude<AbortCause, "timeout">): void {
    for (const live of this.#runs.values()) {
      if (live.run.thread_id === threadId && live.state === "running") live.stop(RunAborted.from(cause));
    }
  }

  /** Wait for all runs, at most `graceSeconds`, then stop those that are left: they end, or are given back. */
  async stop(graceSeconds: number): Promise<void> {
    const ended = () => Promise.all([...this.#runs.values()].map((live) => live.answer()));
    if (this.#runs.size > 0) await withTimeout(graceSeconds * 1000, ended());
    for (const live of this.#runs.values()) live.stop(RunAborted.from("shutdown"));
    await ended();
    this.follower?.stop();
    await this.#results?.flushAll();
  }
}
