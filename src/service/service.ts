/** Composition root: creates the service that HTTP, the CLI and embedders use from settings, graphs and a storage. */
import { resolve } from "node:path";
import { assertMetrics } from "../config/metrics-settings.js";
import { parseGraphTarget } from "../config/graph-target.js";
import { assertQueue } from "../config/queue-settings.js";
import { defaultSettings, type Settings } from "../config/settings.js";
import { type GraphSource, GraphSources } from "../graphs/load.js";
import { Migrations } from "../graphs/versions/migrations.js";
import { provideSdkLogger } from "../graphs/sdk-logger.js";
import type { Caller } from "../models/caller.js";
import type { InitialMessage, ServerInfo } from "../models/info.js";
import { clockFinding } from "../context/clock.js";
import { addLazily, createContext, type OpsContext, withParts } from "../context/context.js";
import { type EngineContext, LiveRuns } from "../runs/live-runs.js";
import { Maintenance, sweep } from "../operations/maintenance.js";
import { Operations } from "../operations/operations.js";
import { type RecoveryPolicy, recoverRuns } from "../coordination/recover.js";
import { InProcessQueue } from "../coordination/in-process-queue.js";
import { interruptedRuns, type RecoverOptions } from "../runs/run-owners.js";
import type { ServiceOptions } from "./options.js";
import { graphSummaries, type GraphSummary, serverInfo } from "./info.js";
import { a2aSdkOf, mcpSdkOf, queueMaker, settingsOfWorker, shareFrames, watchWith } from "./parts.js";
import { observeStorage } from "../storage/observed.js";
import { openStorage } from "../storage/open.js";
import type { Storage, StorageFinding, ThreadRow, UnfinishedRun } from "../storage/contract/storage.js";
import { ConfigError, type GraphLoadError } from "../support/errors.js";
import { type Logger, silentLogger, safeLogger } from "../support/log.js";
import { type Metrics, openMetrics } from "../support/metrics.js";
import { type Budgets, budgetsOf } from "../support/budgets/budget.js";
import { pricesOf } from "../context/prices.js";
import { openTracing, type Tracing } from "../tracing/tracing.js";
import { currentRun } from "../support/event-loop.js";
import { provideSdkFetch } from "../support/sdk-fetch.js";
import { langgraphVersion } from "../support/user-langgraph.js";
import { VERSION } from "../support/version.js";
import { UserHooks } from "./user-hooks.js";

