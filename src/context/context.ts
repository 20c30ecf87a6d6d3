/** What every operation works with. */
import type { RunWatch } from "../graphs/stream/run-watch.js";
import { GraphRegistry, type RegistryOptions } from "../graphs/registry.js";
import type { Caller } from "../models/caller.js";
import type { MultitaskStrategy, Run } from "../models/run.js";
import { ItemStore } from "../storage/item-store.js";
import { createMemoryItems } from "../storage/rows/items-in-memory.js";
import type { ItemTable, Storage } from "../storage/contract/storage.js";
import { newId } from "../support/ids.js";
import type { Logger } from "../support/log.js";
import type { Metrics } from "../support/metrics.js";
import { type Timers, type TimerSettings, timersOf } from "./timers.js";
import { RunCheckpointer } from "./run-checkpointer.js";
import type { SharedFrames } from "../frames/shared-frames.js";

interface OpsSettings extends TimerSettings {
  assistant_name?: string;
  assistant_description?: string;
  /** Of the graphs that the configuration describes. */
  graph_descriptions?: Readonly<Record<string, string>>;
  run_timeout_seconds?: number;
  allow_unfiltered_events: boolean;
  hold_messages: boolean;
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
}

export interface OpsContext {
  readonly settings: OpsSettings;
  readonly storage: Storage;
  /** What graphs write through; the storage's own is for everything else. */
  readonly checkpointer: RunCheckpointer;
  readonly registry: GraphRegistry;
  /** Long-term memory of the graphs, and its rows. */
  readonly store: ItemStore;
  readonly items: ItemTable;
  /** What is to be done at a time; undefined while no setting asks for it. */
  readonly timers?: Timers;
  readonly logger: Logger;
  /** Id of this process among those that share the storage. */
  readonly ownerId: string;
  /** On whose behalf the operations work; the server's own when left out. */
  readonly caller?: Caller;
  /** The run of this process whose graph asks for the operations, by a client of its own. */
  readonly within?: { readonly thread_id: string };
  /** Frames that processes share; undefined while each keeps its own. */
  readonly frames?: SharedFrames;
  /** Told what happens; undefined while metrics are off. */
  readonly metrics?: Metrics;
  /** Hears what a run does, where somebody watches runs. */
  readonly watch?: (run: Run) => RunWatch;
}

type RegistrySettings = Pick<
  RegistryOptions,
  "default_assistant_id" | "assistant_namespace" | "list_all_assistants"
>;

interface ContextParts extends Pick<OpsContext, "storage" | "logger" | "frames" | "metrics" | "watch"> {
  settings: OpsSettings & RegistrySettings;
  graphs: RegistryOptions["graphs"];
  /** As in `RegistryOptions`, as is the next. */
  standIns?: boolean;
  unfiltered?: boolean;
  /** Whether clients are served: then graphs whose tokens are held are logged. */
  serves?: boolean;
}

export function createContext(parts: ContextParts): OpsContext {
  const { settings, graphs, storage, logger, standIns, unfiltered, serves, frames, metrics, watch } = parts;
  const { crons, delayed_runs, webhooks } = settings;
  const { default_assistant_id, assistant_namespace, list_all_assistants } = settings;
  if (!("items" in storage))
    logger.warn({ scheme: storage.scheme }, "the graphs' long-term store is kept in memory only");
  const checkpointer = new RunCheckpointer(storage.checkpointer);
  const registry = new GraphRegistry({
    graphs,
    default_assistant_id,
    assistant_namespace,
    list_all_assistants,
    checkpointer,
    get store() {
      return context.store;
    },
    standIns,
    unfiltered,
    onUnknownOutput: (graph_id, path) =>
      path.length === 0
        ? logger.warn({ graph_id }, "the graph's output schema cannot be introspected: no values are shown")
        : logger.warn(
            { graph_id, node: path.join("|") },
            "the node calls a graph that it does not declare: no values of that are shown (addNode takes subgraphs)",
          ),
    ...(settings.hold_messages && serves && { onHeldMessages: reportTo(logger) }),
    onBrokenFactory: (graph_id, error) =>
      logger.warn({ err: error, graph_id }, "the graph's factory throws: its threads are read without it"),
  });
  const made: Omit<OpsContext, "items" | "store"> = {
    settings,
    storage,
    checkpointer,
    registry,
    timers: crons || delayed_runs || webhooks ? timersOf(settings, storage) : undefined,
    logger,
    ownerId: newId(),
    frames,
    metrics,
    watch,
  };
  const context = made as OpsContext;
  addLazily(context, "items", () => storage.items ?? createMemoryItems());
  addLazily(context, "store", () => new ItemStore(context.items));
  return context;
}

const reportTo = (logger: Logger) => (graph_id: string, keys: readonly string[]) =>
  logger.warn(
    { graph_id, keys },
    `tokens of ${graph_id} wait for the end of their node (hold_messages): hidden ${keys.join(", ")}`,
  );

/** Give `target` a part that is made when it is first asked for, and stands there from then on. */
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

/** The context with other parts beside its own: what it makes when it is asked for is made once for all of them. */
export const withParts = <Context extends OpsContext, Parts extends object>(
  context: Context,
  parts: Parts,
): Context & Parts => Object.create(context, Object.getOwnPropertyDescriptors(parts)) as Context & Parts;
