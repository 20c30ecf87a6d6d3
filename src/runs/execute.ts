/** The execution of a graph: every run, blocking or streamed, goes through here. */
import { currentNode, type GraphConfig } from "../graphs/graph.js";
import { unsendable } from "../graphs/serialize.js";
import type { RunWatch } from "../graphs/stream/run-watch.js";
import { frameworkModes, StreamFrames, ALL_MODES } from "../graphs/stream/stream-frames.js";
import { ModelCallbacks, RunUsage } from "../graphs/usage.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { Run, RunTasks, StreamMode, TokenUsage } from "../models/run.js";
import { now } from "../storage/rows/rows.js";
import type { RunHolder, ThreadLease } from "../storage/contract/storage.js";
import { RunTakenError } from "../support/errors.js";
import { withTimeout } from "../support/pause.js";
import type { RunFault } from "../support/run-fault.js";
import { nextTurn, RunContext, consume, withinRun } from "../support/event-loop.js";
import type { OpsContext } from "../context/context.js";
import type { Origin } from "../context/run-checkpointer.js";
import type { RunLog } from "../frames/run-log.js";
import type { CheckedRequest, EarlierAttempts } from "./run-request.js";
import { RunAborted } from "./run-aborted.js";
import { HOLD_MS } from "../frames/held-checkpoints.js";
import type { SharedFrames } from "../frames/shared-frames.js";
import { isTransient, MAX_ATTEMPTS, pauseBefore } from "./network-retry.js";
import { type Ending, endingOf, failed, paused, succeeded } from "./run-results.js";

/** A run whose thread is held and whose row is stored, and what its graph is called with. */
interface ExecutionOptions {
  run: Run;
  /** With the thread's own filter, and the input as the thread takes it. */
  request: CheckedRequest;
  /** What the run's checkpoints say of themselves. */
  origin: Origin;
  holder: RunHolder;
  earlier?: EarlierAttempts;
  /** Whether the row says `running` already. */
  isBegun: boolean;
  /** Why nothing of it is to be executed. */
  refusal: Error | undefined;
  lease: ThreadLease;
  /** Takes the frames; left out for a run that nobody streams. */
  log: RunLog | undefined;
  /** Hears what the graph does, where somebody watches. */
  watch: RunWatch | undefined;
}

/** How long a graph may take to heed its abort signal; then it is left behind, its later writes refused. */
const ABORT_GRACE_MS = 2000;

/** One execution of a run's graph: its time limit, its abort, what it writes and what it yields. */
export class Execution {
  /** True once the run's row says `running`. */
  hasStarted = false;
  /** What a caller who waits is answered, unless the run fails. */
  answer: JsonObject = {};

  readonly #context: OpsContext;
  readonly #options: ExecutionOptions;
  readonly #modes: readonly StreamMode[];
  readonly #subgraphs: boolean;
  readonly #frames: StreamFrames;
  readonly #usage = new RunUsage();
  readonly #controller = new AbortController();
  readonly #runContext: RunContext;
  /** Settles when what the graph has yielded is in the log; undefined where it is. */
  #pending: () => Promise<void> | undefined = () => undefined;
  #isOver = false;
  /** While the graph may write. */
  #isWatched = false;
  #isTaken = false;
  /** True when something that the graph yielded cannot be sent. */
  #isRefused = false;
  #abandon: (reason: Error) => void = () => undefined;
  #abandonTimer: NodeJS.Timeout | undefined;
  /** What failed beside the graph's own course: what it yielded was refused, or nothing handled an error. */
  #fault: { error: unknown } | undefined;

