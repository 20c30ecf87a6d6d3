/** Composition root: opens the service that HTTP, the CLI and embedders use from settings, graphs and a storage. */
import { resolve } from "node:path";
import { assertMetrics } from "../config/metrics-settings.js";
import { parseGraphTarget } from "../config/graph-target.js";
import { assertQueue } from "../config/queue-settings.js";
import { schemesWith } from "../config/storage-capabilities.js";
import { defaultSettings, ROUTE_GROUPS, type Settings } from "../config/settings.js";
import { createContext, type OpsContext } from "../context/context.js";
import { pricesOf } from "../context/prices.js";
import { type GraphSource, GraphSources } from "../graphs/load.js";
import { provideSdkLogger } from "../graphs/sdk-logger.js";
import { MigrationFile } from "../graphs/versions/migrations.js";
import type { RunActivity } from "../models/run-activity.js";
import type { EngineContext } from "../runs/live-runs.js";
import type { Storage } from "../storage/contract/storage.js";
import type { ItemIndex } from "../storage/item-index.js";
import { observeStorage } from "../storage/observed.js";
import { openStorage } from "../storage/open.js";
import { type Budgets, budgetsOf } from "../support/budgets/budget.js";
import { ConfigError } from "../support/errors.js";
import { type Logger, safeLogger, silentLogger } from "../support/log.js";
import { type Metrics, openMetrics } from "../support/metrics.js";
import { provideSdkFetch } from "../support/sdk-fetch.js";
import { langsmithNotice } from "../tracing/langsmith.js";
import { openTracing } from "../tracing/tracing.js";
import type { ServiceOptions } from "./options.js";
import { Service } from "./service.js";
import type { EmbeddingHook } from "./embeddings.js";
import { UserHooks } from "./user-hooks.js";

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
  const [serves, readOnly] = [mode === "serve", mode === "read"];
  const maintains = serves || mode === "run";
  const standIns = Boolean(options.standIns ?? readOnly);
  // Without placeholders, runs are executed as by a server.
  const executes = serves || !standIns;
  if (authenticate && !serves) throw acceptsNoRequests();
  const sources = new GraphSources(named, { cwd, callFactories, limitFactories: !serves });
  assertServable(settings, sources.ids, { mayBeEmpty: !executes });
  const existing = options.standIns === "existing";
  const graphs = await (standIns ? sources.loadEach({ existing }) : sources.load());
  const embeddings = executes ? await embeddingsOf(settings, cwd) : undefined;
  const hooks = serves
    ? await UserHooks.open({ settings, authenticate, embeddings, cwd }, logger)
    : undefined;
  const { metrics, ...sdks } = serves ? await servedParts(cwd, settings) : NO_PARTS;
  const traces = executes ? tracesOf(cwd, settings, { logger, metrics, readOnly }) : {};
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
    const migrations = await MigrationFile.open(settings.migrations, cwd, { isLazy: standIns });
    const index = embeddings && (await indexOf(embeddings, storage, logger));
    const observed = { frames, metrics, ...traces, watch };
    const served = { serves: executes, migrations, ...observed, priceOf, budgets, index };
    const parts = { settings, graphs, storage, logger, standIns, unfiltered, onThreadRemoved, ...served };
    const makeQueue = hasQueue ? await queueMaker(settings, opened, { cwd, logger }) : undefined;
    const context = createContext(parts);
    const defaultPolicy = maintains ? (makeQueue ? "queue" : "resume") : "leave";
    const cutOffs = settings.resume_runs ? (options.cutOffs ?? defaultPolicy) : "end";
    const serviceParts = { cwd, standIns, maintains, cutOffs, makeQueue, hooks, ...sdks, closed } as const;
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

