/** Executes graphs. Every run goes through here, whether its client waits for the answer or streams it. */
import { setMaxListeners } from "node:events";
import { currentNode, type GraphConfig } from "../graphs/graph.js";
import { directChunks } from "../graphs/stream/direct-chunks.js";
import { unsendable } from "../graphs/serialize.js";
import type { RunWatch } from "../graphs/stream/run-watch.js";
import { StreamFrames, ALL_MODES } from "../graphs/stream/stream-frames.js";
import { previewOf } from "../graphs/thread-preview.js";
import { CallGuard, guardModelCalls } from "../graphs/budgets/call-guard.js";
import { ModelCallbacks } from "../graphs/callbacks/model-callbacks.js";
import { RunUsage } from "../graphs/callbacks/usage.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { Run, RunTasks, StreamMode, TokenUsage } from "../models/run.js";
import { attemptFrame } from "../models/run-stream.js";
import type { ModelUsage } from "../models/model-calls.js";
import type { StoredPreview } from "../models/thread-fields.js";
import { now } from "../storage/rows/rows.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type { RunHolder } from "../storage/contract/runs.js";
import type { UsageRow } from "../storage/contract/usage.js";
import { RunTakenError } from "../support/errors.js";
import type { RunFault } from "../support/run-fault.js";
import { nextTurn, Consumer, type RunContext, withinRun } from "../support/event-loop.js";
import type { OpsContext } from "../context/context.js";
import type { Origin } from "../context/checkpoint-origin.js";
import type { UsageSource } from "../context/usage-recorder.js";
import type { RunLog } from "../frames/run-log.js";
import type { CheckedRequest, EarlierAttempts } from "./run-request.js";
import { budgetCheck } from "./budget-guard.js";
import { scopeOf } from "../threads/thread-origin.js";
import { RunAborted } from "./run-aborted.js";
import { isTransient, MAX_ATTEMPTS, pauseBefore } from "./network-retry.js";
import { type Ending, endingOf, failed, paused, succeeded } from "./run-ending.js";

/** A stored run whose thread is locked, with everything needed to call its graph. */
interface ExecutionOptions {
  run: Run;
  /** With the output filter of the thread, and the input in the form that the thread accepts. */
  request: CheckedRequest;
  /** Stored in the metadata of the run's checkpoints. */
  origin: Origin;
  holder: RunHolder;
  earlier?: EarlierAttempts;
  /** Whether the row already has status `running`. */
  isBegun: boolean;
  /** Set if the graph must not be executed: the run fails with this error. */
  refusal: Error | undefined;
  lease: ThreadLease;
  /** Receives the frames; undefined if the run is not streamed. */
  log: RunLog | undefined;
  /** Observes the graph; undefined if there is no observer. */
  watch: RunWatch | undefined;
  /** What lists show of the thread while the run is active. */
  preview: StoredPreview | undefined;
}

/** How the graph of a run ended, and what it used. */
interface Executed {
  ending: Ending;
  usage: TokenUsage;
  /** Rows of its model calls. */
  models: readonly UsageRow[] | undefined;
  /** Whether the storage rejected a write because another process owns the run. */
  isTaken: boolean;
}

/** How long a graph may ignore its abort signal, in milliseconds. Then it is abandoned and its writes are rejected. */
const ABORT_GRACE_MS = 2000;

/** Graphs whose reading was reported. */
const reported = new WeakSet<object>();

/** One execution of a run's graph: its time limit, its abort, its writes and its frames. */
export class Execution implements UsageSource {
  /** True once the row of the run has status `running`. */
  hasStarted = false;
  /** The answer for a waiting caller, unless the run fails. */
  answer: JsonObject = {};

  readonly #context: OpsContext;
  readonly #options: ExecutionOptions;
  readonly #modes: readonly StreamMode[];
  /** Whether chunks carry the namespace of their graph. */
  readonly #withNamespaces: boolean;
  readonly #frames: StreamFrames;
  readonly #usage: RunUsage;
  readonly #controller = new AbortController();
  readonly #runContext: RunContext;
  /** Passes the output of the graph to the frames. Undefined until the graph is called. */
  #output: Consumer<unknown> | undefined;
  #isOver = false;
  /** True once the storage rejected a write because another process owns the run. */
  #isTaken = false;
  /** True while the graph may write. */
  #isWatched = false;
  /** Superstep of its latest checkpoint. */
  #step: number | undefined;
  /** True if some output of the graph cannot be sent. */
  #isRejected = false;
  #abandon: (reason: Error) => void = () => undefined;
  #abandonTimer: NodeJS.Timeout | undefined;
  /** An error that the graph did not throw: its output was rejected, or an error was not handled. */
  #failure: { error: unknown } | undefined;

