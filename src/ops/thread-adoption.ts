/**
 * Checkpoints that no thread's row belongs to: rows may end with the process (Redis), a delete may have been cut off, an
 * application may have written them. The thread that is created under their id takes them over.
 */
import { ThreadExistsError } from "../support/errors.js";
import { originOf } from "../models/origin.js";
import type { ThreadRow } from "../storage/storage.js";
import type { OpsContext } from "./context.js";
import { isOwn } from "./scope.js";

interface Leftovers extends Pick<ThreadRow, "scope" | "graphs"> {
  /** False for an id with nothing under it. */
  exist: boolean;
}

/**
 * What such checkpoints say of the thread that they are of; what is true of a new one when there are none.
 * @throws ThreadExistsError when they are not the caller's (`thread_exists`)
 */
export async function leftoversOf(context: OpsContext, threadId: string): Promise<Leftovers> {
  const { checkpointer } = context.storage;
  const graphs = new Set<string>();
  let exist = false;
  let isKnown = true;
  let scope: string | null = null;
  for (const checkpoint_ns of await checkpointer.namespaces(threadId)) {
    const tuple = await checkpointer.getTuple({ configurable: { thread_id: threadId, checkpoint_ns } });
    if (!tuple) continue;
    exist = true;
    const origin = originOf(tuple.metadata);
    const owner = { scope: origin?.scope ?? null, metadata: { ...tuple.metadata } };
    if (!isOwn(context, owner)) throw new ThreadExistsError(threadId);
    scope ??= owner.scope;
    // What waits to become a checkpoint may be of a graph that has none here yet.
    if (!origin || (tuple.pendingWrites ?? []).length > 0) isKnown = false;
    for (const id of origin?.graphs ?? []) graphs.add(id);
  }
  return { exist, scope, graphs: isKnown ? [...graphs].sort() : null };
}
