/** The context that every operation uses: settings, storage, registry, logger and metrics. */
import type { RunWatch } from "../graphs/stream/run-watch.js";
import { GraphRegistry, type RegistryOptions } from "../graphs/registry.js";
import type { Migrations } from "../graphs/versions/migration.js";
import type { Caller } from "../models/caller.js";
import type { MultitaskStrategy, Run } from "../models/run.js";
import type { ItemIndex } from "../storage/item-index.js";
import { ItemStore } from "../storage/item-store.js";
import { createMemoryItems } from "../storage/rows/items-in-memory.js";
import type { Wakeups } from "../storage/contract/queue.js";
import type { ItemTable } from "../storage/contract/items.js";
import type { Storage } from "../storage/contract/storage.js";
import { newId } from "../support/ids.js";
import type { Logger } from "../support/log.js";
import type { Budgets } from "../support/budgets/budget.js";
import type { Metrics } from "../support/metrics.js";
import type { PriceOf } from "../models/model-calls.js";
import type { DefaultTtl } from "../models/thread.js";
import type { Tracing } from "../tracing/tracing.js";
import { type Timers, type TimerSettings, timersOf } from "./timers.js";
import { UsageRecorder } from "./usage-recorder.js";
import { RunCheckpointer } from "./run-checkpointer.js";
import type { SharedFrames } from "../frames/shared-frames.js";

interface OpsSettings extends TimerSettings {
  assistant_name?: string;
  assistant_description?: string;
  /** Descriptions by graph id. */
  graph_descriptions?: Readonly<Record<string, string>>;
  run_timeout_seconds?: number;
  allow_unfiltered_events: boolean;
  hold_messages: boolean;
  direct_streams: boolean;
  compat: "specification" | "langgraph";
  ignore_on_disconnect_continue: boolean;
  on_disconnect: "cancel" | "continue";
  multitask_strategy: MultitaskStrategy;
  multitask_cancel: boolean;
  resume_runs: boolean;
  queue: "none" | "postgres";
  max_attempts: number;
  max_kept_frame_bytes: number;
  max_active_runs: number;
  interrupted_run_status: "interrupted" | "success";
  on_graph_changed: "refuse" | "drop";
  assistants: "configured" | "managed";
  ttl?: DefaultTtl;
}

/** What a storage can do, decided when it is opened. */
interface Capabilities {
  /** Whether a process can take over the runs of another one. If not, only one process uses the storage. */
  takeover: boolean;
  /** Whether usage is recorded. */
  usage: boolean;
}

export interface OpsContext {
  readonly settings: OpsSettings;
  readonly storage: Storage;
  readonly capabilities: Capabilities;
  /** Notifications between processes; without effect if the storage sends none. */
  readonly wakeups: Wakeups;
  /** The checkpointer for graphs. Everything else uses the storage's own. */
  readonly checkpointer: RunCheckpointer;
  readonly registry: GraphRegistry;
  /** Long-term memory of the graphs. `items` is its table. */
  readonly store: ItemStore;
  readonly items: ItemTable;
  /** Scheduled work; undefined unless a setting enables it. */
  readonly timers?: Timers;
  readonly logger: Logger;
  /** Id of this process among those that share the storage. */
  readonly ownerId: string;
  /** The authenticated user; undefined for the server itself. */
  readonly caller?: Caller;
  /** The run whose graph calls the operations through an in-process client. */
  readonly within?: { readonly thread_id: string };
  /** Exports traces; undefined unless the environment or the user's program sets them up. */
  readonly tracing?: Tracing;
  /** Whether LangSmith's own tracing is on. */
  readonly langsmith?: boolean;
  /** Undefined without the setting `budgets`. */
  readonly budgets?: Budgets;
  /** Undefined if the storage does not record usage. */
  readonly recorder?: UsageRecorder;
  /** Undefined without the setting `migrations`. */
  readonly migrations?: Migrations;
  /** Prices of models; undefined if no runs are executed. */
  readonly priceOf?: PriceOf;
  /** The span of the request: a `traceparent`. */
  readonly trace?: string;
  /** Frames shared with other processes; undefined if frames are not shared. */
  readonly frames?: SharedFrames;
  /** Undefined if metrics are off. */
  readonly metrics?: Metrics;
  /** Returns an observer for a run; undefined if runs are not observed. */
  readonly watch?: (run: Run) => RunWatch;
  /** Called with each thread that this process has deleted. */
  readonly onThreadRemoved?: (threadId: string) => void;
}

