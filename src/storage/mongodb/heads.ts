/**
 * The newest checkpoint id that a writer has claimed, for each thread and namespace. A claim is made by
 * compare-and-set before its checkpoint is stored. MongoDB has no statement that writes a document on a condition of
 * another: a write that arrives late, after its process lost the thread, then has an id below those that follow it.
 */
import type { RunnableConfig } from "@langchain/core/runnables";
import type { Db } from "mongodb";
import { ClockBehindError, ThreadChangedError } from "../../support/errors.js";
import { knownHead, timeOfCheckpoint } from "../saver/known-head.js";
import type { NamespaceRef } from "../saver/saver-parts.js";
import { isDuplicate } from "./errors.js";

interface StoredHead {
  /** Thread and namespace, with a slash between them. */
  _id: string;
  /** The greatest id that was claimed. */
  claimed: string;
}

const headsOf = (db: Db) => db.collection<StoredHead>("gs_heads");

/**
 * Claim the id of a checkpoint that is about to be stored.
 * @param exists whether a checkpoint with this id is stored at the same place
 * @returns takes the claim back, for a checkpoint that is not going to be stored
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
  if (known === undefined || (await move(db, _id, known, id))) return () => takeBack(db, _id, id, known);
  const head = await headsOf(db).findOne({ _id });
  if (head && head.claimed > known) {
    if (await exists(head.claimed)) throw new ThreadChangedError(thread_id);
    const [claimed, own] = [timeOfCheckpoint(head.claimed), timeOfCheckpoint(id)];
    if (head.claimed > id) throw new ClockBehindError(thread_id, (claimed ?? 0) - (own ?? 0));
  }
  if (await move(db, _id, head?.claimed ?? "", id)) return () => takeBack(db, _id, id, head?.claimed);
  throw new ThreadChangedError(thread_id);
}

/** False if a greater id than `known` is claimed. */
async function move(db: Db, _id: string, known: string, id: string): Promise<boolean> {
  try {
    await headsOf(db).updateOne(
      { _id, claimed: { $lte: known } },
      { $max: { claimed: id } },
      { upsert: true },
    );
    return true;
  } catch (error) {
    // The document is there, and the condition does not hold: the insertion of a second one is refused.
    if (isDuplicate(error)) return false;
    throw error;
  }
}

async function takeBack(db: Db, _id: string, id: string, before: string | undefined): Promise<void> {
  if (before !== undefined) await headsOf(db).updateOne({ _id, claimed: id }, { $set: { claimed: before } });
}

/** Delete what is claimed of a thread. */
export async function deleteHeads(db: Db, thread_id: string): Promise<void> {
  // "0" is the character after the slash.
  await headsOf(db).deleteMany({ _id: { $gte: `${thread_id}/`, $lt: `${thread_id}0` } });
}
