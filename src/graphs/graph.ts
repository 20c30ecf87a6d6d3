/** The interface of compiled LangGraph graphs that the service uses, independent of the copy of LangGraph. */
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { isRecord, type JsonObject } from "../models/common.js";
import type { GraphLoadError } from "../support/errors.js";

export interface GraphConfig {
  configurable?: JsonObject;
  metadata?: JsonObject;
  [key: string]: unknown;
}

/** A task in LangGraph's state snapshot. */
export interface SnapshotTask {
  id: string;
  name: string;
  path?: unknown[];
  error?: unknown;
  interrupts?: readonly { id?: string; value?: unknown }[];
  state?: Snapshot | GraphConfig;
  result?: unknown;
}

/** LangGraph's state snapshot. */
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
  /** State keys that are streamed; all channels if omitted. */
  streamChannels?: unknown;
  channels?: Record<string, unknown>;
  nodes?: Record<string, unknown>;
  /** Breakpoints that the graph was compiled with. */
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

/**
 * Why a factory is called, in the terms of LangGraph's server.
 * @example
 * ```ts
 * import type { AccessContext } from "graph-serve";
 *
 * const needsTools = (access: AccessContext): boolean => access === "threads.create_run";
 * needsTools("threads.read"); // => false
 * ```
 */
export type AccessContext = "threads.create_run" | "threads.update" | "threads.read" | "assistants.read";

/**
 * Second argument of a graph factory.
 * @example
 * ```ts
 * import { openService, type FactoryRuntime } from "graph-serve";
 * import { graph } from "./graph.js";
 *
 * const agent = (_config: object, { access_context }: FactoryRuntime) => {
 *   if (access_context === "threads.create_run") console.log("connect to tools");
 *   return graph;
 * };
 * const service = await openService({ graphs: { agent } });
 * await service.close();
 * ```
 */
export interface FactoryRuntime {
  /** Lets a factory skip what only a run needs, such as connections to tools. */
  access_context: AccessContext;
  /** The authenticated user; undefined if no `auth` hook is set. */
  user?: unknown;
}

/** Builds a graph for one call from the config of a run or of a state read. */
export type GraphFactory = (config: GraphConfig, access?: AccessContext) => Promise<ServedGraph>;

/** A graph of the mapping: compiled, built per call, or failed because its module does not load. */
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

/** The subgraph of a node, if the node is a graph. */
export function graphIn(graph: ServedGraph, node: string): ServedGraph | undefined {
  const { bound } = (graph.nodes?.[node] ?? {}) as { bound?: unknown };
  return isServedGraph(bound) && bound.nodes ? bound : undefined;
}

/** The subgraphs that a node may call, as far as they are declared. */
export function subgraphsOf(graph: ServedGraph, node: string): ServedGraph[] {
  const own = graphIn(graph, node);
  if (own) return [own];
  const { subgraphs } = (graph.nodes?.[node] ?? {}) as { subgraphs?: unknown };
  return Array.isArray(subgraphs) ? subgraphs.filter(isServedGraph).filter((one) => one.nodes) : [];
}

// The node whose code is executing, read from the config that LangChain propagates.

/** Symbols of LangChain, the same in all copies of the library. */
const STORAGE = Symbol.for("ls:tracing_async_local_storage");
const CONFIG = Symbol.for("lc:child_config");

interface CarriedConfigs {
  [STORAGE]?: { getStore?: () => { extra?: { [CONFIG]?: AmbientConfig } } | undefined };
}

/** The config of the code that is executing. */
interface AmbientConfig {
  metadata?: unknown;
  configurable?: Record<string, unknown>;
}

/** Undefined outside of a node, or if the library does not propagate its config. */
export const ambientConfig = (): AmbientConfig | undefined =>
  (globalThis as CarriedConfigs)[STORAGE]?.getStore?.()?.extra?.[CONFIG];

/** Name of the current node; undefined outside of a node, or if the library does not propagate its config. */
export function currentNode(): string | undefined {
  const metadata = ambientConfig()?.metadata;
  const node = isRecord(metadata) ? metadata.langgraph_node : undefined;
  return typeof node === "string" ? node : undefined;
}
