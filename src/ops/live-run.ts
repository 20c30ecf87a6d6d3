/** A run in flight: a task the server owns. The response is only its subscriber. */
import { EventEmitter, once } from "node:events";
import type { BoundGraph } from "../graphs/registry.js";
import { StreamFrames } from "../graphs/stream-frames.js";
import { ModelCallbacks, RunUsage } from "../graphs/usage.js";
import type { JsonObject } from "../models/common.js";
import type { Origin } from "./run-checkpointer.js";
import { reportedTokens, type Run, type StreamMode } from "../models/run.js";
import { RunContext, withinRun } from "../support/run-context.js";
import type { ThreadLease } from "../storage/storage.js";
import { GraphServeError } from "../support/errors.js";
import { nextTurn } from "../support/event-loop.js";
import type { Metrics } from "../support/metrics.js";
import { now } from "../storage/rows.js";
import type { OpsContext } from "./context.js";
import { execute, type Execution } from "./execute.js";
import {
  answerSoFar,
  type Ending,
  endingOf,
  failed,
  failedAnswer,
  finalAnswer,
  lastFrame,
  paused,
  RunAborted,
  type Settlements,
  succeeded,
} from "./run-results.js";
import type { RunLog } from "./run-log.js";
import type { Invocation } from "./run-request.js";

/** How long a graph may take to heed its abort signal; then it is left behind, its later writes refused. */
const ABORT_GRACE_MS = 2000;

export type AtEnd = () => Promise<void>;

/** A run whose lock is held and whose row is stored. */
export interface AcceptedRun {
  run: Run;
  lease: ThreadLease;
  bound: BoundGraph;
  origin: Origin;
  invocation: Invocation;
  /** Ids and other values that the graph's config carries. */
  configurable: Record<string, unknown>;
  /** Takes the run's frames; left out for runs that nobody streams. */
  log?: RunLog;
  /** Done when the run has ended, before anybody hears of it, while its thread is still held. Never rejects. */
  atEnd?: AtEnd;
}

export class RunTask {
  /** The run as it ended. Rejects only when the storage failed before the graph began. */
  readonly done: Promise<Run>;

  readonly #context: OpsContext;
  readonly #settlements: Settlements;
  readonly #accepted: AcceptedRun;
  readonly #controller = new AbortController();
  readonly #usage = new RunUsage();
  readonly #frames: StreamFrames;
  #abandon: (reason: Error) => void = () => undefined;
  #abandonTimer: NodeJS.Timeout | undefined;
  #thrown: unknown;
  readonly #runContext: RunContext;
  /** What failed beside the graph's own course: what it yielded was refused, or nothing handled an error. */
  #fault: { error: unknown } | undefined;
  #answer: JsonObject | undefined;

  constructor(context: OpsContext, settlements: Settlements, accepted: AcceptedRun) {
    this.#context = context;
    this.#settlements = settlements;
    this.#accepted = accepted;
    const { allow_unfiltered_events, allow_unfiltered_messages } = context.settings;
    this.#frames = new StreamFrames(
      {
        modes: this.#modes,
        subgraphs: accepted.invocation.subgraphs,
        filter: accepted.bound.filter,
        unfilteredEvents: allow_unfiltered_events,
        unfilteredMessages: allow_unfiltered_messages,
      },
      (event, data) => accepted.log?.push(event, data),
    );
    const { run_id, thread_id, metadata } = accepted.run;
    const ids = { run_id, thread_id, graph_id: String(metadata.graph_id) };
    this.#runContext = new RunContext(ids, (error) => this.#failFrom("failed", error));
    const { lost } = accepted.lease;
    if (lost?.aborted) this.#loseThread();
    lost?.addEventListener("abort", () => this.#loseThread(), { once: true });
    this.done = this.#run();
  }

  get run(): Run {
    return this.#accepted.run;
  }

  get log(): RunLog | undefined {
    return this.#accepted.log;
  }

  /** What a caller who waits is answered; complete once `done` has settled. */
  get answer(): JsonObject {
    return this.#thrown === undefined ? (this.#answer ?? {}) : failedAnswer(this.#thrown);
  }

  /** Stop the graph. The run's row, lock and stream are settled as for every other end. */
  abort(reason: RunAborted): void {
    if (this.#controller.signal.aborted) return;
    this.#controller.abort(reason);
    this.#abandonTimer = setTimeout(() => this.#abandon(reason), ABORT_GRACE_MS);
  }

  /** Another process may hold the thread by now: what this run still writes must not count. */
  #loseThread(): void {
    this.#context.storage.checkpointer.fence(this.run.run_id);
    this.abort(RunAborted.because("lost"));
  }

