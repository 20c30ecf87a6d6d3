/**
 * A placeholder for a graph that does not load, so that its stored states stay readable. Values are read from the
 * checkpoint, because the graph's reducers are unknown. Its output schema is unknown too, so the output filter hides all
 * values.
 */
import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { isStateChannel } from "../models/channels.js";
import { isRecord, type JsonObject } from "../models/common.js";
import { GraphLoadError, type GraphServeError } from "../support/errors.js";
import type { GraphConfig, ServedGraph, Snapshot } from "./graph.js";
import { hasWrites, namespaceOf, openTasks } from "./open-tasks.js";

/** Channel with the result of a functional entrypoint. */
const ANSWER = "__end__";

export class PlaceholderGraph implements ServedGraph {
  checkpointer?: BaseCheckpointSaver | boolean;
  readonly #reason: GraphServeError;

  /** @param reason thrown by all methods that need the graph itself */
  constructor(reason: GraphServeError) {
    this.#reason = reason;
  }

  async getState(config: GraphConfig, { subgraphs = false } = {}): Promise<Snapshot> {
    const tuple = await this.#saver.getTuple(config);
    if (!tuple) return { values: {}, next: [], tasks: [], config };
    const snapshot = snapshotOf(tuple, { isLatest: config.configurable?.checkpoint_id === undefined });
    return subgraphs ? this.#withSubgraphs(snapshot) : snapshot;
  }

  /** The checkpoints of a task's subgraph are in a namespace made of the task's name and id. */
  async #withSubgraphs(snapshot: Snapshot): Promise<Snapshot> {
    const { thread_id, checkpoint_ns: parent } = snapshot.config.configurable ?? {};
    const tasks = snapshot.tasks.map(async (task) => {
      const checkpoint_ns = namespaceOf(parent, task);
      const state = await this.getState({ configurable: { thread_id, checkpoint_ns } }, { subgraphs: true });
      return state.createdAt === undefined ? task : { ...task, state };
    });
    return { ...snapshot, tasks: await Promise.all(tasks) };
  }

  async *getStateHistory(
    config: GraphConfig,
    options?: { limit?: number; before?: GraphConfig; filter?: JsonObject },
  ): AsyncGenerator<Snapshot> {
    for await (const tuple of this.#saver.list(config, options)) yield snapshotOf(tuple, { isLatest: false });
  }

  async *getSubgraphsAsync(): AsyncGenerator<[string, ServedGraph]> {
    // Subgraphs are unknown without the graph.
  }

  withConfig(): ServedGraph {
    return new PlaceholderGraph(this.#reason);
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
    throw new GraphLoadError("the placeholder of a graph that does not load has no checkpointer");
  }
}

function snapshotOf(tuple: CheckpointTuple, { isLatest }: { isLatest: boolean }): Snapshot {
  const { checkpoint, config, metadata, parentConfig } = tuple;
  const tasks = openTasks(tuple);
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

/** A reference to a subgraph's checkpoint includes the checkpoints of its parent graphs. */
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
