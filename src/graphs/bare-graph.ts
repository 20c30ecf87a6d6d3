/**
 * Stands in for a graph that does not load, so that what it stored can be read. Values are those of the checkpoint:
 * without the graph its reducers are unknown, and so is its output schema, for which the output filter fails closed.
 */
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { GraphLoadError } from "../errors.js";
import { isRecord, type JsonObject } from "../models/common.js";
import { bareTasks, hasWrites, isStateChannel } from "./bare-tasks.js";
import type { GraphConfig, ServedGraph, Snapshot } from "./graph.js";

/** The answer of a functional entrypoint. */
const ANSWER = "__end__";

export class BareGraph implements ServedGraph {
  checkpointer?: BaseCheckpointSaver | boolean;
  readonly #reason: GraphLoadError;

  constructor(reason: GraphLoadError) {
    this.#reason = reason;
  }

  async getState(config: GraphConfig): Promise<Snapshot> {
    const tuple = await this.#saver.getTuple(config);
    if (!tuple) return { values: {}, next: [], tasks: [], config };
    return snapshotOf(tuple, { isLatest: config.configurable?.checkpoint_id === undefined });
  }

  async *getStateHistory(
    config: GraphConfig,
    options?: { limit?: number; before?: GraphConfig; filter?: JsonObject },
  ): AsyncGenerator<Snapshot> {
    for await (const tuple of this.#saver.list(config, options)) yield snapshotOf(tuple, { isLatest: false });
  }

  async *getSubgraphsAsync(): AsyncGenerator<[string, ServedGraph]> {
    // What is inside of it only the graph itself knows.
  }

  withConfig(): ServedGraph {
    return new BareGraph(this.#reason);
  }

  stream(): Promise<never> {
    return Promise.reject(this.#reason);
  }

  streamEvents(): never {
    throw this.#reason;
  }

  updateState(): Promise<never> {
    return Promise.reject(this.#reason);
  }

  bulkUpdateState(): Promise<never> {
    return Promise.reject(this.#reason);
  }

  getGraphAsync(): Promise<never> {
    return Promise.reject(this.#reason);
  }

  get #saver(): BaseCheckpointSaver {
    if (typeof this.checkpointer === "object") return this.checkpointer;
    throw new GraphLoadError("a graph that stands in for another has no checkpointer");
  }
}

function snapshotOf(tuple: CheckpointTuple, { isLatest }: { isLatest: boolean }): Snapshot {
  const { checkpoint, config, metadata, parentConfig } = tuple;
  const tasks = bareTasks(tuple);
  const waiting = tasks.filter((task) => !hasWrites(tuple, task) || !isLatest);
  return {
    values: valuesOf(checkpoint.channel_values),
    next: waiting.map(({ name }) => name),
    tasks,
    config: withCheckpointMap(config, metadata),
    metadata: { ...metadata, thread_id: config.configurable?.thread_id as unknown },
    createdAt: checkpoint.ts,
    parentConfig: parentConfig && { configurable: parentConfig.configurable },
  };
}

function valuesOf(channels: JsonObject): unknown {
  const keys = Object.keys(channels).filter(isStateChannel).sort();
  if (keys.length === 0 && Object.hasOwn(channels, ANSWER)) return channels[ANSWER];
  return Object.fromEntries(keys.map((key) => [key, channels[key]]));
}

/** The checkpoint of a subgraph is named together with those of the graphs around it. */
function withCheckpointMap(
  { configurable = {} }: { configurable?: JsonObject },
  metadata: { parents?: unknown } | undefined,
): GraphConfig {
  const { parents } = metadata ?? {};
  if (!isRecord(parents) || Object.keys(parents).length === 0) return { configurable };
  const { checkpoint_ns, checkpoint_id } = configurable;
  const checkpoint_map = {
    ...parents,
    [typeof checkpoint_ns === "string" ? checkpoint_ns : ""]: checkpoint_id,
  };
  return { configurable: { ...configurable, checkpoint_map } };
}
