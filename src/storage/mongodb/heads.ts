/**
 * The greatest checkpoint id that a writer has claimed, for each thread and namespace. A writer claims an id by
 * compare-and-set before it stores the checkpoint, because MongoDB cannot write one document on a condition of another.
 * A late write of a process that lost the thread then has a smaller id than the checkpoints that follow it.
 */
import type { RunnableConfig } from "@langchain/core/runnables";
import type { Db } from "mongodb";
import { ClockBehindError, ThreadChangedError } from "../../support/errors.js";
import { knownHead, timeOfCheckpoint } from "../saver/known-head.js";
import type { NamespaceRef } from "../saver/ref.js";
import { isDuplicate } from "./errors.js";

interface StoredHead {
  /** Thread id and namespace, joined by a slash. */
  _id: string;
  /** The greatest claimed id. */
  claimed: string;
}

const headsOf = (db: Db) => db.collection<StoredHead>("gs_heads");

/**
 * Claim the id of a checkpoint that is about to be stored.
 * @param exists whether a checkpoint with this id is stored in the same namespace
 * @returns a function that reverts the claim, for a checkpoint that is not stored after all
 * @throws ThreadChangedError if the writer does not know the newest checkpoint (`thread_changed`)
 * @throws ClockBehindError if a greater id was claimed whose checkpoint may still arrive (`clock_behind`)
 */
export async function claimHead(
  db: Db,
  config: RunnableConfig,
  { thread_id, checkpoint_ns }: NamespaceRef,
  id: string,
  exists: (id: string) => Promise<boolean>,
): Promise<() => Promise<void>> {
  const known = knownHead(config);
  const _id = `${thread_id}/${checkpoint_ns}`;
  if (known === undefined || (await advance(db, _id, known, id)))
    return () => revertClaim(db, _id, id, known);
  const head = await headsOf(db).findOne({ _id });
  if (head && head.claimed > known) {
    if (await exists(head.claimed)) throw new ThreadChangedError(thread_id);
    const [claimed, own] = [timeOfCheckpoint(head.claimed), timeOfCheckpoint(id)];
    if (head.claimed > id) throw new ClockBehindError(thread_id, (claimed ?? 0) - (own ?? 0));
  }
  if (await advance(db, _id, head?.claimed ?? "", id)) return () => revertClaim(db, _id, id, head?.claimed);
  throw new ThreadChangedError(thread_id);
}

/** Claim `id`. Returns false if an id greater than `known` is claimed. */
async function advance(db: Db, _id: string, known: string, id: string): Promise<boolean> {
  try {
    await headsOf(db).updateOne(
      { _id, claimed: { $lte: known } },
      { $max: { claimed: id } },
      { upsert: true },
    );
    return true;
  } catch (error) {
    // The document exists but does not match the condition, so the upsert tried to insert a second one.
    if (isDuplicate(error)) return false;
    throw error;
  }
}

async function revertClaim(db: Db, _id: string, id: string, before: string | undefined): Promise<void> {
  if (before !== undefined) await headsOf(db).updateOne({ _id, claimed: id }, { $set: { claimed: before } });
}

/** Delete the claims of a thread. */
export async function deleteHeads(db: Db, thread_id: string): Promise<void> {
  // "0" is the character after the slash.
  await headsOf(db).deleteMany({ _id: { $gte: `${thread_id}/`, $lt: `${thread_id}0` } });
}
