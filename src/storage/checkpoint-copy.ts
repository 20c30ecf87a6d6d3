import type {
  BaseCheckpointSaver,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { lineage } from "./lineage.js";

const INTERRUPT = "__interrupt__";

/**
 * Copies a thread's latest checkpoint in this namespace, or the one named by `at`, to another thread; nothing when
 * there is none. Of an earlier checkpoint the open questions come along, not what was written after it.
 */
export async function copyCheckpoint(
  saver: BaseCheckpointSaver,
  {
    sourceId,
    targetId,
    namespace,
    at,
  }: { sourceId: string; targetId: string; namespace: string; at?: string },
): Promise<void> {
  const place = { thread_id: sourceId, checkpoint_ns: namespace };
  const tuples = await lineage(saver, {
    configurable: { ...place, ...(at !== undefined && { checkpoint_id: at }) },
  });
  const [named] = tuples;
  if (at !== undefined && named && !(await isLatest(saver, place, at)))
    tuples[0] = {
      ...named,
      pendingWrites: named.pendingWrites?.filter(([, channel]) => channel === INTERRUPT),
    };
  let parentId: string | undefined;
  for (const tuple of tuples.reverse()) {
    await copyTuple(saver, tuple, { thread_id: targetId, checkpoint_ns: namespace, checkpoint_id: parentId });
    parentId = tuple.checkpoint.id;
  }
}

async function isLatest(
  saver: BaseCheckpointSaver,
  place: { thread_id: string; checkpoint_ns: string },
  id: string,
): Promise<boolean> {
  return (await saver.getTuple({ configurable: place }))?.checkpoint.id === id;
}

/** Stores a checkpoint with its writes as it is, but for what its metadata says of its origin. */
async function copyTuple(
  saver: BaseCheckpointSaver,
  { checkpoint, metadata, pendingWrites = [] }: CheckpointTuple,
  target: { thread_id: string; checkpoint_ns: string; checkpoint_id: string | undefined },
): Promise<void> {
  const { run_id: _ofTheSource, ...kept } = metadata as CheckpointMetadata<{ run_id?: unknown }>;
  const forked = { ...kept, source: "fork" as const, thread_id: target.thread_id };
  const copied = await saver.put({ configurable: target }, checkpoint, forked, checkpoint.channel_versions);
  for (const [taskId, writes] of groupByTask(pendingWrites)) await saver.putWrites(copied, writes, taskId);
}

function groupByTask(
  pendingWrites: NonNullable<CheckpointTuple["pendingWrites"]>,
): Map<string, PendingWrite[]> {
  const byTask = new Map<string, PendingWrite[]>();
  for (const [taskId, ...write] of pendingWrites) {
    const writes = byTask.get(taskId);
    if (writes) writes.push(write);
    else byTask.set(taskId, [write]);
  }
  return byTask;
}
