/** Composition root: settings, graphs and storage become the service that HTTP, the CLI and embedders call. */
import { resolve } from "node:path";
import { AuthHook } from "./auth-hook.js";
import { defaultSettings, type Settings } from "./config/settings.js";
import type { GraphServeError } from "./errors.js";
import { graphSummary, type GraphOutline } from "./graphs/draw.js";
import { GraphSources } from "./graphs/sources.js";
import { loadWithStandIns } from "./graphs/stand-ins.js";
import { langgraphVersion } from "./user-langgraph.js";
import { silentLogger, type Logger } from "./log.js";
import { openMetrics, type Metrics } from "./metrics.js";
import type { AuthRequest, Caller } from "./models/caller.js";
import type { InitialMessage, ServerInfo } from "./models/info.js";
import { createContext, type OpsContext } from "./ops/context.js";
import { createOperations, type Operations } from "./ops/operations.js";
import { RunTasks } from "./ops/run-tasks.js";
import { Upkeep } from "./ops/upkeep.js";
import { assertServable, sourcesOf, type ServiceOptions } from "./service-options.js";
import { observeStorage } from "./storage/observed.js";
import { openStorage } from "./storage/open.js";
import type { Storage, StorageFinding, UnfinishedRun } from "./storage/storage.js";
import { VERSION } from "./version.js";

export type { ServiceOptions } from "./service-options.js";
export type { StorageFinding, UnfinishedRun } from "./storage/storage.js";
export type { RunFrame, RunStream, WaitingRun } from "./models/run-stream.js";

/** What a banner or a check list says of a graph. */
export interface GraphSummary extends GraphOutline {
  id: string;
  /** `path:export`, when it was loaded from a file. */
  source?: string;
}

type GraphFaults = ReadonlyMap<string, GraphServeError>;
const NO_FAULTS: GraphFaults = new Map();

interface Circumstances {
  cwd: string;
  /** Why graphs are stood in for, by graph id. */
  faults: GraphFaults;
  /** Whether the service keeps house: recovers, sweeps, and says that it lives. */
  keepsHouse: boolean;
  auth: AuthHook | undefined;
}

/** The service as one caller has it. */
export interface CallerService
  extends Operations, Pick<Service, "settings" | "logger" | "metrics" | "info" | "initialMessage"> {}

/** Graphs, storage and the operations on them. Opened by `openService`, closed by its owner. */
export class Service implements Operations {
  readonly settings: Settings;
  readonly logger: Logger;
  /** Undefined while the setting metrics is off. */
  readonly metrics: Metrics | undefined;
  readonly assistants: Operations["assistants"];
  readonly threads: Operations["threads"];
  readonly state: Operations["state"];
  readonly runs: Operations["runs"];
  readonly joins: Operations["joins"];
  readonly cancels: Operations["cancels"];
  readonly stateless: Operations["stateless"];
  readonly store: Operations["store"];
  readonly readiness: Operations["readiness"];
  /** Who sends a request; undefined when nobody is asked. @throws UnauthorizedError (`unauthorized`) */
  readonly authenticate: ((request: AuthRequest) => Promise<Caller>) | undefined;

  readonly #context: OpsContext;
  readonly #sources: GraphSources;
  readonly #tasks: RunTasks;
  readonly #upkeep: Upkeep;
  readonly #langgraphVersion: string;
  readonly #faults: GraphFaults;
  readonly #auth: AuthHook | undefined;
  readonly #keepsHouse: boolean;
  #closing: Promise<void> | undefined;

