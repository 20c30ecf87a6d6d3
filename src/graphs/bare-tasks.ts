/** The tasks that a stored checkpoint leads to, read from its channels alone, without the graph that wrote it. */
import { uuid5, type CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { isRecord, type JsonObject } from "../models/common.js";
import type { SnapshotTask } from "./graph.js";

const START = "__start__";
const SENDS = "__pregel_tasks";
const TO_NODE = "branch:to:";
const JOIN = "join:";
const ERROR = "__error__";
const INTERRUPT = "__interrupt__";
/** Writes about a task, not of it. */
const MARKS = new Set([ERROR, INTERRUPT, "__scheduled__", "__resume__"]);

/** True for a channel that holds a key of the state, false for LangGraph's own. */
export function isStateChannel(name: string): boolean {
  return !name.startsWith("__") && !name.startsWith("branch:") && !name.startsWith(JOIN);
}

/** A node that a channel calls for. */
interface Triggered {
  name: string;
  channel: string;
}

/** The tasks of the superstep after this checkpoint, with what is stored of their interrupts, errors and writes. */
export function bareTasks(tuple: CheckpointTuple): SnapshotTask[] {
  const sent = sendsOf(tuple).map((name, index) =>
    taskOf(tuple, name, ["__pregel_push", index], ["__pregel_push", String(index)]),
  );
  const pulled = triggeredNodes(tuple).map(({ name, channel }) =>
    taskOf(tuple, name, ["__pregel_pull", name], ["__pregel_pull", [channel]]),
  );
  return [...sent, ...pulled];
}

/** True when the task has ended: its writes wait for the rest of its superstep. */
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

/** Nodes with a channel that holds something they have not seen yet. */
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

/** The node that a channel triggers; undefined while the channel is empty, or when it is no trigger. */
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

/** LangGraph derives a task's id from where it stands, so its stored writes are found again. */
function taskOf(tuple: CheckpointTuple, name: string, path: unknown[], cause: unknown[]): SnapshotTask {
  const { checkpoint, config, metadata } = tuple;
  const parent = String(config.configurable?.checkpoint_ns ?? "");
  const place = [parent === "" ? name : `${parent}|${name}`, String((metadata?.step ?? -1) + 1), name];
  const id = uuid5(JSON.stringify([...place, ...cause]), checkpoint.id);
  const written = (tuple.pendingWrites ?? []).filter(([taskId]) => taskId === id);
  const error = written.find(([, channel]) => channel === ERROR)?.[2];
  const interrupts = written.flatMap(([, channel, value]) =>
    channel === INTERRUPT && isRecord(value) ? [value] : [],
  );
  if (error !== undefined) return { id, name, path, error, interrupts };
  return { id, name, path, interrupts, result: interrupts.length > 0 ? undefined : resultOf(written) };
}

/** What the task wrote to keys of the state; a key written more than once holds the list. */
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
