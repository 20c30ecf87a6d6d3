/** The part of a compiled LangGraph graph that the service uses, whichever copy of LangGraph it was built with. */
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { isRecord, type JsonObject } from "../models/common.js";
import type { GraphLoadError } from "../support/errors.js";

export interface GraphConfig {
  configurable?: JsonObject;
  metadata?: JsonObject;
  [key: string]: unknown;
}

/** A task of a state snapshot, as LangGraph gives it. */
export interface SnapshotTask {
  id: string;
  name: string;
  path?: unknown[];
  error?: unknown;
  interrupts?: readonly { id?: string; value?: unknown }[];
  state?: Snapshot | GraphConfig;
  result?: unknown;
}

/** A state snapshot, as LangGraph gives it. */
export interface Snapshot {
  values: unknown;
  next: readonly string[];
  tasks: readonly SnapshotTask[];
  config: GraphConfig;
  metadata?: JsonObject;
  createdAt?: string;
  parentConfig?: GraphConfig;
}

export interface ServedGraph {
  name?: string;
  checkpointer?: BaseCheckpointSaver | boolean;
  store?: unknown;
  /** Array: a state graph's output channels. String: a functional entrypoint. Anything else: unknown. */
  outputChannels?: unknown;
  /** State keys that are streamed; all channels when left out. */
  streamChannels?: unknown;
  channels?: Record<string, unknown>;
  nodes?: Record<string, unknown>;
  /** Breakpoints that it was compiled with. */
  interruptBefore?: readonly string[] | "*";
  interruptAfter?: readonly string[] | "*";
  builder?: unknown;
  stream(input: unknown, options: GraphConfig): Promise<AsyncIterable<unknown>>;
  streamEvents(input: unknown, options: GraphConfig): AsyncIterable<unknown>;
  getState(config: GraphConfig, options?: { subgraphs?: boolean }): Promise<Snapshot>;
  getStateHistory(
    config: GraphConfig,
    options?: { limit?: number; before?: GraphConfig; filter?: JsonObject },
  ): AsyncIterable<Snapshot>;
  updateState(config: GraphConfig, values: unknown, asNode?: string): Promise<GraphConfig>;
  bulkUpdateState(
    config: GraphConfig,
    supersteps: { updates: { values: unknown; asNode?: string }[] }[],
  ): Promise<GraphConfig>;
  getGraphAsync(config?: { xray?: boolean | number }): Promise<{ toJSON(): unknown }>;
  getSubgraphsAsync(namespace?: string, recurse?: boolean): AsyncIterable<[string, ServedGraph]>;
  withConfig(config: GraphConfig): ServedGraph;
}

/** What a factory is called for, in the terms of LangGraph's server. */
export type AccessContext = "threads.create_run" | "threads.update" | "threads.read" | "assistants.read";

/** The second argument of a factory. */
export interface FactoryRuntime {
  /** A factory can leave out what only a run needs, such as connections to tools, where it is called for anything else. */
  access_context: AccessContext;
  /** The authenticated user; undefined where no `auth` hook is set. */
  user?: unknown;
}

/** Builds a graph for one call: the config of the run, or of a state read. */
export type GraphFactory = (config: GraphConfig, access?: AccessContext) => Promise<ServedGraph>;

/** A graph of the mapping: compiled, or made anew for each call, or not there since its module does not load. */
export type LoadedGraph =
  | { kind: "graph"; graph: ServedGraph; source?: string }
  | { kind: "factory"; factory: GraphFactory; source?: string }
  | { kind: "fault"; fault: GraphLoadError; source?: string };

export function isServedGraph(value: unknown): value is ServedGraph {
  if (typeof value !== "object" || value === null) return false;
  const graph = value as Partial<ServedGraph>;
  return (
    typeof graph.stream === "function" &&
    typeof graph.getState === "function" &&
    typeof graph.withConfig === "function"
  );
}

// Which node's code is being executed: LangChain carries the configuration of a node along with it.

/** Own marks of LangChain, the same in all copies of the library. */
const STORAGE = Symbol.for("ls:tracing_async_local_storage");
const CONFIG = Symbol.for("lc:child_config");

interface CarriedConfigs {
  [STORAGE]?: { getStore?: () => { extra?: { [CONFIG]?: { metadata?: unknown } } } | undefined };
}

/** Name of the node; undefined where no node's code is being executed, or the library does not say. */
export function currentNode(): string | undefined {
  const carried = (globalThis as CarriedConfigs)[STORAGE]?.getStore?.();
  const metadata = carried?.extra?.[CONFIG]?.metadata;
  const node = isRecord(metadata) ? metadata.langgraph_node : undefined;
  return typeof node === "string" ? node : undefined;
}