  constructor(context: OpsContext, options: ExecutionOptions) {
    const { run, request, log } = options;
    const { allow_unfiltered_events, hold_messages } = context.settings;
    this.#context = context;
    this.#options = options;
    const isWide = log?.capturesAllModes ?? false;
    this.#modes = !log ? [] : isWide ? [...new Set([...request.modes, ...ALL_MODES])] : request.modes;
    this.#subgraphs = isWide || request.subgraphs;
    this.#frames = new StreamFrames(
      {
        modes: this.#modes,
        subgraphs: this.#subgraphs,
        checkpointIds: isWide,
        filter: request.bound.filter,
        unfilteredEvents: allow_unfiltered_events,
        holdMessages: hold_messages,
      },
      (event, data) => log?.push(event, data),
    );
    const { run_id, thread_id, metadata } = run;
    const { ownerId, caller } = context;
    const facts = { run_id, thread_id, graph_id: String(metadata.graph_id), ownerId, caller };
    this.#runContext = new RunContext(facts, (error) => this.#failFrom("failed", error), currentNode);
  }

  /** Run to the end, whatever that is. Never rejects. */
  async run(): Promise<Ending> {
    const { lost } = this.#options.lease;
    if (lost?.aborted) this.#loseThread();
    lost?.addEventListener("abort", () => this.#loseThread(), { once: true });
    try {
      await this.#begin();
      return await this.#call();
    } catch (error) {
      const ending = this.#fault ? failed(this.#fault.error) : endingOf(error, this.#controller.signal);
      if (ending.thrown === undefined) this.answer = this.#frames.answerSoFar();
      else ending.fault = await this.#faultOf(ending.thrown);
      this.#report(ending);
      return ending;
    } finally {
      this.#isOver = true;
      clearTimeout(this.#abandonTimer);
    }
  }

  /** True once the storage has refused a write, since another process has the run. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Tokens that the run used. */
  tokens(): TokenUsage {
    return this.#usage.total(this.#frames.lastValues);
  }

  /** When what ran in it began and ended. */
  tasks(): RunTasks {
    return this.#usage.times.list();
  }

  /** Stop the graph. */
  abort(reason: RunAborted): void {
    if (this.#isOver || this.#controller.signal.aborted) return;
    this.#controller.abort(reason);
    this.#abandonTimer = setTimeout(() => this.#abandon(reason), ABORT_GRACE_MS);
  }

  async #begin(): Promise<void> {
    const { run, log, holder, earlier, isBegun } = this.#options;
    const { run_id, thread_id } = run;
    const { runs } = this.#context.storage;
    const { attempt } = holder;
    log?.push("metadata", attemptFrame({ run_id, thread_id, attempt }, earlier?.checkpointId));
    // The response's head and first frame leave before a graph that never waits takes the event loop.
    if (log) await nextTurn();
    const begun = { updated_at: now(), status: "running" as const };
    const isOurs = isBegun || (await runs.update(run_id, begun, holder));
    if (!isOurs && runs.take) this.#lose();
    this.hasStarted = true;
  }

  /** Resolves with how the graph ended; rejects with what it threw or why it was stopped. */
  async #call(): Promise<Ending> {
    this.#controller.signal.throwIfAborted();
    if (this.#options.refusal) throw this.#options.refusal;
    const timer = this.#limitTime();
    const abandoned = new Promise<never>((_, reject) => (this.#abandon = reject));
    try {
      const called = this.#watched(withinRun(this.#runContext, () => this.#callGraph()));
      await Promise.race([called, abandoned.catch((reason: Error) => this.#leaveBehind(reason))]);
      if (this.#fault) throw this.#fault.error;
      this.answer = this.#frames.answer();
      return this.#frames.interrupts ? paused(this.#context.settings) : succeeded;
    } finally {
      clearTimeout(timer);
      this.#runContext.end();
    }
  }

  /** Attempts share the time of their run. */
  #limitTime(): NodeJS.Timeout | undefined {
    const seconds = this.#context.settings.run_timeout_seconds;
    if (seconds === undefined) return undefined;
    const left = Math.max(0, seconds * 1000 - (this.#options.earlier?.spentMs ?? 0));
    return setTimeout(() => this.abort(RunAborted.timedOut(seconds)), Math.min(left, 2 ** 31 - 1));
  }

  /** The run is another process's: nothing of it is to be told from here. */
  #lose(): void {
    this.#isTaken = true;
    this.#loseThread();
  }

  /** Another process may hold the thread by now: what this run still writes must not count. */
  #loseThread(): void {
    this.#fence();
    this.abort(RunAborted.from("lost"));
  }

  /** The graph did not heed its signal: it may go on computing, but nothing that it writes counts any more. */
  #leaveBehind(reason: Error): never {
    this.#fence();
    throw reason;
  }

  /** Once the graph has settled, it could be the next attempt, in this process, that is refused. */
  #fence(): void {
    if (this.#isWatched) this.#context.storage.checkpointer.fence(this.#options.run.run_id);
  }

  /** For as long as the graph may still write, hear of writes that fail. */
  async #watched(called: Promise<void>): Promise<void> {
    const { checkpointer, storage, frames } = this.#context;
    const { run, lease, origin, holder, log } = this.#options;
    const onFailure = (error: unknown) =>
      error instanceof RunTakenError ? this.#lose() : this.#failFrom("refused", error);
    const before = log && frames ? () => this.#framesStored(frames) : undefined;
    checkpointer.watch(run.run_id, {
      ...{ threadId: run.thread_id, lease, origin, onFailure, before },
      ...(storage.runs.take && { holder }),
    });
    this.#isWatched = true;
    try {
      await called;
    } catch (error) {
      await checkpointer.drained(run.run_id);
      throw error;
    } finally {
      this.#isWatched = false;
      checkpointer.unwatch(run.run_id);
      storage.checkpointer.unfence(run.run_id);
    }
  }

  /** What a superstep told is shared before its checkpoint says that it need not be executed again. */
  async #framesStored(frames: SharedFrames): Promise<void> {
    // What the graph has yielded is on its way here.
    await nextTurn();
    const stored = () => frames.stored(this.#options.run.run_id);
    const shared = this.#pending()?.then(stored) ?? stored();
    if (shared) await withTimeout(HOLD_MS, shared);
  }

  #failFrom(cause: "refused" | "failed", error: unknown): void {
    // A run that was stopped has its reason; and its writes are refused on purpose.
    if (this.#controller.signal.aborted) return;
    this.#fault = { error };
    this.abort(RunAborted.from(cause));
  }

  /**
   * Run the graph to its end and hand what it yields to the frames. A network failure before the first event is tried
   * again; the input is sent again only when no checkpoint took it (no duplicated input,
   * docs/specification.md#streams, 7).
   */
  async #callGraph(): Promise<void> {
    const { signal } = this.#controller;
    const { run_id } = this.#options.run;
    let { input } = this.#options.request;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#takeStream(input);
      } catch (error) {
        const mayRetry = !signal.aborted && !this.#frames.emitted && attempt < MAX_ATTEMPTS;
        if (!mayRetry || !isTransient(error)) throw error;
        this.#context.logger.warn(
          { err: error, run_id, attempt },
          "the run failed in the network and is tried again",
        );
        await pauseBefore(attempt + 1, signal);
        if (await this.#hasCheckpoint()) input = null;
        this.#frames.restart();
      }
    }
  }

  async #takeStream(input: unknown): Promise<void> {
    const { graph } = this.#options.request.bound;
    const config = this.#graphConfig();
    if (this.#modes.includes("events")) {
      const events = graph.streamEvents(input, { ...config, version: "v2" });
      return consume(
        events,
        (event) => this.#takeEvent(event),
        (pending) => (this.#pending = pending),
      );
    }
    return consume(
      await graph.stream(input, config),
      (chunk) => this.#takeChunk(chunk),
      (pending) => (this.#pending = pending),
    );
  }

  #graphConfig(): GraphConfig {
    const { request, run, holder } = this.#options;
    const { run_id, thread_id } = run;
    const ids = { run_id, thread_id, ...(holder.attempt > 1 && { run_attempt: holder.attempt }) };
    return {
      ...request.options,
      metadata: { ...(request.options.metadata ?? {}), ...run.metadata, ...ids },
      configurable: request.configurable,
      runId: run_id,
      callbacks: this.#callbacks(),
      signal: this.#controller.signal,
      streamMode: frameworkModes(this.#modes, this.#context.settings.hold_messages),
      subgraphs: this.#withNamespaces,
      // As through `streamEvents`, LangGraph then says of which checkpoint values are.
      ...(this.#options.log?.capturesAllModes && { version: "v2" }),
    };
  }

  #callbacks(): ModelCallbacks {
    const callbacks = new ModelCallbacks(this.#usage);
    const { watch } = this.#options;
    if (watch) callbacks.addHandler(watch, true);
    this.#frames.hear(callbacks);
    return callbacks;
  }

  /** Whether chunks say which graph they are of. */
  get #withNamespaces(): boolean {
    return this.#subgraphs && this.#modes.length > 0;
  }

  #takeChunk(chunk: unknown): void {
    const [namespace, mode, payload] = (this.#withNamespaces ? chunk : [[], ...(chunk as unknown[])]) as [
      string[],
      string,
      unknown,
    ];
    this.#take(mode, payload, () => this.#frames.take(namespace, mode, payload));
  }

  /** The root run's stream events carry the chunks of the other modes; the rest are the client's events. */
  #takeEvent(event: unknown): void {
    const isRoot = isRecord(event) && event.run_id === this.#options.run.run_id;
    if (isRoot && event.event === "on_chain_stream") {
      const chunk = isRecord(event.data) ? event.data.chunk : undefined;
      if (Array.isArray(chunk)) this.#takeChunk(chunk);
      return;
    }
    this.#take("events", event, () => this.#frames.takeEvent(event, isRoot));
  }

  /** Never throws: the stream is read to its end, also when nothing that the graph yields is taken any more. */
  #take(mode: string, payload: unknown, work: () => void): void {
    if (this.#isRefused) return;
    try {
      work();
    } catch (error) {
      this.#isRefused = true;
      this.#failFrom("refused", unsendable(error, payload, mode));
    }
  }

  async #hasCheckpoint(): Promise<boolean> {
    const { thread_id, run_id } = this.#options.run;
    const tuple = await this.#context.storage.checkpointer.getTuple({
      configurable: { thread_id, checkpoint_ns: "" },
    });
    const metadata = tuple?.metadata as { run_id?: unknown } | undefined;
    return metadata?.run_id === run_id;
  }

  /** What was thrown, with its place and its node. Never rejects. */
  async #faultOf(thrown: unknown): Promise<RunFault> {
    const { runFault } = await import("../graphs/run-fault.js");
    const { failedTasks: faultyTasks } = await import("../graphs/failed-tasks.js");
    const { bound, configurable } = this.#options.request;
    const { checkpoint_id: _, checkpoint_map: __, ...latest } = configurable;
    const tasks = this.hasStarted ? await faultyTasks(bound.graph, latest) : [];
    return runFault(thrown, tasks);
  }

  #report({ status, thrown, fault }: Ending): void {
    if (this.#isTaken) return;
    const { run_id, thread_id, metadata } = this.#options.run;
    const fields = { run_id, thread_id, graph_id: metadata.graph_id, status, err: thrown, fault };
    if (thrown !== undefined) return this.#context.logger.warn(fields, "the run failed");
    const reason = String(this.#controller.signal.reason);
    this.#context.logger.info({ ...fields, reason }, "the run was stopped");
  }
}

/** The data of the frame with which an attempt begins. */
export function attemptFrame(
  { run_id, thread_id, attempt }: Pick<Run, "run_id" | "thread_id" | "attempt">,
  checkpoint_id?: string,
): string {
  return JSON.stringify({ run_id, thread_id, attempt: Math.max(attempt, 1), checkpoint_id });
}
