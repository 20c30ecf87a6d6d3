/** The part of a compiled LangGraph graph that the service uses, whichever copy of LangGraph it was built with. */
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import type { JsonObject } from "../models/common.js";
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

/** Builds a graph for one call: the config of the run, or of a state read. */
export type GraphFactory = (config: GraphConfig) => Promise<ServedGraph>;

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
