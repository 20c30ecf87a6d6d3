/** A run in flight: a task the server owns. The response is only its subscriber. */
import { GraphServeError } from "../errors.js";
import { nextTurn } from "../event-loop.js";
import type { BoundGraph } from "../graphs/registry.js";
import { ModelCallbacks } from "../graphs/model-callbacks.js";
import { StreamFrames } from "../graphs/stream-frames.js";
import { RunUsage } from "../graphs/usage.js";
import type { JsonObject } from "../models/common.js";
import type { Run, StreamMode } from "../models/run.js";
import type { ThreadLease } from "../storage/storage.js";
import { now, type OpsContext } from "./context.js";
import { execute, type Execution } from "./execute.js";
import { RunAborted } from "./run-abort.js";
import { runAnswer } from "./run-answer.js";
import { endingOf, failed, lastFrame, paused, succeeded, type Ending } from "./run-ending.js";
import type { RunLog } from "./run-log.js";
import type { Invocation } from "./run-request.js";
import type { Settlements } from "./settlements.js";

/** How long a graph may take to heed its abort signal; then it is left behind, its later writes refused. */
const ABORT_GRACE_MS = 2000;

/** A run whose lock is held and whose row is stored. */
export interface AcceptedRun {
  run: Run;
  lease: ThreadLease;
  bound: BoundGraph;
  invocation: Invocation;
  /** Ids and other values that the graph's config carries. */
  configurable: Record<string, unknown>;
  /** Takes the run's frames; left out for runs that nobody streams. */
  log?: RunLog;
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
  /** Why the graph's state could not be stored. */
  #unstored: { error: unknown } | undefined;

  constructor(context: OpsContext, settlements: Settlements, accepted: AcceptedRun) {
    this.#context = context;
    this.#settlements = settlements;
    this.#accepted = accepted;
    this.#frames = new StreamFrames(this.#modes, accepted.bound.filter, (event, data) =>
      accepted.log?.push(event, data),
    );
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
    const { lastValues, interrupts } = this.#frames;
    return runAnswer(this.#accepted.bound.filter.values(lastValues), interrupts, this.#thrown);
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
      await this.#context.storage.metadata.updateRun(run_id, { updated_at: now(), status: "running" });
      started = true;
      ending = await this.#execute();
    } catch (error) {
      ending = this.#unstored ? failed(this.#unstored.error) : endingOf(error, this.#controller.signal);
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
      const execution = this.#watched(execute(this.#execution()));
      await Promise.race([execution, abandoned.catch((reason: Error) => this.#leaveBehind(reason))]);
      if (this.#unstored) throw this.#unstored.error;
      return this.#frames.interrupts ? paused : succeeded;
    } finally {
      clearTimeout(timer);
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
    const { lease } = this.#accepted;
    checkpointer.watch(run_id, { lease, onFailure: (error) => this.#failToStore(error) });
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

  #failToStore(error: unknown): void {
    // Of a run that was stopped, writes are refused on purpose.
    if (this.#controller.signal.aborted) return;
    this.#unstored = { error };
    this.abort(RunAborted.because("unstored"));
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
    const { run, lease, log } = this.#accepted;
    const usage = this.#usage.total(this.#frames.lastValues);
    // The lock is free before the client learns of the end: its next request finds the thread idle.
    const final = await this.#settlements.end(run, ending, usage, lease);
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