  constructor(context: OpsContext, options: ExecutionOptions) {
    const { run, request, log } = options;
    const { allow_unfiltered_events, hold_messages } = context.settings;
    this.#context = context;
    this.#options = options;
    this.#usage = new RunUsage(context.priceOf);
    const allModes = log?.capturesAllModes ?? false;
    this.#modes = !log ? [] : allModes ? [...new Set([...request.modes, ...ALL_MODES])] : request.modes;
    const subgraphs = allModes || request.subgraphs;
    this.#withNamespaces = subgraphs && this.#modes.length > 0;
    this.#frames = new StreamFrames(
      {
        modes: this.#modes,
        subgraphs,
        checkpointIds: allModes,
        filter: request.bound.filter,
        unfilteredEvents: allow_unfiltered_events,
        holdMessages: hold_messages,
      },
      log,
    );
    // Each task of a superstep listens to it.
    setMaxListeners(0, this.#controller.signal);
    this.#usage.calls.onAdd = () => context.recorder?.changed(this);
    const { run_id, thread_id, metadata } = run;
    const { ownerId, caller } = context;
    const { graph_id, traceparent } = metadata;
    this.#runContext = {
      ...{ run_id, thread_id, graph_id: String(graph_id), ownerId, caller, traceparent, nodeOf: currentNode },
      fail: (error) => this.#failFrom("failed", error),
    };
  }

  /** Runs the graph to its end, whatever the outcome. Never rejects. */
  async run(): Promise<Executed> {
    const { request, preview: before, lease } = this.#options;
    const { lost } = lease;
    if (lost?.aborted) this.#loseThread();
    lost?.addEventListener("abort", () => this.#loseThread(), { once: true });
    let ending: Ending;
    try {
      ending = await this.#call();
    } catch (error) {
      ending = this.#failure ? failed(this.#failure.error) : endingOf(error, this.#controller.signal);
      if (ending.thrown === undefined) this.answer = this.#frames.answerSoFar();
      else ending.fault = await this.#faultOf(ending.thrown);
      this.#report(ending);
    } finally {
      this.#isOver = true;
      clearTimeout(this.#abandonTimer);
      const writing = this.#usage.calls.isEmpty ? undefined : this.#context.recorder?.leave(this);
      if (writing) await writing;
    }
    const { lastValues } = this.#frames;
    const preview = previewOf(lastValues, request.bound.filter, { step: this.#step, before });
    return {
      ending: { ...ending, tasks: this.#usage.times.list(), preview },
      usage: this.#usage.total(lastValues),
      models: this.#usage.calls.isEmpty ? undefined : this.rows(),
      isTaken: this.#isTaken,
    };
  }

  /** The model calls of this attempt, for the storage. Undefined if there are none, or it does not record usage. */
  rows(): readonly UsageRow[] | undefined {
    const { caller, capabilities } = this.#context;
    const usages = this.#usage.calls.list();
    if (usages.length === 0 || !capabilities.usage) return undefined;
    const { run, holder } = this.#options;
    const of = {
      run_id: run.run_id,
      attempt: holder.attempt,
      thread_id: run.thread_id,
      graph_id: String(run.metadata.graph_id),
      user_id: caller?.user.identity ?? null,
      scope: scopeOf(this.#context),
      at: now(),
    };
    return usages.map((usage, seq) => ({ ...of, seq, ...usage }));
  }

  /** The model calls so far. */
  models(): readonly ModelUsage[] {
    return this.#usage.calls.list();
  }

  tasks(): RunTasks {
    return this.#usage.times.list();
  }

  /** Aborts the graph, and abandons it if it ignores the signal. */
  abort(reason: RunAborted): void {
    if (this.#isOver || this.#controller.signal.aborted) return;
    this.#controller.abort(reason);
    this.#abandonTimer = setTimeout(() => {
      // The graph may keep computing, but its writes are rejected.
      this.#fence();
      this.#abandon(reason);
    }, ABORT_GRACE_MS);
  }

  /** Resolves with how the graph ended; rejects with its error or the abort reason. */
  async #call(): Promise<Ending> {
    const { run, log, holder, earlier, isBegun, refusal } = this.#options;
    const { run_id, thread_id } = run;
    const { storage, capabilities, settings } = this.#context;
    const { attempt } = holder;
    log?.push("metadata", attemptFrame({ run_id, thread_id, attempt }, earlier?.checkpointId));
    // Sends the response headers and the first frame before a graph that never awaits blocks the event loop.
    if (log) await nextTurn();
    const begun = { updated_at: now(), status: "running" as const };
    const isOurs = isBegun || (await storage.runs.update(run_id, begun, holder));
    if (!isOurs && capabilities.takeover) this.#lose();
    this.hasStarted = true;
    this.#controller.signal.throwIfAborted();
    if (refusal) throw refusal;
    const seconds = settings.run_timeout_seconds;
    const timer = seconds === undefined ? undefined : this.#limitTime(seconds);
    const abandoned = new Promise<never>((_, reject) => (this.#abandon = reject));
    try {
      const called = this.#watched(withinRun(this.#runContext, this.#callGraph));
      await Promise.race([called, abandoned]);
      if (this.#failure) throw this.#failure.error;
      this.answer = this.#frames.answer();
      return this.#frames.interrupts ? paused(settings) : succeeded;
    } finally {
      clearTimeout(timer);
      this.#runContext.fail = undefined;
    }
  }

  /** All attempts of a run share one time limit. */
  #limitTime(seconds: number): NodeJS.Timeout {
    const remainingMs = Math.max(0, seconds * 1000 - (this.#options.earlier?.spentMs ?? 0));
    return setTimeout(() => this.abort(RunAborted.timedOut(seconds)), Math.min(remainingMs, 2 ** 31 - 1));
  }

  /** Another process owns the run. This process must not report its end. */
  #lose(): void {
    this.#isTaken = true;
    this.#loseThread();
  }

  /** Another process may hold the thread by now: later writes of this run must be rejected. */
  #loseThread(): void {
    this.#fence();
    this.abort(RunAborted.from("lost"));
  }

  /** Does nothing once the graph has settled: a fence could then reject the next attempt in this process. */
  #fence(): void {
    if (this.#isWatched) this.#context.storage.checkpointer.fence(this.#options.run.run_id);
  }

  /** Observes failed writes for as long as the graph may write. */
  async #watched(called: Promise<void>): Promise<void> {
    const { checkpointer, storage, capabilities, frames } = this.#context;
    const { run, lease, origin, holder, log } = this.#options;
    const onFailure = (error: unknown) =>
      error instanceof RunTakenError ? this.#lose() : this.#failFrom("refused", error);
    // Shares the frames of a superstep before its checkpoint, after which the superstep is not executed again.
    const before =
      log &&
      frames &&
      (async () => {
        // Output of the graph may not have reached the log yet.
        await nextTurn();
        await this.#output?.flush();
        await frames.stored(run.run_id);
      });
    checkpointer.watch(run.run_id, {
      ...{ lease, origin, onFailure, before },
      ...(capabilities.takeover && { holder }),
    });
    this.#isWatched = true;
    try {
      await called;
    } catch (error) {
      await checkpointer.drained(run.run_id);
      throw error;
    } finally {
      this.#isWatched = false;
      this.#step = checkpointer.unwatch(run.run_id);
      storage.checkpointer.unfence(run.run_id);
    }
  }

  #failFrom(cause: "refused" | "failed", error: unknown): void {
    // An aborted run already has a reason, and its writes are rejected on purpose.
    if (this.#controller.signal.aborted) return;
    this.#failure = { error };
    this.abort(RunAborted.from(cause));
  }

  /**
   * Runs the graph to its end and passes its output to the frames. A network failure before the first event is retried.
   * The input is sent again only if no checkpoint contains it, so that it is not duplicated
   * (docs/specification.md#streams, 7).
   */
  readonly #callGraph = async (): Promise<void> => {
    const { signal } = this.#controller;
    const { graph } = this.#options.request.bound;
    let { input } = this.#options.request;
    for (let attempt = 1; ; attempt++) {
      try {
        const config = this.#graphConfig();
        if (this.#modes.includes("events")) {
          this.#output = new Consumer((event) => this.#takeEvent(event));
          return await this.#output.read(graph.streamEvents(input, { ...config, version: "v2" }));
        }
        const direct = this.#context.settings.direct_streams
          ? directChunks(graph, input, config, () => this.#reportReading(graph))
          : undefined;
        const chunks = direct ?? (await graph.stream(input, config));
        this.#output = new Consumer(this.#takeChunk);
        return await this.#output.read(chunks, direct && signal);
      } catch (error) {
        const mayRetry = !signal.aborted && !this.#frames.emitted && attempt < MAX_ATTEMPTS;
        if (!mayRetry || !isTransient(error)) throw error;
        input = await this.#prepareRetry(error, attempt, input);
      }
    }
  };

  /** Returns the input of the next attempt. */
  async #prepareRetry(error: unknown, attempt: number, input: unknown): Promise<unknown> {
    const { run_id } = this.#options.run;
    this.#context.logger.warn(
      { err: error, run_id, attempt },
      "the run failed with a network error and is retried",
    );
    await pauseBefore(attempt + 1, this.#controller.signal);
    const next = (await this.#hasCheckpoint()) ? null : input;
    this.#frames.restart();
    return next;
  }

  #reportReading(graph: object): void {
    if (reported.has(graph)) return;
    reported.add(graph);
    const { graph_id } = this.#options.run.metadata;
    this.#context.logger.info({ graph_id }, "unknown version of LangGraph: its public stream is read");
  }

  #graphConfig(): GraphConfig {
    const { request, run, holder, watch, log } = this.#options;
    const { run_id, thread_id } = run;
    const { attempt } = holder;
    const { langsmith, budgets } = this.#context;
    const { budget, command } = run.kwargs;
    const ids = { run_id, thread_id, ...(attempt > 1 && { run_attempt: attempt }) };
    const calls = this.#usage.calls;
    const mayBeLimited = budgets || budget != null || command != null;
    const check = mayBeLimited && budgetCheck(this.#context, { run, attempt, calls, usage: this });
    const guard = check && new CallGuard(check);
    if (guard) this.#usage.guardCalls(guard);
    const callbacks = new ModelCallbacks(this.#usage);
    for (const handler of [watch, this.#frames.toolPlaces]) if (handler) callbacks.addHandler(handler, true);
    return {
      // LangSmith shows it; by default, every graph is "LangGraph".
      ...(langsmith && { runName: String(run.metadata.graph_id) }),
      ...request.options,
      metadata: { ...(request.options.metadata ?? {}), ...run.metadata, ...ids },
      configurable: request.configurable,
      runId: run_id,
      callbacks: guard ? guardModelCalls(callbacks, guard) : callbacks,
      signal: this.#controller.signal,
      streamMode: this.#frames.frameworkModes,
      subgraphs: this.#withNamespaces,
      // Makes LangGraph add the checkpoint to values, as it does in `streamEvents`.
      ...(log?.capturesAllModes && { version: "v2" }),
    };
  }

  readonly #takeChunk = (chunk: unknown): void => {
    const [namespace, mode, payload] = (this.#withNamespaces ? chunk : [[], ...(chunk as unknown[])]) as [
      string[],
      string,
      unknown,
    ];
    if (this.#isRejected) return;
    try {
      this.#frames.take(namespace, mode, payload);
    } catch (error) {
      this.#reject(error, payload, mode);
    }
  };

  /** Stream events of the root run carry the chunks of the other modes. The rest are the client's events. */
  #takeEvent(event: unknown): void {
    const isRoot = isRecord(event) && event.run_id === this.#options.run.run_id;
    if (isRoot && event.event === "on_chain_stream") {
      const chunk = isRecord(event.data) ? event.data.chunk : undefined;
      if (Array.isArray(chunk)) this.#takeChunk(chunk);
      return;
    }
    if (this.#isRejected) return;
    try {
      this.#frames.takeEvent(event, isRoot);
    } catch (error) {
      this.#reject(error, event, "events");
    }
  }

  /** The stream is read to its end, even after some output was rejected. */
  #reject(error: unknown, payload: unknown, mode: string): void {
    this.#isRejected = true;
    this.#failFrom("refused", unsendable(error, payload, mode));
  }

  async #hasCheckpoint(): Promise<boolean> {
    const { thread_id, run_id } = this.#options.run;
    const tuple = await this.#context.storage.checkpointer.getTuple({
      configurable: { thread_id, checkpoint_ns: "" },
    });
    const metadata = tuple?.metadata as { run_id?: unknown } | undefined;
    return metadata?.run_id === run_id;
  }

  /** The error with its source location and its node. Never rejects. */
  async #faultOf(thrown: unknown): Promise<RunFault> {
    const { runFault } = await import("../graphs/run-fault.js");
    const { failedTasks } = await import("../graphs/failed-tasks.js");
    const { bound, configurable } = this.#options.request;
    const { checkpoint_id: _, checkpoint_map: __, ...latest } = configurable;
    const tasks = this.hasStarted ? await failedTasks(bound.graph, latest) : [];
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
