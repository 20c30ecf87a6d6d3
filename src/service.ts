/** Composition root: settings, graphs and storage become the service that HTTP, the CLI and embedders call. */
import { resolve } from "node:path";
import { parseGraphTarget } from "./config/graph-target.js";
import { defaultSettings, type Settings } from "./config/settings.js";
import { type GraphSource, GraphSources } from "./graphs/load.js";
import { provideSdkLogger } from "./graphs/sdk-logger.js";
import type { Authenticate, Caller } from "./models/caller.js";
import type { InitialMessage, ServerInfo } from "./models/info.js";
import type { RunActivity } from "./models/run-activity.js";
import { createContext, type OpsContext } from "./ops/context.js";
import { type EngineContext, LiveRuns } from "./ops/live-runs.js";
import { Maintenance, sweepThreads } from "./ops/maintenance.js";
import { Operations } from "./ops/operations.js";
import { cutOffRuns } from "./ops/recovery.js";
import { graphSummaries, type GraphSummary, serverInfo } from "./service-facts.js";
import { observeStorage } from "./storage/observed.js";
import { openStorage } from "./storage/open.js";
import type { Storage, StorageFinding, UnfinishedRun } from "./storage/storage.js";
import { ConfigError, type GraphLoadError } from "./support/errors.js";
import { type Logger, silentLogger, sturdyLogger } from "./support/log.js";
import { type Metrics, openMetrics } from "./support/metrics.js";
import { langgraphVersion } from "./support/user-langgraph.js";
import { VERSION } from "./support/version.js";
import { UserHooks } from "./user-hooks.js";

export type { GraphSummary } from "./service-facts.js";
export type { RunActivity } from "./models/run-activity.js";
export type { StorageFinding, UnfinishedRun } from "./storage/storage.js";
export type { JoinedStream, RunFrame, RunStream, WaitingRun } from "./models/run-stream.js";

interface Circumstances {
  cwd: string;
  /** Whether graphs that do not load are stood in for. */
  standIns: boolean;
  /** Whether the service maintains the storage: recovers, sweeps, and says that it lives. */
  maintains: boolean;
  /** Left out for a service that serves nobody. */
  hooks?: UserHooks;
  /** What is left to undo when the service has closed. */
  closed: () => void;
}

/** The service as one caller has it. */
export type CallerService = Operations &
  Pick<Service, "settings" | "logger" | "metrics" | "info" | "initialMessage">;

/** Graphs, storage and the operations on them. Opened by `openService`, closed by its owner. */
export class Service extends Operations {
  readonly settings: Settings;
  readonly logger: Logger;
  /** Undefined while the setting metrics is off. */
  readonly metrics: Metrics | undefined;
  /** Who sends a request; undefined when nobody is asked. @throws UnauthorizedError (`unauthorized`) */
  readonly authenticate: UserHooks["authenticate"];

  readonly #context: EngineContext;
  readonly #sources: GraphSources;
  /** Undefined for a service that changes only what it is asked to. */
  readonly #maintenance: Maintenance | undefined;
  readonly #langgraphVersion: string;
  readonly #standIns: boolean;
  readonly #hooks: UserHooks | undefined;
  readonly #closed: () => void;
  #closing: Promise<void> | undefined;

  /** @internal Use `openService`. */
  constructor(
    settings: Settings,
    sources: GraphSources,
    context: OpsContext,
    { cwd, standIns, maintains, hooks, closed }: Circumstances,
  ) {
    const engine = { ...context, live: new LiveRuns(context) };
    super(engine);
    this.#hooks = hooks;
    this.authenticate = hooks?.authenticate;
    this.#closed = closed;
    this.#standIns = standIns;
    this.#langgraphVersion = langgraphVersion(cwd) ?? "unknown";
    this.settings = settings;
    this.logger = context.logger;
    this.metrics = context.metrics;
    this.#context = engine;
    this.#sources = sources;
    if (maintains) this.#maintenance = new Maintenance(engine);
  }

  /** @internal */
  async start(): Promise<this> {
    await this.#maintenance?.start();
    return this;
  }

