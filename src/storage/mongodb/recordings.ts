import type { Db } from "mongodb";
import {
  fromStoredRecording,
  type RecordingRow,
  type RecordingTable,
  type StoredRecording,
  toStoredRecording,
} from "../contract/recordings.js";
import { collectionsOf } from "./rows.js";

interface Stored extends StoredRecording {
  _id: string;
}

export const recordingsIn = (db: Db) => db.collection<Stored>("gs_recordings");

/** Recorded calls in a MongoDB database. */
export function createMongodbRecordings(db: Db): RecordingTable {
  const recordings = recordingsIn(db);
  const { runs } = collectionsOf(db);
  const stored = async (ids: string[]) =>
    new Set(
      (await runs.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray()).map(({ _id }) => _id),
    );
  return {
    async add(rows) {
      const ids = [...new Set(rows.map(({ run_id }) => run_id))];
      const existing = await stored(ids);
      const writes = rows
        .filter(({ run_id }) => existing.has(run_id))
        .map((row) => {
          const _id = `${row.run_id} ${row.at} ${row.seq}`;
          const $setOnInsert = toStoredRecording(row);
          return { updateOne: { filter: { _id }, update: { $setOnInsert }, upsert: true } };
        });
      if (writes.length === 0) return;
      await recordings.bulkWrite(writes, { ordered: false });
      // Runs that were deleted meanwhile.
      const left = await stored([...existing]);
      const gone = [...existing].filter((id) => !left.has(id));
      if (gone.length > 0) await recordings.deleteMany({ run_id: { $in: gone } });
    },
    async list(runId) {
      return read(await recordings.find({ run_id: runId }).sort({ at: 1, seq: 1 }).toArray());
    },
    async forget(before) {
      return (await recordings.deleteMany({ at: { $lt: before } })).deletedCount;
    },
    async page({ limit, offset }) {
      // MongoDB treats a limit of 0 as no limit.
      if (limit <= 0) return [];
      const found = recordings.find({}).sort({ run_id: 1, at: 1, seq: 1 });
      return read(await found.skip(offset).limit(limit).toArray());
    },
  };
}

const read = (rows: Stored[]): RecordingRow[] => rows.map(({ _id, ...row }) => fromStoredRecording(row));
