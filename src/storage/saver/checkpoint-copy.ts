import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type BaseCheckpointSaver,
  type ChannelVersions,
  type CheckpointMetadata,
  type CheckpointTuple,
  INTERRUPT,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { isSpecial } from "./saver-parts.js";

interface CopyRequest {
  sourceId: string;
  targetId: string;
  namespace: string;
  /** Checkpoint of the graph itself to copy; the latest when left out. */
  at?: string;
}

/**
 * Copies a thread's latest checkpoint in this namespace, or the one named by `at`, to another thread; nothing when
 * there is none. Of a named checkpoint the open questions come along, not what was written after it, and of subgraphs
 * what they stood at when they asked.
 */
export async function copyCheckpoint(
  saver: BaseCheckpointSaver,
  { sourceId, targetId, namespace, at }: CopyRequest,
): Promise<void> {
  const place = { thread_id: sourceId, checkpoint_ns: namespace };
  const id = at === undefined || namespace === "" ? at : await askedAt(saver, place, at);
  if (at !== undefined && id === undefined) return;
  const tuples = await lineage(saver, {
    configurable: { ...place, ...(id !== undefined && { checkpoint_id: id }) },
  });
  const [named] = tuples;
  if (id !== undefined && named) tuples[0] = { ...named, pendingWrites: questionsOf(named) };
  let parentId: string | undefined;
  for (const tuple of tuples.reverse()) {
    await copyTuple(saver, tuple, { thread_id: targetId, checkpoint_ns: namespace, checkpoint_id: parentId });
    parentId = tuple.checkpoint.id;
  }
}

const questionsOf = ({
  pendingWrites = [],
}: CheckpointTuple): NonNullable<CheckpointTuple["pendingWrites"]> =>
  pendingWrites.filter(([, channel]) => channel === INTERRUPT);

/**
 * The checkpoint at which a subgraph first asked something after the graph's checkpoint `at`, else the last one that it
 * had before. Ids of checkpoints are in the order of their making.
 */
async function askedAt(
  saver: BaseCheckpointSaver,
  place: { thread_id: string; checkpoint_ns: string },
  at: string,
): Promise<string | undefined> {
  let asked: string | undefined;
  for await (const tuple of saver.list({ configurable: place })) {
    const { id } = tuple.checkpoint;
    if (id < at) return asked ?? id;
    if (questionsOf(tuple).length > 0) asked = id;
  }
  return asked;
}

/** Stores a checkpoint with its writes as it is, but for what its metadata says of its origin. */
async function copyTuple(
  saver: BaseCheckpointSaver,
  { metadata, ...tuple }: CheckpointTuple,
  target: Target,
): Promise<void> {
  const { run_id: _ofTheSource, ...kept } = metadata as CheckpointMetadata<{ run_id?: unknown }>;
  const forked = { ...kept, source: "fork" as const, thread_id: target.thread_id };
  const { channel_versions } = tuple.checkpoint;
  await storeTuple(saver, { ...tuple, metadata: forked }, target, channel_versions);
}

/** Where a checkpoint goes; `checkpoint_id` is its parent's. */
interface Target {
  thread_id: string | undefined;
  checkpoint_ns: string;
  checkpoint_id: string | undefined;
}

/** Stores a checkpoint with its writes, as it is. */
export async function storeTuple(
  saver: BaseCheckpointSaver,
  { checkpoint, metadata, pendingWrites = [] }: CheckpointTuple,
  target: Target,
  newVersions: ChannelVersions,
): Promise<void> {
  const stored = await saver.put(
    { configurable: target },
    checkpoint,
    metadata as CheckpointMetadata,
    newVersions,
  );
  for (const [taskId, writes] of writesByTask(pendingWrites)) await saver.putWrites(stored, writes, taskId);
}

/**
 * These writes as the calls that made them: a task's ordinary writes together, numbered from the first, and apart from
 * them those that have a number of their own, such as its interrupt.
 */
function writesByTask(
  pendingWrites: NonNullable<CheckpointTuple["pendingWrites"]>,
): Iterable<[taskId: string, writes: PendingWrite[]]> {
  const calls = new Map<string, [string, PendingWrite[]]>();
  for (const [taskId, ...write] of pendingWrites) {
    const key = `${isSpecial(write[0]) ? "special" : "ordinary"} ${taskId}`;
    const call = calls.get(key);
    if (call) call[1].push(write);
    else calls.set(key, [taskId, [write]]);
  }
  return calls.values();
}

/**
 * The checkpoint of this config and, when it has delta channels, the ancestors that these are rebuilt from; newest
 * first, empty when there is no such checkpoint. A delta channel's value is kept in some checkpoints only, and in
 * between as the writes since.
 */
export async function lineage(
  saver: BaseCheckpointSaver,
  config: RunnableConfig,
): Promise<CheckpointTuple[]> {
  const tuples: CheckpointTuple[] = [];
  const deltas = new Set<string>();
  const seeded = new Set<string>();
  let next: RunnableConfig | undefined = config;
  while (next) {
    const tuple: CheckpointTuple | undefined = await saver.getTuple(next);
    if (!tuple) break;
    tuples.push(tuple);
    for (const channel of Object.keys(tuple.metadata?.counters_since_delta_snapshot ?? {}))
      deltas.add(channel);
    for (const channel of Object.keys(tuple.checkpoint.channel_values)) seeded.add(channel);
    if (!isEdit(tuple) && [...deltas].every((channel) => seeded.has(channel))) break;
    next = tuple.parentConfig;
  }
  return deltas.size > 0 ? tuples : tuples.slice(0, 1);
}

/** An edit does not say which channels are deltas: the checkpoint before it does. */
function isEdit({ metadata }: CheckpointTuple): boolean {
  return metadata?.source === "update" || metadata?.source === "fork";
}
