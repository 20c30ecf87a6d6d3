import {
  fromStoredRecording,
  type RecordingRow,
  type RecordingTable,
  type StoredRecording,
  toStoredRecording,
} from "../contract/recordings.js";
import { forgetSql } from "../rows/usage-sql.js";
import type { SqliteFile } from "./file.js";

const INSERT = `INSERT OR IGNORE INTO gs_recordings
  SELECT run_id, @at, @seq, @thread_id, @call FROM gs_runs WHERE run_id = @run_id`;
const LIST = "SELECT * FROM gs_recordings WHERE run_id = ? ORDER BY at, seq";
const PAGE = "SELECT * FROM gs_recordings ORDER BY run_id, at, seq LIMIT ? OFFSET ?";
const FORGET = forgetSql("gs_recordings", "run_id, at, seq", "?");

const read = (rows: unknown[]): RecordingRow[] => (rows as StoredRecording[]).map(fromStoredRecording);

export const createSqliteRecordings = (file: SqliteFile): RecordingTable => ({
  add: (rows) =>
    file.write(() => {
      for (const row of rows) file.statement(INSERT).run(toStoredRecording(row));
    }),
  list: (runId) => file.read(() => read(file.statement(LIST).all(runId))),
  forget: (before) => file.write(() => file.statement(FORGET).run(before).changes),
  page: ({ limit, offset }) => file.read(() => read(file.statement(PAGE).all(limit, offset))),
});