export type { GraphSummary } from "./info.js";
export type { ServiceOptions } from "./options.js";
export type { RunActivity } from "../models/run-activity.js";
export type { StorageFinding, UnfinishedRun } from "../storage/contract/storage.js";
export type { FrameStream, JoinedStream, RunFrame, RunStream, WaitingRun } from "../models/run-stream.js";

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
  currentRun(): { caller: Caller | undefined; within: { thread_id: string } } | undefined {
    const run = currentRun();
    if (run?.ownerId !== this.#context.ownerId) return undefined;
    return { caller: run.caller as Caller | undefined, within: { thread_id: run.thread_id } };
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

  /** The storage of threads: scheme, and location without passwords. */
  get storage(): Pick<Storage, "scheme" | "durable" | "location"> {
    return this.#context.storage;
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
   * Reloads the graph files, the auth function, the app and the migrations. Runs in flight finish on the graph they started with. If a file
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
    await this.#context.frames?.close();
    await this.#context.tracing?.close();
    await this.#context.recorder?.close();
    await this.#context.storage.close();
    this.#closed();
  }
}

/**
 * Loads the graphs, opens the storage and recovers the runs of earlier processes.
 * @param options graphs, settings and hooks
 * @returns the open service; close it with `close()`
 * @throws ConfigError for invalid settings or options (`config_invalid`)
 * @throws GraphLoadError for a graph that cannot be loaded (`graph_load_failed`)
 * @throws StorageUnavailableError if the storage cannot be reached (`storage_unavailable`)
 * @example
 * ```ts
 * import { openService } from "graph-serve";
 * import { graph } from "./graph.js";
 *
 * const service = await openService({ graphs: { agent: graph } });
 * const { thread_id } = await service.threads.create({});
 * const run = await service.runs.create(thread_id, { assistant_id: "agent", input: { name: "Ada" } });
 * run.status; // => "success"
 * await service.close();
 * ```
 */
export async function openService(options: ServiceOptions): Promise<Service> {
  const logger = safeLogger(options.logger ?? silentLogger);
  const sources = sourcesOf(options.graphs ?? options.settings?.graphs ?? {});
  // Graph modules may use these globals while they are loaded.
  const closed = sources.size > 0 ? provideToGraphs(logger) : () => undefined;
  try {
    return await open(options, sources, logger, closed);
  } catch (error) {
    closed();
    throw error;
  }
}

/** Provides globals that graphs use. Returns a function that removes them. */
function provideToGraphs(logger: Logger): () => void {
  const withdrawals = [provideSdkLogger(logger), provideSdkFetch()];
  return () => withdrawals.forEach((withdraw) => withdraw());
}

async function open(
  options: ServiceOptions,
  named: ReadonlyMap<string, GraphSource>,
  logger: Logger,
  closed: () => void,
): Promise<Service> {
  const cwd = resolve(options.cwd ?? ".");
  const given: Settings = { ...defaultSettings(options.settings), ...options.settings };
  const settings = Object.freeze(given.role === "worker" ? settingsOfWorker(given) : given);
  const { mode = "serve", unfiltered, authenticate, callFactories, onThreadRemoved } = options;
  const [serves, readOnly, maintains] = [
    mode === "serve",
    mode === "read",
    mode === "serve" || mode === "run",
  ];
  const standIns = Boolean(options.standIns ?? readOnly);
  // Without placeholders, runs are executed as by a server.
  const executes = serves || !standIns;
  if (authenticate && !serves) throw acceptsNoRequests();
  const sources = new GraphSources(named, { cwd, callFactories });
  assertServable(settings, sources.ids, { mayBeEmpty: !executes });
  const existing = options.standIns === "existing";
  const graphs = await (standIns ? sources.loadEach({ existing }) : sources.load());
  const hooks = serves ? await UserHooks.open({ settings, authenticate, cwd }, logger) : undefined;
  const { metrics, ...sdks } = serves ? await servedParts(cwd, settings) : NO_PARTS;
  const tracing = executes ? tracingOf(cwd, settings, logger, metrics) : undefined;
  const hasQueue = executes && maintains;
  if (hasQueue) assertQueue(settings);
  const opened = options.storage ?? (await openStorage({ ...settings, cwd, readOnly }));
  for (const notice of opened.notices ?? []) logger.warn({ scheme: opened.scheme }, notice);
  const storage = metrics ? observeStorage(opened, metrics.storageCalled) : opened;
  let frames: OpsContext["frames"];
  try {
    const watch = options.onActivity && (await watchWith(options.onActivity));
    frames = executes && !readOnly ? await shareFrames(settings, logger, metrics) : undefined;
    const priceOf = maintains ? pricesOf(settings.prices, cwd) : undefined;
    const budgets = requiredBudgets(settings, storage);
    const migrations = await Migrations.open(settings.migrations, cwd, { isLazy: standIns });
    const served = { serves: executes, migrations, frames, metrics, tracing, priceOf, budgets, watch };
    const parts = { settings, graphs, storage, logger, standIns, unfiltered, onThreadRemoved, ...served };
    const makeQueue = hasQueue ? await queueMaker(settings, opened, { cwd, logger }) : undefined;
    const context = createContext(parts);
    const defaultPolicy = maintains ? (makeQueue ? "queue" : "resume") : "leave";
    const serviceParts = {
      cwd,
      standIns,
      maintains,
      cutOffs: settings.resume_runs ? (options.cutOffs ?? defaultPolicy) : "end",
      makeQueue,
      hooks,
      ...sdks,
      closed,
    } as const;
    return await new Service(settings, sources, context, serviceParts).start();
  } catch (error) {
    await frames?.close();
    await storage.close();
    throw error;
  }
}

const acceptsNoRequests = () =>
  new ConfigError("the option authenticate requires a service that accepts requests", {
    hint: 'open it with openService({ mode: "serve" })',
  });

/** @throws ConfigError if the storage does not record usage (`config_invalid`) */
function requiredBudgets({ budgets }: Settings, storage: Storage): Budgets | undefined {
  if (!budgets) return undefined;
  if (storage.usage) return budgetsOf(budgets);
  throw new ConfigError(`budgets need a storage that records usage, and ${storage.scheme} does not`, {
    hint: "remove budgets, or use a storage of graph-serve",
  });
}

function tracingOf(cwd: string, settings: Settings, logger: Logger, metrics: Metrics | undefined) {
  const onExport = (spans: number, isAccepted: boolean) => metrics?.spansExported(spans, isAccepted);
  return openTracing(cwd, settings, { onExport, warn: (message) => logger.warn({}, message) });
}

/** What settings enable for clients, from optional packages of the project. */
async function servedParts(cwd: string, settings: Settings) {
  assertMetrics(settings);
  return {
    metrics: settings.metrics ? openMetrics(cwd) : undefined,
    mcpSdk: settings.mcp ? await mcpSdkOf(cwd) : undefined,
    a2aSdk: settings.a2a ? await a2aSdkOf(cwd) : undefined,
  };
}

const NO_PARTS = { metrics: undefined, mcpSdk: undefined, a2aSdk: undefined };

/** The source of each graph: a string names a file and an export. */
function sourcesOf(graphs: Readonly<Record<string, unknown>>): ReadonlyMap<string, GraphSource> {
  const entries = Object.entries(graphs).map(([id, value]): [string, GraphSource] => [
    id,
    typeof value === "string" ? { kind: "file", ...parseGraphTarget(value) } : { kind: "value", value },
  ]);
  return new Map(entries);
}

/** @throws ConfigError (`config_invalid`) */
function assertServable(
  { default_assistant_id }: Settings,
  ids: readonly string[],
  { mayBeEmpty }: { mayBeEmpty: boolean },
): void {
  if (ids.length === 0) {
    if (mayBeEmpty) return;
    throw new ConfigError("there is no graph to serve", {
      hint: "name one: graph-serve dev ./graph.ts, or `graphs` in the configuration",
    });
  }
  if (default_assistant_id !== undefined && !ids.includes(default_assistant_id)) {
    throw new ConfigError(
      `default_assistant_id "${default_assistant_id}" is not a key of graphs: ${ids.join(", ")}`,
    );
  }
}
