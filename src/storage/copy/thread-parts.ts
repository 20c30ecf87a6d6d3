/** A thread as a stream of parts, with one of them in memory at a time: how every copy, export and import reads and stores it. */
import type { ChannelVersions, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { inPages } from "../../support/read-ahead.js";
import type { ItemTable, StoredItem } from "../contract/items.js";
import type { RunRow, RunTable } from "../contract/runs.js";
import type { Storage } from "../contract/storage.js";
import type { Checkpointer } from "../contract/checkpointer.js";
import type { ThreadRow, ThreadTable } from "../contract/threads.js";
import { checkpointDigest, digestOf, factsOfCheckpoint, UniqueVersions } from "./checkpoints.js";

export interface ThreadParts {
  row: ThreadRow;
  /** By namespace, parents first. */
  checkpoints: AsyncIterable<CheckpointPart>;
  /** Oldest first. */
  runs: AsyncIterable<RunRow> | Iterable<RunRow>;
}

export interface CheckpointPart {
  tuple: CheckpointTuple;
  /** Channel versions that its parent does not have, or has without a value; all if the parent is not a part. */
  newVersions: ChannelVersions;
}

/** A part that was read from a storage. */
interface StoredPart extends CheckpointPart {
  /** Its namespace and id. */
  key: string;
  digest: string;
}

// The reader.

export const checkpointKey = (namespace: string, id: string): string => JSON.stringify([namespace, id]);

/** Ids of checkpoints by namespace, oldest first. */
export type CheckpointIds = Map<string, readonly string[]>;

export async function idsOfCheckpoints(checkpointer: Checkpointer, threadId: string): Promise<CheckpointIds> {
  const all: CheckpointIds = new Map();
  for (const namespace of await checkpointer.namespaces(threadId)) {
    const ids: string[] = [];
    for await (const { checkpoint } of newestFirst(checkpointer, threadId, namespace))
      ids.push(checkpoint.id);
    all.set(namespace, ids.reverse());
  }
  return all;
}

/** The checkpoints of a thread, or those of `ids`. Their channel versions are unique within the thread. */
export async function* readCheckpoints(
  from: Checkpointer,
  threadId: string,
  ids?: CheckpointIds,
): AsyncGenerator<StoredPart> {
  for (const [namespace, own] of ids ?? (await idsOfCheckpoints(from, threadId))) {
    const read = (checkpoint_id: string) =>
      from.getTuple({ configurable: { thread_id: threadId, checkpoint_ns: namespace, checkpoint_id } });
    const versions = new UniqueVersions();
    let last: CheckpointTuple | undefined;
    for (const id of own) {
      const tuple = await read(id);
      // Pruned since the ids were read: the thread is in use.
      if (!tuple) continue;
      const facts = await factsOfCheckpoint(from.serde, tuple);
      const checkpoint = versions.apply(tuple, facts);
      const parentId = tuple.parentConfig?.configurable?.checkpoint_id as string | undefined;
      const isLast = last !== undefined && last.checkpoint.id === parentId;
      const parent = isLast
        ? last
        : parentId !== undefined && own.includes(parentId) && (await read(parentId));
      yield {
        tuple: { ...tuple, checkpoint },
        newVersions: parent ? versionsSince(tuple, checkpoint, parent) : checkpoint.channel_versions,
        key: checkpointKey(namespace, id),
        digest: checkpointDigest(checkpoint, facts),
      };
      last = tuple;
    }
  }
}

function versionsSince(
  { checkpoint: { channel_versions: original } }: CheckpointTuple,
  { channel_versions, channel_values }: CheckpointTuple["checkpoint"],
  { checkpoint: { channel_versions: before, channel_values: valued } }: CheckpointTuple,
): ChannelVersions {
  return Object.fromEntries(
    Object.entries(channel_versions).filter(
      ([channel, version]) =>
        before[channel] !== original[channel] ||
        version !== original[channel] ||
        (Object.hasOwn(channel_values, channel) && !Object.hasOwn(valued, channel)),
    ),
  );
}

/** Checkpoints read per call, each with its whole state. */
const PAGE = 10;

export async function* newestFirst(
  checkpointer: Checkpointer,
  thread_id: string,
  checkpoint_ns: string,
): AsyncGenerator<CheckpointTuple> {
  const place = { thread_id, checkpoint_ns };
  let before: CheckpointTuple["config"] | undefined;
  for (;;) {
    let read = 0;
    for await (const tuple of checkpointer.list({ configurable: place }, { limit: PAGE, before })) {
      yield tuple;
      before = { configurable: { ...place, checkpoint_id: tuple.checkpoint.id } };
      read += 1;
    }
    if (read < PAGE) return;
  }
}

export async function* readRuns(
  from: RunTable,
  threadId: string,
  ids: readonly string[],
): AsyncGenerator<RunRow> {
  for (const id of ids) {
    const run = await from.get(threadId, id);
    if (!run) continue;
    const tasks = await from.tasks?.(threadId, id);
    yield { ...run, ...(tasks && { tasks }) };
  }
}

/** All items of the long-term memory that have not expired at `at`, with their embeddings. */
export const readItems = (from: ItemTable, at: string): AsyncGenerator<StoredItem> =>
  inPages((after, limit) => from.page({ after, limit, at, vectors: true }));

// The writer.

/**
 * Stores a thread: its row after its checkpoints, so that the row of an interrupted copy is missing or old.
 * @param held the row that the storage already has
 * @returns how much was stored
 */
export async function writeThread(
  to: Storage,
  { row, checkpoints, runs }: ThreadParts,
  held?: ThreadRow,
): Promise<{ rows: number; checkpoints: number; runs: number }> {
  const stored = { rows: 0, checkpoints: 0, runs: 0 };
  for await (const { tuple, newVersions } of checkpoints) {
    await to.checkpointer.store(tuple, newVersions);
    stored.checkpoints += 1;
  }
  if (!held || digestOf(held) !== digestOf(row)) {
    await writeRow(to.threads, row, held);
    stored.rows = 1;
  }
  for await (const run of runs) {
    // `updated_at` is the thread's own, so that its row does not change.
    await to.runs.insert(run, { updated_at: row.updated_at });
    stored.runs += 1;
  }
  return stored;
}

async function writeRow(to: ThreadTable, row: ThreadRow, held: ThreadRow | undefined): Promise<void> {
  const { thread_id, created_at: _, metadata, ...patch } = row;
  if (held) await to.update(thread_id, { ...patch, mergeMetadata: metadata });
  else await to.insert(row);
}
