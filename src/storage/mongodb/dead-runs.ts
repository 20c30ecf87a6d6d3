import type { Db, Document } from "mongodb";
import { UNFINISHED } from "../rows/rows.js";
import type { DeadRunTable } from "../contract/storage.js";
import { DELAYED_OWNER } from "../contract/timers.js";
import { collectionsOf, IS_DEAD, fromRunDocument, storeRunPatch } from "./rows.js";
import type { MongodbRuns } from "./runs.js";

/** Who revives a run has the lock of its thread: no other begins there between the look and the change. */
export function createMongodbDeadRuns(db: Db, table: MongodbRuns): DeadRunTable {
  const { runs } = collectionsOf(db);
  return {
    async list({ limit, offset }) {
      // For MongoDB a limit of 0 is none.
      if (limit <= 0) return [];
      const found = runs.find(IS_DEAD, { projection: { tasks: 0 } }).sort({ created_at: -1, _id: -1 });
      return (await found.skip(offset).limit(limit).toArray()).map(fromRunDocument);
    },
    async count() {
      const { n } = await db.command({ count: runs.collectionName, query: IS_DEAD as Document });
      return Number(n);
    },
    async revive({ run_id, thread_id }, patch, thread) {
      const others = { thread_id, status: { $in: [...UNFINISHED] }, owner: { $ne: DELAYED_OWNER.id } };
      if (await runs.findOne(others, { projection: { _id: 1 } })) return false;
      const revived = await runs.updateOne(
        { _id: run_id, thread_id, ...IS_DEAD },
        { $set: storeRunPatch(patch) },
      );
      // The thread says who has it, so that an end that was on its way counts no more.
      return revived.matchedCount > 0 && table.mark(run_id, thread_id, thread);
    },
    forget: async (before) => {
      const forgotten = await runs.updateMany(
        { ...IS_DEAD, updated_at: { $lt: before } },
        { $set: { resumption: null } },
      );
      return forgotten.modifiedCount;
    },
  };
}
