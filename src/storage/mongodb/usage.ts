import type { Db, Document } from "mongodb";
import {
  USAGE_COLUMNS,
  USAGE_SUMS,
  type UsageQuery,
  type UsageRow,
  type UsageSum,
  type UsageTable,
} from "../contract/usage.js";

interface Stored extends UsageRow {
  _id: string;
}

/** Usage in a MongoDB database. */
export function createMongodbUsage(db: Db): UsageTable {
  const usage = db.collection<Stored>("gs_usage");
  return {
    async store(rows) {
      const writes = rows.map((row) => ({
        replaceOne: { filter: { _id: idOf(row) }, replacement: row, upsert: true },
      }));
      if (writes.length > 0) await usage.bulkWrite(writes, { ordered: false });
    },
    async sum(query) {
      const { by, limit, offset } = query;
      // MongoDB treats a limit of 0 as an error.
      if (limit <= 0) return [];
      const found = await usage.aggregate<Document>(pipelineOf(query)).toArray();
      if (by.length === 0 && found.length === 0) found.push({});
      return found.slice(0, offset > 0 && by.length === 0 ? 0 : limit).map((sum) => sumOf(sum, query));
    },
    async forget(before) {
      return (await usage.deleteMany({ at: { $lt: before } })).deletedCount;
    },
    async page({ limit, offset }) {
      if (limit <= 0) return [];
      const found = usage.find({}, { projection: { _id: 0 } }).sort({ run_id: 1, attempt: 1, seq: 1 });
      return found.skip(offset).limit(limit).toArray();
    },
  };
}

const idOf = ({ run_id, attempt, seq }: UsageRow): string => `${run_id} ${attempt} ${seq}`;

function pipelineOf(query: UsageQuery): Document[] {
  const { by, since, until, day, runId, threadId, userId, scope, limit, offset } = query;
  const at = { ...(since !== undefined && { $gte: since }), ...(until !== undefined && { $lt: until }) };
  const wanted = {
    ...(Object.keys(at).length > 0 && { at }),
    ...(day !== undefined && { day }),
    ...(runId !== undefined && { run_id: runId }),
    ...(threadId !== undefined && { thread_id: threadId }),
    ...(userId !== undefined && { user_id: userId }),
    ...(scope !== undefined && { scope }),
  };
  const _id = Object.fromEntries(by.map((group) => [group, `$${USAGE_COLUMNS[group]}`]));
  const sums = Object.fromEntries(USAGE_SUMS.map((field) => [field, { $sum: `$${field}` }]));
  const order = Object.fromEntries(by.map((group) => [`_id.${group}`, 1 as const]));
  return [
    { $match: wanted },
    { $group: { _id, ...sums } },
    ...(by.length > 0 ? [{ $sort: order }, { $skip: offset }, { $limit: limit }] : []),
  ];
}

function sumOf({ _id, ...sums }: Document, { by }: UsageQuery): UsageSum {
  const groups = by.map((group) => [group, (_id as UsageSum)[group] ?? null] as const);
  const numbers = USAGE_SUMS.map((field) => [field, Number(sums[field] ?? 0)] as const);
  return {
    ...Object.fromEntries(groups),
    ...(Object.fromEntries(numbers) as Record<(typeof USAGE_SUMS)[number], number>),
  };
}
