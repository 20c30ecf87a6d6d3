/** Copies a checkpoint of a thread to a storage in memory, on which graphs can run without changing the thread's storage. */
import type { Storage, StoredItem } from "../storage/contract/storage.js";
import { idsOfCheckpoints } from "../storage/copy/checkpoints.js";
import { openStorage } from "../storage/open.js";
import { NotFoundError } from "../support/errors.js";
import type { StoragePlace } from "./migration.js";

/** Items of the long-term memory that are copied. */
const MOST_ITEMS = 10_000;
const PAGE = 100;

export interface ThreadInMemory {
  /** Its `close` does nothing, so that several services can use it one after the other. */
  storage: Storage;
  /** Whether the long-term memory has more items than were copied. */
  lacksItems: boolean;
  close(): Promise<void>;
}

/**
 * The checkpoint, the checkpoints of its subgraphs and the long-term memory. The thread keeps its id.
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
    for (const [checkpoint_ns, stored] of ids)
      for (const checkpoint_id of checkpoint_ns === "" ? [checkpointId] : stored) {
        const configurable = { thread_id: threadId, checkpoint_ns, checkpoint_id };
        const tuple = await from.checkpointer.getTuple({ configurable });
        if (tuple) await to.checkpointer.store(tuple, tuple.checkpoint.channel_versions);
      }
    await to.threads.insert(row);
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
  const at = new Date().toISOString();
  let after: StoredItem | undefined;
  for (let copied = 0; copied < MOST_ITEMS; copied += PAGE) {
    const page: StoredItem[] = await from.page({ after, limit: PAGE, at, vectors: true });
    for (const item of page) await to.restore(item);
    if (page.length < PAGE) return false;
    after = page.at(-1);
  }
  return (await from.page({ after, limit: 1, at })).length > 0;
}