/** Nothing is traced without runs. */
function tracesOf(
  cwd: string,
  settings: Settings,
  { logger, metrics, readOnly }: { logger: Logger; metrics: Metrics | undefined; readOnly: boolean },
) {
  const notice = langsmithNotice(process.env);
  if (notice !== undefined) logger.warn({}, notice);
  const onExport = (spans: number, isAccepted: boolean) => metrics?.spansExported(spans, isAccepted);
  const warn = (message: string) => logger.warn({}, message);
  const tracing = readOnly ? undefined : openTracing(cwd, settings, { onExport, warn });
  return { tracing, langsmith: notice !== undefined };
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

// Parts loaded only if a setting or option requires them.

/** Frames shared between processes; undefined if they stay in memory. @throws ConfigError (`config_invalid`) */
async function shareFrames(
  settings: Settings,
  logger: Logger,
  metrics: Metrics | undefined,
): Promise<OpsContext["frames"]> {
  if (settings.stream === "memory") return undefined;
  const { openFrameBus } = await import("../storage/open-frames.js");
  const { SharedFrames } = await import("../frames/shared-frames.js");
  return new SharedFrames(await openFrameBus(settings), logger, metrics);
}

/** Undefined without the setting store_index. @throws ConfigError, GraphLoadError */
async function embeddingsOf({ store_index }: Settings, cwd: string): Promise<EmbeddingHook | undefined> {
  if (!store_index) return undefined;
  const { EmbeddingHook } = await import("./embeddings.js");
  return EmbeddingHook.open(store_index, cwd);
}

/** @throws ConfigError if the storage keeps items, but not their vectors (`config_invalid`) */
async function indexOf(
  embeddings: EmbeddingHook,
  { items, scheme }: Storage,
  logger: Logger,
): Promise<ItemIndex> {
  const index = embeddings.index(logger);
  if (items?.keepsVectors) await index.searchIn(items);
  if (!items || items.keepsVectors) return index;
  throw new ConfigError(`store_index needs a storage that keeps vectors, and ${scheme} does not`, {
    hint: "remove store_index, or use a storage of graph-serve",
  });
}

/** A watch that reports the activity of runs to a listener. */
async function watchWith(listener: (activity: RunActivity) => void): Promise<OpsContext["watch"]> {
  const { RunWatch } = await import("../graphs/stream/run-watch.js");
  return (run) => new RunWatch(run, listener);
}

/** @throws ConfigError if the SDK is missing (`config_invalid`) */
async function mcpSdkOf(cwd: string): Promise<object> {
  const { loadMcpSdk } = await import("../support/mcp-sdk.js");
  return loadMcpSdk(cwd);
}

/** @throws ConfigError if the SDK is missing (`config_invalid`) */
async function a2aSdkOf(cwd: string): Promise<object> {
  const { loadA2aSdk } = await import("../support/a2a-sdk.js");
  return loadA2aSdk(cwd);
}

/** A worker serves only health and metrics routes. */
const settingsOfWorker = (settings: Settings): Settings => ({
  ...settings,
  ...{ studio: false, mcp: false, a2a: false, http_app: undefined },
  disabled_routes: [...ROUTE_GROUPS],
});

/** A factory for the shared queue; undefined without one. @throws ConfigError (`config_invalid`) */
async function queueMaker(
  settings: Settings,
  storage: Storage,
  { cwd, logger }: { cwd: string; logger: Logger },
): Promise<((context: EngineContext) => EngineContext["queue"]) | undefined> {
  if (settings.queue === "none") return undefined;
  if (settings.stream === "memory")
    logger.warn(
      { queue: settings.queue, stream: settings.stream },
      "another process may execute a queued run, and a client here then receives only its last frame: set stream to redis or postgres, unless this is the only process",
    );
  const table = await storage.openQueue?.(cwd);
  if (!table) {
    throw new ConfigError(
      `queue ${settings.queue} needs the storage ${schemesWith("queue")}, and this one is ${storage.scheme}`,
      { hint: "set queue to none, or open the service without the option storage" },
    );
  }
  const { SharedQueue } = await import("../coordination/shared-queue.js");
  return (context) => new SharedQueue(context, table, settings);
}

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