  get #modes(): readonly StreamMode[] {
    return this.#accepted.log ? this.#accepted.invocation.modes : [];
  }

  async #run(): Promise<Run> {
    const { run, lease, log } = this.#accepted;
    const { run_id, thread_id } = run;
    let started = false;
    let ending: Ending;
    try {
      log?.push("metadata", JSON.stringify({ run_id, thread_id, attempt: 1 }));
      // The response's head and first frame leave before a graph that never waits takes the event loop.
      if (log) await nextTurn();
      await this.#context.storage.runs.update(run_id, { updated_at: now(), status: "running" });
      started = true;
      ending = await this.#execute();
    } catch (error) {
      ending = this.#fault ? failed(this.#fault.error) : endingOf(error, this.#controller.signal);
      if (ending.thrown === undefined) this.#answer = answerSoFar(this.#frames, this.#accepted.bound.filter);
      this.#report(ending);
    }
    try {
      const settled = await this.#settle(ending);
      if (!started && ending.thrown instanceof GraphServeError && !log) throw ending.thrown;
      return settled;
    } finally {
      clearTimeout(this.#abandonTimer);
      await lease.release();
      log?.close();
    }
  }

  /** Resolves with how the graph ended; rejects with what it threw or why it was stopped. */
  async #execute(): Promise<Ending> {
    const { signal } = this.#controller;
    signal.throwIfAborted();
    const seconds = this.#context.settings.run_timeout_seconds;
    const timer =
      seconds === undefined
        ? undefined
        : setTimeout(() => this.abort(RunAborted.timedOut(seconds)), Math.min(seconds * 1000, 2 ** 31 - 1));
    const abandoned = new Promise<never>((_, reject) => (this.#abandon = reject));
    try {
      const execution = this.#watched(withinRun(this.#runContext, () => execute(this.#execution())));
      await Promise.race([execution, abandoned.catch((reason: Error) => this.#leaveBehind(reason))]);
      if (this.#fault) throw this.#fault.error;
      this.#answer = finalAnswer(this.#frames, this.#accepted.bound.filter);
      return this.#frames.interrupts ? paused : succeeded;
    } finally {
      clearTimeout(timer);
      this.#runContext.end();
    }
  }

  /** The graph did not heed its signal: it may go on computing, but nothing that it writes counts any more. */
  #leaveBehind(reason: Error): never {
    this.#context.storage.checkpointer.fence(this.run.run_id);
    throw reason;
  }

  /** For as long as the graph may still write, hear of writes that fail. */
  async #watched(execution: Promise<void>): Promise<void> {
    const { checkpointer, storage } = this.#context;
    const { run_id } = this.run;
    const { lease, origin } = this.#accepted;
    checkpointer.watch(run_id, { lease, origin, onFailure: (error) => this.#failFrom("refused", error) });
    try {
      await execution;
    } catch (error) {
      await checkpointer.drained(run_id);
      throw error;
    } finally {
      checkpointer.unwatch(run_id);
      storage.checkpointer.unfence(run_id);
    }
  }

  #failFrom(cause: "refused" | "failed", error: unknown): void {
    // A run that was stopped has its reason; and its writes are refused on purpose.
    if (this.#controller.signal.aborted) return;
    this.#fault = { error };
    this.abort(RunAborted.because(cause));
  }

  #execution(): Execution {
    const { bound, invocation, run, configurable } = this.#accepted;
    const { signal } = this.#controller;
    return {
      graph: bound.graph,
      input: invocation.input,
      options: {
        ...invocation.options,
        metadata: {
          ...(invocation.options.metadata ?? {}),
          ...run.metadata,
          run_id: run.run_id,
          thread_id: run.thread_id,
        },
        configurable,
        runId: run.run_id,
        callbacks: new ModelCallbacks(this.#usage),
        signal,
      },
      modes: this.#modes,
      subgraphs: invocation.subgraphs && this.#modes.length > 0,
      signal,
      frames: this.#frames,
      hasCheckpoint: () => this.#hasCheckpoint(),
      onUnsendable: (error) => this.#failFrom("refused", error),
      onRetry: (error, attempt) =>
        this.#context.logger.warn(
          { err: error, run_id: run.run_id, attempt },
          "the run failed in the network and is tried again",
        ),
    };
  }

  async #hasCheckpoint(): Promise<boolean> {
    const { thread_id, run_id } = this.run;
    const tuple = await this.#context.storage.checkpointer.getTuple({
      configurable: { thread_id, checkpoint_ns: "" },
    });
    const metadata = tuple?.metadata as { run_id?: unknown } | undefined;
    return metadata?.run_id === run_id;
  }

  /** Store the ending, then send the last frame: who has seen it finds the row settled. */
  async #settle(ending: Ending): Promise<Run> {
    const { run, lease, log, atEnd } = this.#accepted;
    const usage = this.#usage.total(this.#frames.lastValues);
    // The lock is free before the client learns of the end: its next request finds the thread idle.
    const final = await this.#settlements.end(run, ending, usage, { lease, atEnd });
    this.#thrown = final.thrown;
    const frame = lastFrame(run, final, usage);
    log?.push(frame.event, frame.data);
    return { ...run, ...final.stored, usage };
  }

  #report({ status, thrown }: Ending): void {
    const fields = { run_id: this.run.run_id, thread_id: this.run.thread_id, status, err: thrown };
    if (thrown !== undefined) this.#context.logger.warn(fields, "the run failed");
    else
      this.#context.logger.info(
        { ...fields, reason: String(this.#controller.signal.reason) },
        "the run was stopped",
      );
  }
}

