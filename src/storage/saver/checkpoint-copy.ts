import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type BaseCheckpointSaver,
  type ChannelVersions,
  type CheckpointMetadata,
  type CheckpointTuple,
  INTERRUPT,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { isSpecial } from "./writes.js";

interface CopyRequest {
  sourceId: string;
  targetId: string;
  namespace: string;
  /** Id of the root graph's checkpoint to copy; the latest if omitted. */
  at?: string;
}

/**
 * Copies the latest checkpoint of a namespace, or the one that `at` names, to another thread; does nothing if there is
 * none. With `at`, only the interrupts among its pending writes are copied. For a subgraph, its checkpoint at the time
 * of the interrupt is copied.
 */
export async function copyCheckpoint(
  saver: BaseCheckpointSaver,
  { sourceId, targetId, namespace, at }: CopyRequest,
): Promise<void> {
  const place = { thread_id: sourceId, checkpoint_ns: namespace };
  const id = at === undefined || namespace === "" ? at : await interruptedAt(saver, place, at);
  if (at !== undefined && id === undefined) return;
  const tuples = await lineage(saver, {
    configurable: { ...place, ...(id !== undefined && { checkpoint_id: id }) },
  });
  const [named] = tuples;
  if (id !== undefined && named) tuples[0] = { ...named, pendingWrites: interruptsOf(named) };
  let parentId: string | undefined;
  for (const tuple of tuples.reverse()) {
    await copyTuple(saver, tuple, { thread_id: targetId, checkpoint_ns: namespace, checkpoint_id: parentId });
    parentId = tuple.checkpoint.id;
  }
}

const interruptsOf = ({
  pendingWrites = [],
}: CheckpointTuple): NonNullable<CheckpointTuple["pendingWrites"]> =>
  pendingWrites.filter(([, channel]) => channel === INTERRUPT);

/**
 * The subgraph's first checkpoint with an interrupt after the root graph's checkpoint `at`; otherwise its last one
 * before `at`. Checkpoint ids sort by creation time.
 */
async function interruptedAt(
  saver: BaseCheckpointSaver,
  place: { thread_id: string; checkpoint_ns: string },
  at: string,
): Promise<string | undefined> {
  let interrupted: string | undefined;
  for await (const tuple of saver.list({ configurable: place })) {
    const { id } = tuple.checkpoint;
    if (id < at) return interrupted ?? id;
    if (interruptsOf(tuple).length > 0) interrupted = id;
  }
  return interrupted;
}

/** Stores a checkpoint with its writes. The metadata is changed to describe a fork of the target thread. */
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

/** Where to store a checkpoint; `checkpoint_id` is the id of its parent. */
interface Target {
  thread_id: string | undefined;
  checkpoint_ns: string;
  checkpoint_id: string | undefined;
}

/** Stores a checkpoint with its writes unchanged. */
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
 * Groups writes into the calls that made them. Ordinary writes of a task form one call, because their numbers come from
 * their order; writes to special channels, such as interrupts, form another.
 */
export function writesByTask(
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
 * The checkpoint of this config and, if it has delta channels, the ancestors needed to rebuild them; newest first,
 * empty if there is no such checkpoint. Only some checkpoints hold a delta channel's value; others hold just the writes
 * since then.
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

/** The metadata of an edit does not list the delta channels; its parent's does. */
function isEdit({ metadata }: CheckpointTuple): boolean {
  return metadata?.source === "update" || metadata?.source === "fork";
}
