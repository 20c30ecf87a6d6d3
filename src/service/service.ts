/** The service that HTTP, the CLI and embedders use. src/service/open.ts opens it. */
import type { Settings } from "../config/settings.js";
import type { GraphSources } from "../graphs/load.js";
import type { Caller } from "../models/caller.js";
import type { JsonObject } from "../models/common.js";
import type { InitialMessage, ServerInfo } from "../models/info.js";
import { clockFinding } from "../context/clock.js";
import { addLazily, type OpsContext, withParts } from "../context/context.js";
import { type EngineContext, LiveRuns } from "../runs/live-runs.js";
import { Maintenance, sweep } from "../operations/maintenance.js";
import { Operations } from "../operations/operations.js";
import { type RecoveryPolicy, recoverRuns } from "../coordination/recover.js";
import { InProcessQueue } from "../coordination/in-process-queue.js";
import { interruptedRuns, type RecoverOptions } from "../runs/run-owners.js";
import { graphSummaries, type GraphSummary, serverInfo } from "./info.js";
import type { RecordingTable } from "../storage/contract/recordings.js";
import type { UnfinishedRun } from "../storage/contract/runs.js";
import type { Storage, StorageFinding } from "../storage/contract/storage.js";
import type { ThreadRow } from "../storage/contract/threads.js";
import type { GraphLoadError } from "../support/errors.js";
import type { Logger } from "../support/log.js";
import type { Metrics } from "../support/metrics.js";
import type { Tracing } from "../tracing/tracing.js";
import { currentRun } from "../support/event-loop.js";
import { langgraphVersion } from "../support/user-langgraph.js";
import { VERSION } from "../support/own-package.js";
import type { UserHooks } from "./user-hooks.js";

export type { RecordingTable } from "../storage/contract/recordings.js";
export type { UnfinishedRun } from "../storage/contract/runs.js";
export type { StorageFinding } from "../storage/contract/storage.js";

interface InProcessRun {
  thread_id: string;
  /** Not validated: a client can set it in the metadata. */
  traceparent: unknown;
}

interface ServiceParts {
  cwd: string;
  /** Whether placeholders replace graphs that fail to load. */
  standIns: boolean;
  /** Whether the service maintains the storage: recovery, sweeps and heartbeat. */
  maintains: boolean;
  /** How to recover the runs of dead processes. */
  cutOffs: RecoveryPolicy;
  /** Set if processes share a run queue. */
  makeQueue?: (context: EngineContext) => EngineContext["queue"];
  /** Undefined for a service that accepts no requests. */
  hooks?: UserHooks;
  mcpSdk?: object;
  a2aSdk?: object;
  /** Final cleanup after the service has closed. */
  closed: () => void;
}

/** `reloaded`: graphs were reloaded. `closing`: all runs have ended and the service is about to close. */
type ServiceEvent = "reloaded" | "closing";

/** The service on behalf of one caller. */
export type CallerService = Operations &
  Pick<Service, "settings" | "logger" | "metrics" | "info" | "initialMessage">;

/** Returns the service that executes a command, after asking the handlers of LangGraph's `Auth` about it. */
export type CommandService = (method: string, threadId: string, params: JsonObject) => Promise<CallerService>;

/**
 * Graphs, storage and the operations on them. Opened by `openService`, closed by its owner.
 * @example
 * ```ts
 * import { openService } from "graph-serve";
 * import { graph } from "./graph.js";
 *
 * const service = await openService({ graphs: { agent: graph } });
 * service.graphIds; // => ["agent"]
 * const { values } = await service.state.get((await service.threads.create({})).thread_id);
 * values; // => {}
 * await service.close();
 * ```
 */
export class Service extends Operations {
  /** All settings with their defaults. */
  readonly settings: Settings;
  /** The logger of the service; logs nothing unless one was passed. */
  readonly logger: Logger;
  /** Undefined while the setting metrics is off. */
  readonly metrics: Metrics | undefined;
  /** Undefined unless traces are exported. @internal */
  readonly tracing: Tracing | undefined;
  /** Authenticates a request; undefined without authentication. @throws UnauthorizedError (`unauthorized`) */
  readonly authenticate: UserHooks["authenticate"];
  /** Asks the handlers of LangGraph's `Auth`; undefined without them. @internal */
  readonly authorize: UserHooks["authorize"];
  /** The SDK that serves /mcp; undefined while the setting mcp is off. @internal */
  readonly mcpSdk: object | undefined;
  /** The SDK that serves /a2a; undefined while the setting a2a is off. @internal */
  readonly a2aSdk: object | undefined;

  /** The storage of threads: scheme, and location without passwords. */
  readonly storage: Pick<Storage, "scheme" | "durable" | "location">;

