/** The next tasks of a stored checkpoint, derived from its channels without the graph. */
import { type CheckpointTuple, INTERRUPT, uuid5 } from "@langchain/langgraph-checkpoint";
import { isStateChannel, SENDS } from "../models/channels.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { SnapshotTask } from "./graph.js";

const START = "__start__";
export const TO_NODE = "branch:to:";
export const JOIN = "join:";
const ERROR = "__error__";
/** Channels of writes that LangGraph stores about a task; not results of the task. */
const MARKS = new Set([ERROR, INTERRUPT, "__scheduled__", "__resume__"]);

/** A task of the superstep after a checkpoint. */
export interface OpenTask extends SnapshotTask {
  /** The channel that triggers the node; undefined for a task of a `Send`. */
  trigger?: string;
}

/** A barrier of an edge with several starts, and the starts that have ended. */
export interface OpenJoin {
  channel: string;
  seen: readonly string[];
}

/** A node and the channel that triggers it. */
interface Triggered {
  name: string;
  channel: string;
}

/** The tasks of the superstep after this checkpoint, with their stored interrupts, errors and writes. */
export function openTasks(tuple: CheckpointTuple): OpenTask[] {
  const sent = sendsOf(tuple).map((name, index) =>
    taskOf(tuple, name, ["__pregel_push", index], ["__pregel_push", String(index)]),
  );
  const pulled = triggeredNodes(tuple).map(({ name, channel }) => ({
    ...taskOf(tuple, name, ["__pregel_pull", name], ["__pregel_pull", [channel]]),
    trigger: channel,
  }));
  return [...sent, ...pulled];
}

/**
 * The barriers that some of their starts have reached, but not all, including starts that ended in the unfinished
 * superstep.
 */
export function openJoins({ checkpoint, pendingWrites = [] }: CheckpointTuple): OpenJoin[] {
  const joins = new Map<string, Set<string>>();
  const add = (channel: string, names: unknown) => {
    if (!channel.startsWith(JOIN)) return;
    const seen = joins.get(channel) ?? new Set();
    for (const name of [names].flat()) if (typeof name === "string") seen.add(name);
    if (seen.size > 0) joins.set(channel, seen);
  };
  for (const [channel, names] of Object.entries(checkpoint.channel_values))
    if (joinedNode(channel, names) === undefined) add(channel, names);
  for (const [, channel, name] of pendingWrites) add(channel, name);
  return [...joins].map(([channel, seen]) => ({ channel, seen: [...seen] }));
}

/** The nodes that tasks which ended in the unfinished superstep lead to. Edges with several starts are in `openJoins`. */
export function nextNodes({ pendingWrites = [] }: CheckpointTuple): string[] {
  return pendingWrites.flatMap(([, channel, value]) => {
    if (channel === SENDS) return sendsIn([value].flat());
    return channel.startsWith(TO_NODE) ? [channel.slice(TO_NODE.length)] : [];
  });
}

/** The starts of the edge that a barrier belongs to; empty for another channel. */
export const awaitedBy = (channel: string): string[] =>
  channel.startsWith(JOIN) ? channel.slice(JOIN.length, channel.lastIndexOf(":")).split("+") : [];

/** The namespace of the checkpoints that a task's subgraph writes. */
export function namespaceOf(parent: unknown, { name, id }: Pick<SnapshotTask, "name" | "id">): string {
  const place = `${name}:${id}`;
  return typeof parent === "string" && parent !== "" ? `${parent}|${place}` : place;
}

/** Whether the task has ended: its writes are stored until its superstep ends. */
export function hasWrites({ pendingWrites = [] }: CheckpointTuple, task: SnapshotTask): boolean {
  return pendingWrites.some(([id, channel]) => id === task.id && !MARKS.has(channel));
}

function sendsOf({ checkpoint }: CheckpointTuple): string[] {
  const sends = checkpoint.channel_values[SENDS];
  return Array.isArray(sends) ? sendsIn(sends) : [];
}

const sendsIn = (sends: readonly unknown[]): string[] =>
  sends.flatMap((send) => (isRecord(send) && typeof send.node === "string" ? [send.node] : []));

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
  const names = Array.isArray(seen) ? seen : [];
  return awaitedBy(channel).every((name) => names.includes(name)) ? channel.slice(end + 1) : undefined;
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