  /** The operations on behalf of one caller: threads and memory of others are as if they were not there. */
  as(caller: Caller): CallerService {
    const { settings, logger, metrics } = this;
    return Object.assign(new Operations({ ...this.#context, caller }), {
      settings,
      logger,
      metrics,
      info: () => this.info(),
      initialMessage: () => this.initialMessage(),
    });
  }

  /** The app that sees requests before the routes do, as it was last loaded. */
  get httpApp(): UserHooks["httpApp"] {
    return this.#hooks?.httpApp;
  }

  /** Identity of the server (docs/specification.md#requests-and-answers). */
  info(): ServerInfo {
    return serverInfo(this.#langgraphVersion);
  }

  initialMessage(): InitialMessage {
    return { message: this.settings.welcome_message, version: VERSION };
  }

  /** Where threads are kept: scheme, and a location without passwords. */
  get storage(): Pick<Storage, "scheme" | "durable" | "location"> {
    return this.#context.storage;
  }

  /** What loading the graphs had to say, for instance that a graph's own checkpointer is not used. */
  get notices(): readonly string[] {
    return this.#sources.notices;
  }

  /**
   * Why the graph that a thread of this metadata belongs to is stood in for; undefined when it loaded. A factory is
   * known to fail once the thread was read.
   */
  graphFault(metadata: { graph_id?: unknown }): GraphLoadError | undefined {
    const { registry } = this.#context;
    return registry.faultOf(registry.graphIdOf(metadata));
  }

  /** Why graphs are stood in for, by graph id, each with its place and the lines there. */
  graphFaults(): Map<string, GraphLoadError> {
    const { registry } = this.#context;
    const faults = new Map<string, GraphLoadError>();
    for (const id of registry.ids) {
      const fault = registry.faultOf(id);
      if (fault) faults.set(id, fault);
    }
    return faults;
  }

  /** The graphs served, default first. */
  graphs(): Promise<GraphSummary[]> {
    return graphSummaries(this.#context.registry);
  }

  /**
   * Load the graph files, the auth function and the app anew. Runs in flight finish on the graph they began with;
   * when a file does not load, what was last good goes on serving.
   * @returns why graphs do not load, by graph id, where such are stood in for: the others are served anew then
   * @throws GraphLoadError where they are not (`graph_load_failed`)
   */
  async reload(): Promise<Map<string, GraphLoadError>> {
    const graphs = await (this.#standIns ? this.#sources.loadEach() : this.#sources.load());
    await this.#hooks?.reload();
    this.#context.registry.replace(graphs);
    return new Map([...graphs].flatMap(([id, each]) => (each.kind === "fault" ? [[id, each.fault]] : [])));
  }

  /** Absolute paths of the graph files, the auth function's, the app's, and every file of the project they import. */
  watchedFiles(): string[] {
    return [...this.#sources.files, ...(this.#hooks?.files ?? [])];
  }

  /** Delete or prune the threads whose time to live has ended by `at` (ISO 8601); also done every minute. */
  async sweep(at?: string): Promise<void> {
    await sweepThreads(this.#context, at);
  }

  /**
   * Runs that a dead process left unfinished, of one thread where it is named, none of them settled yet: opening a
   * writing service settles them.
   */
  cutOffRuns(threadId?: string): Promise<UnfinishedRun[]> {
    return cutOffRuns(this.#context, threadId);
  }

  /** What the storage has to say of its own setup. */
  async storageFindings(): Promise<StorageFinding[]> {
    return (await this.#context.storage.findings?.()) ?? [];
  }

  /** Stop accepting runs, give those in flight `graceSeconds`, settle their rows, close the storage. Safe to repeat. */
  close(graceSeconds: number = this.settings.shutdown_grace_seconds): Promise<void> {
    this.#closing ??= this.#close(graceSeconds);
    return this.#closing;
  }

  async #close(graceSeconds: number): Promise<void> {
    this.#context.live.stopAccepting();
    await this.#context.live.stop(graceSeconds);
    await this.#maintenance?.stop();
    await this.#context.storage.close();
    this.#closed();
  }
}

/**
 * Load the graphs, open the storage, recover what an earlier process left, and serve.
 * @throws ConfigError, GraphLoadError, StorageUnavailableError
 */
export async function openService(options: ServiceOptions): Promise<Service> {
  const logger = sturdyLogger(options.logger ?? silentLogger);
  // Graphs may ask for it while they are loaded.
  const closed = provideSdkLogger(logger);
  try {
    return await open(options, logger, closed);
  } catch (error) {
    closed();
    throw error;
  }
}

async function open(options: ServiceOptions, logger: Logger, closed: () => void): Promise<Service> {
  const cwd = resolve(options.cwd ?? ".");
  const settings: Settings = Object.freeze({
    ...defaultSettings(options.settings?.compat),
    ...options.settings,
  });
  const { readOnly = false, passive = readOnly, standIns = readOnly, unfiltered, authenticate } = options;
  const { callFactories, serves = !standIns } = options;
  if (authenticate && !serves) {
    throw new ConfigError("authenticate is given to a service that serves nobody", {
      hint: "open it with openService({ serves: true })",
    });
  }
  const sources = new GraphSources(sourcesOf(options.graphs ?? settings.graphs), { cwd, callFactories });
  assertServable(settings, sources.ids, { mayBeEmpty: !serves });
  const graphs = await (standIns ? sources.loadEach() : sources.load());
  const hooks = serves ? await UserHooks.open({ settings, authenticate, cwd }, logger) : undefined;
  const metrics = settings.metrics && serves ? openMetrics(cwd) : undefined;
  const opened = options.storage ?? (await openStorage({ ...settings, cwd, readOnly }));
  const storage = metrics ? observeStorage(opened, metrics.storageCalled) : opened;
  try {
    const watch = options.onActivity && (await watchWith(options.onActivity));
    const context = createContext({
      settings,
      graphs,
      storage,
      logger,
      standIns,
      unfiltered,
      metrics,
      watch,
    });
    const circumstances = { cwd, standIns, maintains: !passive, hooks, closed };
    return await new Service(settings, sources, context, circumstances).start();
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** Loaded only where somebody watches. */
async function watchWith(tell: (activity: RunActivity) => void): Promise<OpsContext["watch"]> {
  const { RunWatch } = await import("./graphs/run-watch.js");
  return (run) => new RunWatch(run, tell);
}

// What a service is opened with, and whether that can be served.

export interface ServiceOptions {
  /** Settings that differ from the defaults. */
  settings?: Partial<Settings>;
  /**
   * The graphs to serve, by assistant id, the default first: a compiled graph, a factory, or `path:export`. Left out,
   * `settings.graphs` says it.
   */
  graphs?: Readonly<Record<string, unknown>>;
  /** Folder that relative paths start from; the working directory when left out. */
  cwd?: string;
  /** Verifies who sends a request, as the setting `auth` does; users then have threads and memory of their own. */
  authenticate?: Authenticate;
  /** An open storage to use instead of the one that the settings name; closed with the service. */
  storage?: Storage;
  /** Anything with pino's methods; nothing is logged when left out. */
  logger?: Logger;
  /** Only look: nothing is recovered, swept, created or changed. Graphs are stood in for as `standIns` says. */
  readOnly?: boolean;
  /** Change what is asked for and nothing else: nothing is recovered or swept, and no heartbeat is sent. */
  passive?: boolean;
  /** Go on without the graphs that do not load: their threads can be read, not run. */
  standIns?: boolean;
  /** Whether requests of others come: then there has to be a graph, users are verified, and figures are kept. */
  serves?: boolean;
  /** Call each factory when the graphs are loaded, as for a run without configuration: one that throws is found then. */
  callFactories?: boolean;
  /** Show every key of the state, also those that the graphs' output schemas hide. */
  unfiltered?: boolean;
  /** Told what each run does, node by node, unfiltered. It costs time in every node of every run. */
  onActivity?: (activity: RunActivity) => void;
}

/** Where each graph comes from: a text names a file and an export. */
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