type RegistrySettings = Pick<
  RegistryOptions,
  "default_assistant_id" | "assistant_namespace" | "list_all_assistants" | "graph_version"
>;

interface ContextParts extends Pick<
  OpsContext,
  | "storage"
  | "logger"
  | "frames"
  | "metrics"
  | "tracing"
  | "langsmith"
  | "priceOf"
  | "budgets"
  | "watch"
  | "onThreadRemoved"
  | "migrations"
> {
  settings: OpsSettings & RegistrySettings;
  graphs: RegistryOptions["graphs"];
  /** See `RegistryOptions` for this and `unfiltered`. */
  standIns?: boolean;
  unfiltered?: boolean;
  /** For searches of the long-term memory by query. */
  index?: ItemIndex;
  /** Whether clients are served. If so, graphs with held tokens are logged. */
  serves?: boolean;
}

const NO_WAKEUPS: Wakeups = { notify: () => undefined, listen: () => () => undefined };

const UNKNOWN_OUTPUT = "the graph's output schema cannot be introspected";

export function createContext(parts: ContextParts): OpsContext {
  const { settings, graphs, storage, logger, standIns, unfiltered, serves, index } = parts;
  const { frames, metrics, tracing, langsmith, priceOf, budgets, watch, migrations, onThreadRemoved } = parts;
  const { crons, delayed_runs, webhooks } = settings;
  const { default_assistant_id, assistant_namespace, list_all_assistants, graph_version } = settings;
  if (!("items" in storage))
    logger.warn({ scheme: storage.scheme }, "the graphs' long-term store is kept in memory only");
  const checkpointer = new RunCheckpointer(storage.checkpointer);
  const registry = new GraphRegistry({
    graphs,
    default_assistant_id,
    assistant_namespace,
    list_all_assistants,
    graph_version,
    checkpointer,
    get store() {
      return context.store;
    },
    standIns,
    unfiltered,
    onUnknownOutput: (graph_id, path, loads) =>
      path.length === 0
        ? logger.warn(
            { graph_id },
            `${loads ? UNKNOWN_OUTPUT : "the graph does not load"}: no values are shown`,
          )
        : logger.warn(
            { graph_id, node: path.join("|") },
            "the node calls an undeclared subgraph: its values are not shown (declare it in the `subgraphs` option of addNode)",
          ),
    ...(settings.hold_messages && serves && { onHeldMessages: reportTo(logger) }),
    onBrokenFactory: (graph_id, error) =>
      logger.warn(
        { err: error, graph_id },
        "the graph's factory threw: its threads are read without the graph",
      ),
  });
  const eager: Omit<OpsContext, "items" | "store"> = {
    settings,
    storage,
    capabilities: { takeover: storage.runs.take !== undefined, usage: storage.usage !== undefined },
    wakeups: storage.wakeups ?? NO_WAKEUPS,
    ...{ checkpointer, registry },
    timers: crons || delayed_runs || webhooks ? timersOf(settings, storage.timers) : undefined,
    logger,
    ownerId: newId(),
    recorder: storage.usage && new UsageRecorder(storage.usage, logger),
    frames,
    metrics,
    ...{ tracing, langsmith },
    ...{ priceOf, budgets },
    ...{ watch, migrations },
    ...(onThreadRemoved && { onThreadRemoved }),
  };
  const context = eager as OpsContext;
  addLazily(context, "items", () => storage.items ?? createMemoryItems());
  addLazily(context, "store", () => new ItemStore(context.items, settings.ttl?.store, index));
  return context;
}

const reportTo = (logger: Logger) => (graph_id: string, keys: readonly string[]) =>
  logger.warn(
    { graph_id, keys },
    `tokens of ${graph_id} are held until their node ends (hold_messages): hidden ${keys.join(", ")}`,
  );

/** Defines a property of `target` that is created on first access and then fixed. */
export function addLazily<Target extends object, Name extends keyof Target>(
  target: Target,
  name: Name,
  make: () => Target[Name],
): void {
  const get = (): Target[Name] => {
    const value = make();
    Object.defineProperty(target, name, { value, enumerable: true });
    return value;
  };
  Object.defineProperty(target, name, { get, enumerable: true, configurable: true });
}

/** A context that adds or overrides parts. Lazily created parts are shared with the original context. */
export const withParts = <Context extends OpsContext, Parts extends object>(
  context: Context,
  parts: Parts,
): Context & Parts => Object.assign(Object.create(context) as Context, parts);