  readonly #context: EngineContext;
  /** Undefined until the first use of runs. */
  #live: LiveRuns | undefined;
  #queue: EngineContext["queue"] | undefined;
  readonly #sources: GraphSources;
  /** Undefined in the modes `edit` and `read`. */
  readonly #maintenance: Maintenance | undefined;
  readonly #langgraphVersion: string;
  readonly #standIns: boolean;
  readonly #hooks: UserHooks | undefined;
  readonly #beforeClose: (() => Promise<void>)[] = [];
  readonly #closed: () => void;
  readonly #listeners = new Set<(event: ServiceEvent) => void>();
  #closing: Promise<void> | undefined;

  /** @internal Use `openService`. */
  constructor(
    settings: Settings,
    sources: GraphSources,
    context: OpsContext,
    { cwd, standIns, maintains, cutOffs, makeQueue, hooks, mcpSdk, a2aSdk, closed }: ServiceParts,
  ) {
    // During a shutdown, leave interrupted runs to other processes.
    const policy = () => (this.#closing && cutOffs === "resume" ? "leave" : cutOffs);
    const engine = withParts(context, {
      recover: (options?: RecoverOptions) => recoverRuns(engine, policy, options),
      requeues: cutOffs === "resume" || cutOffs === "queue",
    }) as EngineContext;
    addLazily(engine, "queue", () => (this.#queue = makeQueue?.(engine) ?? new InProcessQueue(engine)));
    addLazily(engine, "live", () => {
      this.#live = new LiveRuns(context);
      if (this.#closing) this.#live.stopAccepting();
      return this.#live;
    });
    super(engine);
    const deadRuns = context.metrics && context.storage.deadRuns;
    if (deadRuns) context.metrics?.deadRunsKept(() => deadRuns.count());
    context.metrics?.framesKept(() => this.keptFrameBytes);
    this.storage = context.storage;
    this.#hooks = hooks;
    this.authenticate = hooks?.authenticate;
    this.authorize = hooks?.authorize;
    this.mcpSdk = mcpSdk;
    this.a2aSdk = a2aSdk;
    this.#closed = closed;
    this.#standIns = standIns;
    this.#langgraphVersion = langgraphVersion(cwd) ?? "unknown";
    this.settings = settings;
    this.logger = context.logger;
    this.metrics = context.metrics;
    this.tracing = context.tracing;
    this.#context = engine;
    this.#sources = sources;
    if (maintains) this.#maintenance = new Maintenance(engine);
  }

  /** @internal */
  async start(): Promise<this> {
    await this.#maintenance?.start();
    await this.#context.registry.reportHeld();
    return this;
  }

  /**
   * The operations on behalf of one caller, who cannot access threads and memory of others.
   * @param caller the user; undefined without authentication
   * @param within the run of this service whose graph calls the operations
   * @param trace the span of the request, as a `traceparent`
   * @returns the operations, without `close()` and `reload()`
   */
  as(caller: Caller | undefined, within?: OpsContext["within"], trace?: string): CallerService {
    const { settings, logger, metrics } = this;
    return Object.assign(new Operations(withParts(this.#context, { caller, within, trace })), {
      settings,
      logger,
      metrics,
      info: () => this.info(),
      initialMessage: () => this.initialMessage(),
    });
  }

  /** The run whose graph code is currently executing, if this service runs it. @internal */
  currentRun(): { caller: Caller | undefined; within: InProcessRun } | undefined {
    const run = currentRun();
    if (run?.ownerId !== this.#context.ownerId) return undefined;
    return {
      caller: run.caller as Caller | undefined,
      within: { thread_id: run.thread_id, traceparent: run.traceparent },
    };
  }

  /** The user's app, as last loaded, which receives requests before the routes. */
  get httpApp(): UserHooks["httpApp"] {
    return this.#hooks?.httpApp;
  }

  /** Identity of the server (docs/specification.md#requests-and-answers). */
  info(): ServerInfo {
    return serverInfo(this.#langgraphVersion, this.settings);
  }

  /** The setting welcome_message, and the version of this package. */
  initialMessage(): InitialMessage {
    return { message: this.settings.welcome_message, version: VERSION };
  }

  /** The recorded calls of runs; undefined if the storage cannot keep them. @internal */
  get recordings(): RecordingTable | undefined {
    return this.#context.storage.recordings;
  }

  /** Bytes of frames retained in memory for readers; at most the setting `max_kept_frame_bytes`. */
  get keptFrameBytes(): number {
    return this.#live?.budget.bytes ?? 0;
  }

  /** Notices from loading the graphs, for instance that a graph's own checkpointer is not used. */
  get notices(): readonly string[] {
    return this.#sources.notices;
  }

  /**
   * The load error of the graph that a thread with this metadata belongs to; undefined if the graph loaded. The error of a
   * factory is available once the thread has been read.
   * @param metadata metadata of a thread, which names its graph
   * @returns the error, or undefined
   */
  graphFault(metadata: { graph_id?: unknown }): GraphLoadError | undefined {
    const { registry } = this.#context;
    return registry.faultOf(registry.graphIdOf(metadata));
  }

  /** Load errors by graph id, with source positions and excerpts. */
  graphFaults(): Map<string, GraphLoadError> {
    const { registry } = this.#context;
    const faults = new Map<string, GraphLoadError>();
    for (const id of registry.ids) {
      const fault = registry.faultOf(id);
      if (fault) faults.set(id, fault);
    }
    return faults;
  }

  /** Ids of the served graphs, the default first. */
  get graphIds(): readonly string[] {
    return this.#context.registry.ids;
  }

  /** Summaries of the served graphs, the default first. */
  graphs(): Promise<GraphSummary[]> {
    return graphSummaries(this.#context.registry);
  }

  /**
   * Reloads the graph files, the auth function, the app, the embedding function and the migrations. Runs in flight finish on the graph they started with. If a file
   * fails to load, its last loaded version stays in use.
   * @returns with `standIns`: load errors by graph id; the other graphs are reloaded
   * @throws GraphLoadError without `standIns` (`graph_load_failed`)
   */
  async reload(): Promise<Map<string, GraphLoadError>> {
    const graphs = await (this.#standIns ? this.#sources.loadEach() : this.#sources.load());
    await this.#hooks?.reload();
    await this.#context.migrations?.reload();
    this.#context.registry.replace(graphs);
    this.#notify("reloaded");
    return new Map([...graphs].flatMap(([id, each]) => (each.kind === "fault" ? [[id, each.fault]] : [])));
  }

  /**
   * Subscribes to service events. Returns a function that unsubscribes.
   * @param listener called with each event
   * @returns a function that unsubscribes
   */
  listen(listener: (event: ServiceEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(event: ServiceEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Absolute paths of the modules of graphs, auth function, app and migrations, and of every project file they import. */
  watchedFiles(): string[] {
    const { migrations } = this.#context;
    return [...this.#sources.files, ...(this.#hooks?.files ?? []), ...(migrations?.files ?? [])];
  }

  /**
   * Deletes or prunes threads whose time to live has ended by `at` (ISO 8601), and old keys. Runs automatically every minute.
   * @param at the current time, ISO 8601; default: now
   */
  async sweep(at?: string): Promise<void> {
    await sweep(this.#context, at);
  }

  /**
   * Fires the timers that are due at `at` (ISO 8601). A maintaining service fires them automatically.
   * @param at the current time, ISO 8601; default: now
   */
  async fireDue(at?: string): Promise<void> {
    const { fireDue } = await import("../scheduling/timekeeper.js");
    await fireDue(this.#context, at);
  }

  /**
   * Runs that dead processes left unfinished, optionally of one thread. Does not settle them: opening a service that
   * maintains the storage does.
   * @param threadId UUID of the thread; default: all threads
   * @returns the runs, with the processes that owned them
   */
  cutOffRuns(threadId?: string): Promise<UnfinishedRun[]> {
    return interruptedRuns(this.#context, { threadId });
  }

  /** Problems that the storage reports about its setup. */
  async storageFindings(): Promise<StorageFinding[]> {
    const { storage } = this.#context;
    const [findings = [], clock] = await Promise.all([storage.findings?.(), clockFinding(storage)]);
    return clock ? [...findings, clock] : findings;
  }

  /** What compares items in searches of the store by query; undefined without the setting store_index. @internal */
  async vectorSearch(): Promise<{ name: string } | { reason: string } | undefined> {
    const { store_index } = this.settings;
    if (!store_index) return undefined;
    const { formatOf } = await import("../storage/item-index.js");
    const { items, scheme } = this.#context.storage;
    return (
      (await items?.openVectorSearch?.(formatOf(store_index))) ?? { reason: `${scheme} has no vector search` }
    );
  }

  /** Threads that the next sweep removes or prunes, at most `limit`. Nothing is changed. @internal */
  expiredThreads(limit: number): Promise<Pick<ThreadRow, "thread_id" | "ttl">[]> {
    return this.#context.storage.threads.expired(new Date().toISOString(), limit);
  }

  /**
   * Stops accepting runs, gives those in flight time to end, settles their rows and closes the storage. Idempotent.
   * @param graceSeconds time for runs in flight, in seconds; default: the setting shutdown_grace_seconds
   */
  close(graceSeconds: number = this.settings.shutdown_grace_seconds): Promise<void> {
    this.#closing ??= this.#close(graceSeconds);
    return this.#closing;
  }

  /** Calls `work` when the service closes: after the last run, and before the storage is closed. @internal */
  beforeClose(work: () => Promise<void>): void {
    this.#beforeClose.push(work);
  }

  async #close(graceSeconds: number): Promise<void> {
    this.#live?.stopAccepting();
    this.#maintenance?.stopFiring();
    await this.#queue?.stop();
    await Promise.all([this.#live?.stop(graceSeconds), this.#live?.callers.abort(graceSeconds)]);
    this.#notify("closing");
    await this.#maintenance?.stop();
    // Runs that were being claimed or accepted meanwhile.
    await this.#live?.stop(0);
    this.#queue?.notify();
    for (const work of this.#beforeClose) await work();
    await this.#context.frames?.close();
    await this.#context.tracing?.close();
    await this.#context.recorder?.close();
    await this.#context.storage.close();
    this.#closed();
  }
}
