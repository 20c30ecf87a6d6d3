/** Copies a checkpoint of a thread to a storage in memory, on which graphs can run without changing the thread's storage. */
import type { Storage } from "../storage/contract/storage.js";
import { idsOfCheckpoints, readCheckpoints, readItems, writeThread } from "../storage/copy/thread-parts.js";
import { openStorage } from "../storage/open.js";
import { lineage } from "../storage/saver/checkpoint-copy.js";
import { NotFoundError } from "../support/errors.js";
import type { StoragePlace } from "./migration.js";

/** Items of the long-term memory that are copied. */
const MOST_ITEMS = 10_000;

export interface ThreadInMemory {
  /** Its `close` does nothing, so that several services can use it one after the other. */
  storage: Storage;
  /** Whether the long-term memory has more items than were copied. */
  lacksItems: boolean;
  close(): Promise<void>;
}

/**
 * The checkpoint with the ancestors that its delta channels need, the checkpoints of its subgraphs and the long-term
 * memory. The thread keeps its id.
 * @param place opened read-only
 * @throws NotFoundError (`thread_not_found`), StorageUnavailableError (`storage_unavailable`)
 */
export async function threadInMemory(
  place: StoragePlace,
  { threadId, checkpointId }: { threadId: string; checkpointId: string },
): Promise<ThreadInMemory> {
  const from = await openStorage({ ...place, max_queued_runs: 0, readOnly: true });
  const to = await openStorage({
    checkpointer_scheme: "memory",
    checkpointer_options: {},
    max_queued_runs: 0,
  });
  try {
    const row = await from.threads.get(threadId);
    if (!row) throw new NotFoundError("thread", threadId);
    const ids = await idsOfCheckpoints(from.checkpointer, threadId);
    const configurable = { thread_id: threadId, checkpoint_ns: "", checkpoint_id: checkpointId };
    const tuples = await lineage(from.checkpointer, { configurable });
    ids.set("", tuples.map(({ checkpoint }) => checkpoint.id).reverse());
    const checkpoints = readCheckpoints(from.checkpointer, threadId, ids);
    await writeThread(to, { row, checkpoints, runs: [] });
    const lacksItems = await copyMemory(from, to);
    return { storage: { ...to, close: () => Promise.resolve() }, lacksItems, close: () => to.close() };
  } catch (error) {
    await to.close();
    throw error;
  } finally {
    await from.close();
  }
}

/** Returns whether items are left. */
async function copyMemory({ items: from }: Storage, { items: to }: Storage): Promise<boolean> {
  if (!from || !to) return false;
  let copied = 0;
  for await (const item of readItems(from, new Date().toISOString())) {
    if (copied === MOST_ITEMS) return true;
    await to.restore(item);
    copied += 1;
  }
  return false;
}