// A run of this process, from the moment it is accepted: what others may follow and stop.

export class RunHandle {
  readonly threadId: string;
  readonly runId: string;
  /** The run's frames; undefined for a run that nobody streams. */
  readonly log: RunLog | undefined;
  /** What the run answers once it has ended, however it ended. Never rejects. */
  readonly answer: Promise<JsonObject>;

  /** The answer once there is one; those who wait for it and may leave hear of it here. */
  #ended: { answer: JsonObject } | undefined;
  readonly #waiting = new EventEmitter().setMaxListeners(0);
  #hasBegun = false;
  #stopped: RunAborted | undefined;
  #stop: (reason: RunAborted) => void;
  #resolve: (answer: JsonObject) => void = () => undefined;

  /** `stop` is what cancels the run while it still waits for its thread. */
  constructor(
    ids: { thread_id: string; run_id: string },
    log: RunLog | undefined,
    stop: (reason: RunAborted) => void,
  ) {
    this.threadId = ids.thread_id;
    this.runId = ids.run_id;
    this.log = log;
    this.#stop = stop;
    this.answer = new Promise((resolve) => (this.#resolve = resolve));
  }

  /** The run has its thread. */
  begin(task: RunTask): void {
    this.#hasBegun = true;
    this.#stop = (reason) => task.abort(reason);
    // It may have been stopped between its thread's becoming free and now.
    if (this.#stopped) task.abort(this.#stopped);
    task.done.then(
      () => this.#end(task.answer),
      (error: unknown) => this.fail(error),
    );
  }

  /**
   * As `answer`, for one who may leave before: nothing of it stays behind then, however long the run still takes.
   * Rejects with an AbortError when `signal` aborts.
   */
  async answerFor(signal: AbortSignal | undefined): Promise<JsonObject> {
    if (!signal) return this.answer;
    if (!this.#ended) await once(this.#waiting, "end", { signal });
    return this.#ended?.answer ?? this.answer;
  }

  /** How many wait for the answer and may leave. */
  get waiting(): number {
    return this.#waiting.listenerCount("end");
  }

  /** True once the run has had its thread. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** The run ended before it began. */
  fail(error: unknown): void {
    this.#end(failedAnswer(error));
  }

  #end(answer: JsonObject): void {
    this.#ended ??= { answer };
    this.#resolve(answer);
    this.#waiting.emit("end");
  }

  stop(reason: RunAborted): void {
    this.#stopped ??= reason;
    this.#stop(reason);
  }
}

/** Measure a run that has its thread, to its end. */
export function measureRun(metrics: Metrics, task: RunTask, queuedSeconds: number): void {
  const start = performance.now();
  metrics.runStarted(queuedSeconds);
  const end = (run: Run) => countRun(metrics, run, (performance.now() - start) / 1000);
  task.done.then(end, () => end({ ...task.run, status: "error" }));
}

/** Count a run that has ended; without `seconds`, one that never had its thread. */
export function countRun(metrics: Metrics, run: Run, seconds?: number): void {
  const { input_tokens, output_tokens } = reportedTokens(run.usage);
  metrics.runEnded({
    graph: String(run.metadata.graph_id),
    status: run.status,
    seconds,
    inputTokens: input_tokens,
    outputTokens: output_tokens,
  });
}
