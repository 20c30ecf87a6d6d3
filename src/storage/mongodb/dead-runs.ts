import type { Db, Document } from "mongodb";
import { UNFINISHED } from "../rows/rows.js";
import type { DeadRunTable } from "../contract/storage.js";
import { collectionsOf, IS_DEAD, fromRunDocument, storeRunPatch } from "./rows.js";
import type { MongodbRuns } from "./runs.js";

/** `revive` is called under the thread's lock, so no other run begins between its check and the update. */
export function createMongodbDeadRuns(db: Db, table: MongodbRuns): DeadRunTable {
  const { runs } = collectionsOf(db);
  return {
    async list({ limit, offset }) {
      // MongoDB treats a limit of 0 as no limit.
      if (limit <= 0) return [];
      const found = runs.find(IS_DEAD, { projection: { tasks: 0 } }).sort({ created_at: -1, _id: -1 });
      return (await found.skip(offset).limit(limit).toArray()).map(fromRunDocument);
    },
    async count() {
      const { n } = await db.command({ count: runs.collectionName, query: IS_DEAD as Document });
      return Number(n);
    },
    async revive({ run_id, thread_id }, patch, thread) {
      const others = { thread_id, status: { $in: [...UNFINISHED] }, state: { $ne: "delayed" as const } };
      if (await runs.findOne(others, { projection: { _id: 1 } })) return false;
      const revived = await runs.updateOne(
        { _id: run_id, thread_id, ...IS_DEAD },
        { $set: storeRunPatch(patch) },
      );
      // The new version of the thread refuses an end of the run that is still on its way.
      return revived.matchedCount > 0 && table.mark(run_id, thread_id, thread);
    },
    forget: async (before) => {
      const forgotten = await runs.updateMany(
        { ...IS_DEAD, updated_at: { $lt: before } },
        { $set: { state: "ended", resumption: null } },
      );
      return forgotten.modifiedCount;
    },
  };
}
