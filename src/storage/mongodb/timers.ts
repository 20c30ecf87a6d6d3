import type { Db } from "mongodb";
import type { JsonObject } from "../../models/common.js";
import type { TimerKind, TimerRow, TimerTable } from "../contract/timers.js";
import { isDuplicate } from "./errors.js";
import { toText } from "./rows.js";

interface Stored extends Omit<TimerRow, "data"> {
  /** Kind and id as one string, so that timers are unique. */
  _id: string;
  data: string;
}

const idOf = (kind: TimerKind, id: string): string => `${kind} ${id}`;

const store = (row: TimerRow): Stored => ({ _id: idOf(row.kind, row.id), ...row, data: toText(row.data) });
function read({ _id, ...row }: Stored): TimerRow {
  return { ...row, data: JSON.parse(row.data) as JsonObject };
}

/** Timers in a MongoDB database. */
export function createMongodbTimers(db: Db): TimerTable {
  const timers = db.collection<Stored>("gs_timers");
  const timed = (kinds: readonly TimerKind[], at?: string) => ({
    kind: { $in: [...kinds] },
    due_at: { $ne: null, ...(at !== undefined && { $lte: at }) },
  });
  return {
    async insert(row) {
      try {
        await timers.insertOne(store(row));
        return true;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    },
    async get(kind, id) {
      const row = await timers.findOne({ _id: idOf(kind, id) });
      return row ? read(row) : undefined;
    },
    async replace(row) {
      const { _id, version, ...rest } = store(row);
      const written = await timers.replaceOne({ _id, version }, { ...rest, version: version + 1 });
      return written.matchedCount > 0;
    },
    async delete(kind, id, version) {
      const wanted = { _id: idOf(kind, id), ...(version !== undefined && { version }) };
      return (await timers.deleteOne(wanted)).deletedCount > 0;
    },
    async due(kinds, at, limit, except = []) {
      const wanted = { ...timed(kinds, at), ...(except.length > 0 && { scope: { $nin: [...except] } }) };
      const found = timers.find(wanted).sort({ due_at: 1, id: 1 }).limit(limit);
      return (await found.toArray()).map(read);
    },
    async next(kinds) {
      const [first] = await timers.find(timed(kinds)).sort({ due_at: 1 }).limit(1).toArray();
      return first?.due_at ?? undefined;
    },
    async list({ kind, threadId, scope, limit, offset }) {
      const wanted = {
        kind,
        ...(threadId !== undefined && { thread_id: threadId }),
        ...(scope !== undefined && { scope }),
      };
      const found = timers.find(wanted).sort({ created_at: 1, id: 1 }).skip(offset).limit(limit);
      return (await found.toArray()).map(read);
    },
  };
}