  /** @internal Use `openService`. */
  constructor(
    settings: Settings,
    sources: GraphSources,
    context: OpsContext,
    { cwd, faults, keepsHouse, auth }: Circumstances,
  ) {
    this.#auth = auth;
    this.authenticate = auth && ((request) => auth.callerOf(request));
    this.#faults = faults;
    this.#keepsHouse = keepsHouse;
    this.#langgraphVersion = langgraphVersion(cwd) ?? "unknown";
    this.settings = settings;
    this.logger = context.logger;
    this.metrics = context.metrics;
    this.#context = context;
    this.#sources = sources;
    this.#tasks = new RunTasks(context);
    const operations = createOperations(context, this.#tasks);
    this.assistants = operations.assistants;
    this.threads = operations.threads;
    this.state = operations.state;
    this.runs = operations.runs;
    this.joins = operations.joins;
    this.cancels = operations.cancels;
    this.stateless = operations.stateless;
    this.store = operations.store;
    this.readiness = operations.readiness;
    this.#upkeep = new Upkeep(context, this.#tasks, this.threads);
  }

  /** @internal */
  async start(): Promise<this> {
    if (this.#keepsHouse) await this.#upkeep.start();
    return this;
  }

  /** The operations on behalf of one caller: threads and memory of others are as if they were not there. */
  as(caller: Caller): CallerService {
    const { settings, logger, metrics } = this;
    return {
      ...createOperations({ ...this.#context, caller }, this.#tasks),
      settings,
      logger,
      metrics,
      info: () => this.info(),
      initialMessage: () => this.initialMessage(),
    };
  }

  /** Identity of the server (spec, Health and info). */
  info(): ServerInfo {
    return {
      status: "ok",
      name: "graph-serve",
      version: VERSION,
      langgraph_js_version: this.#langgraphVersion,
      context: "js",
      flags: { assistants: true, crons: false, langsmith: false },
    };
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
  graphFault(metadata: { graph_id?: unknown }): GraphServeError | undefined {
    return this.#faults.get(this.#context.registry.graphIdOf(metadata));
  }

  /** The graphs served, default first. */
  async graphs(): Promise<GraphSummary[]> {
    const { registry } = this.#context;
    return Promise.all(
      registry.ids.map(async (id) => {
        const { graph } = await registry.graph(id);
        return { id, source: registry.sourceOf(id), ...graphSummary(graph) };
      }),
    );
  }

  /**
   * Load the graph files anew, and the auth function. Runs in flight finish on the graph they began with; when a file does not load, the
   * last good graphs go on serving.
   * @throws GraphLoadError (`graph_load_failed`)
   */
  async reload(): Promise<void> {
    const graphs = await this.#sources.load();
    await this.#auth?.reload();
    this.#context.registry.replace(graphs);
  }

  /** Absolute paths of the graph files, the auth function's, and every file of the project they import. */
  watchedFiles(): string[] {
    return [...this.#sources.files, ...(this.#auth?.files ?? [])];
  }

  /** Delete or prune the threads whose time to live has ended by `at` (ISO 8601); also done every minute. */
  async sweep(at?: string): Promise<void> {
    await this.#upkeep.sweep(at);
  }

  /** Runs that a dead process left unfinished, none of them settled yet: opening a writing service settles them. */
  cutOffRuns(): Promise<UnfinishedRun[]> {
    return this.#upkeep.cutOff();
  }

  /** What the storage has to say of its own setup. */
  storageFindings(): StorageFinding[] {
    return this.#context.storage.findings?.() ?? [];
  }

  /** Stop accepting runs, give those in flight `graceSeconds`, settle their rows, close the storage. Safe to repeat. */
  close(graceSeconds: number = this.settings.shutdown_grace_seconds): Promise<void> {
    this.#closing ??= this.#close(graceSeconds);
    return this.#closing;
  }

  async #close(graceSeconds: number): Promise<void> {
    this.#tasks.stopAccepting();
    await this.#tasks.stop(graceSeconds);
    if (this.#keepsHouse) await this.#upkeep.stop();
    await this.#context.storage.close();
  }
}

/**
 * Load the graphs, open the storage, recover what an earlier process left, and serve.
 * @throws ConfigError, GraphLoadError, StorageUnavailableError
 */
export async function openService(options: ServiceOptions): Promise<Service> {
  const cwd = resolve(options.cwd ?? ".");
  const logger = options.logger ?? silentLogger;
  const settings: Settings = Object.freeze({ ...defaultSettings(), ...options.settings });
  const sources = new GraphSources(sourcesOf(options.graphs ?? settings.graphs), cwd);
  const { readOnly = false, passive = readOnly, standIns = readOnly } = options;
  assertServable(settings, sources.ids, { mayBeEmpty: standIns });
  const { graphs, faults } = standIns
    ? await loadWithStandIns(sources)
    : { graphs: await sources.load(), faults: NO_FAULTS };
  const hook = standIns ? undefined : (options.authenticate ?? settings.auth);
  const auth = hook === undefined ? undefined : await AuthHook.open(hook, cwd, logger);
  const metrics = settings.metrics && !standIns ? openMetrics(cwd) : undefined;
  const opened = options.storage ?? (await openStorage({ ...settings, cwd, readOnly }));
  const storage = metrics ? observeStorage(opened, metrics.storageCalled) : opened;
  try {
    const { unfiltered } = options;
    const context = createContext({ settings, graphs, storage, logger, unfiltered, metrics });
    return await new Service(settings, sources, context, { cwd, faults, keepsHouse: !passive, auth }).start();
  } catch (error) {
    await storage.close();
    throw error;
  }
}
