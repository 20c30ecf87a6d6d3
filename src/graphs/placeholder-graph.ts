/**
 * A placeholder for a graph that does not load, so that its stored states stay readable. Values are read from the
 * checkpoint, because the graph's reducers are unknown. Its output schema is unknown too, so the output filter hides all
 * values.
 */
import { type BaseCheckpointSaver, type CheckpointTuple, uuid5 } from "@langchain/langgraph-checkpoint";
import { isStateChannel } from "../models/channels.js";
import { isRecord, type JsonObject } from "../models/common.js";
import { GraphLoadError, type GraphServeError } from "../support/errors.js";
import type { GraphConfig, ServedGraph, Snapshot, SnapshotTask } from "./graph.js";

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
      const place = `${task.name}:${task.id}`;
      const checkpoint_ns = typeof parent === "string" && parent !== "" ? `${parent}|${place}` : place;
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

// The next tasks of a stored checkpoint, derived from its channels without the graph.

const START = "__start__";
const SENDS = "__pregel_tasks";
const TO_NODE = "branch:to:";
const JOIN = "join:";
const ERROR = "__error__";
const INTERRUPT = "__interrupt__";
/** Channels of writes that LangGraph stores about a task; not results of the task. */
const MARKS = new Set([ERROR, INTERRUPT, "__scheduled__", "__resume__"]);

/** A node and the channel that triggers it. */
interface Triggered {
  name: string;
  channel: string;
}

/** The tasks of the superstep after this checkpoint, with their stored interrupts, errors and writes. */
function openTasks(tuple: CheckpointTuple): SnapshotTask[] {
  const sent = sendsOf(tuple).map((name, index) =>
    taskOf(tuple, name, ["__pregel_push", index], ["__pregel_push", String(index)]),
  );
  const pulled = triggeredNodes(tuple).map(({ name, channel }) =>
    taskOf(tuple, name, ["__pregel_pull", name], ["__pregel_pull", [channel]]),
  );
  return [...sent, ...pulled];
}

/** Whether the task has ended: its writes are stored until its superstep ends. */
export function hasWrites({ pendingWrites = [] }: CheckpointTuple, task: SnapshotTask): boolean {
  return pendingWrites.some(([id, channel]) => id === task.id && !MARKS.has(channel));
}

function sendsOf({ checkpoint }: CheckpointTuple): string[] {
  const sends = checkpoint.channel_values[SENDS];
  if (!Array.isArray(sends)) return [];
  return sends.flatMap((send: { node?: unknown } | null) =>
    typeof send?.node === "string" ? [send.node] : [],
  );
}

/** Nodes with a channel whose version is newer than the one they have seen. */
function triggeredNodes({ checkpoint }: CheckpointTuple): Triggered[] {
  const { channel_versions, versions_seen } = checkpoint;
  const nodes = new Map<string, string>();
  for (const [channel, version] of Object.entries(channel_versions).sort()) {
    const name = nodeOf(channel, checkpoint.channel_values);
    if (name === undefined || nodes.has(name)) continue;
    const seen = versions_seen[name]?.[channel];
    if (seen === undefined || version > seen) nodes.set(name, channel);
  }
  return [...nodes].map(([name, channel]) => ({ name, channel }));
}

/** The node that a channel triggers; undefined if the channel is empty or not a trigger. */
function nodeOf(channel: string, values: JsonObject): string | undefined {
  if (!Object.hasOwn(values, channel)) return undefined;
  if (channel === START) return START;
  if (channel.startsWith(TO_NODE)) return channel.slice(TO_NODE.length);
  return channel.startsWith(JOIN) ? joinedNode(channel, values[channel]) : undefined;
}

/** `join:a+b:c` triggers `c` once it has seen `a` and `b`. */
function joinedNode(channel: string, seen: unknown): string | undefined {
  const end = channel.lastIndexOf(":");
  const awaited = channel.slice(JOIN.length, end).split("+");
  const names = Array.isArray(seen) ? seen : [];
  return awaited.every((name) => names.includes(name)) ? channel.slice(end + 1) : undefined;
}

/** Computes a task's id as LangGraph does, from its position, to find its stored writes. */
function taskOf(tuple: CheckpointTuple, name: string, path: unknown[], cause: unknown[]): SnapshotTask {
  const { checkpoint, config, metadata } = tuple;
  const parent = String(config.configurable?.checkpoint_ns ?? "");
  const place = [parent === "" ? name : `${parent}|${name}`, String((metadata?.step ?? -1) + 1), name];
  const id = uuid5(JSON.stringify([...place, ...cause]), checkpoint.id);
  const written = (tuple.pendingWrites ?? []).filter(([taskId]) => taskId === id);
  const error = written.find(([, channel]) => channel === ERROR)?.[2];
  // Depending on the release of LangGraph, interrupts are stored in one write each or in a single write.
  const interrupts = written
    .flatMap(([, channel, value]) => (channel === INTERRUPT ? [value].flat() : []))
    .filter(isRecord);
  if (error !== undefined) return { id, name, path, error, interrupts };
  return { id, name, path, interrupts, result: resultOf(written) };
}

/** State keys that the task wrote. A key written more than once holds the list of values. */
function resultOf(written: readonly (readonly [string, string, unknown])[]): JsonObject | undefined {
  const result = new Map<string, unknown[]>();
  for (const [, channel, value] of written) {
    if (isStateChannel(channel)) result.set(channel, [...(result.get(channel) ?? []), value]);
  }
  if (result.size === 0) return undefined;
  return Object.fromEntries(
    [...result].map(([key, values]) => [key, values.length === 1 ? values[0] : values]),
  );
}
