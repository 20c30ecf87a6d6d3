import {
  fromStoredRecording,
  type RecordingRow,
  type RecordingTable,
  type StoredRecording,
  toStoredRecording,
} from "../contract/recordings.js";
import { forgetSql } from "../rows/usage-sql.js";
import { tableIn } from "./options.js";
import type { PostgresPool } from "./pool.js";
import { toJsonColumn } from "./rows.js";

/** Recorded calls in a PostgreSQL schema. */
export function createPostgresRecordings({ query }: PostgresPool, schema: string): RecordingTable {
  const table = tableIn(schema, "gs_recordings");
  const columns = "run_id, at, seq, thread_id, call";
  // The lock keeps the runs until the rows refer to them.
  const insert = `WITH kept AS (SELECT run_id FROM ${tableIn(schema, "gs_runs")}
      WHERE run_id IN (SELECT row ->> 'run_id' FROM json_array_elements($1::json) AS row) FOR KEY SHARE)
    INSERT INTO ${table} (${columns})
    SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1::json) JOIN kept USING (run_id)
    ON CONFLICT DO NOTHING`;
  const forget = `${forgetSql(table, "run_id, at, seq", "$1")} RETURNING seq`;
  const read = async (rest: string, values: (string | number)[]): Promise<RecordingRow[]> =>
    (await query<StoredRecording>(`SELECT ${columns} FROM ${table} ${rest}`, values)).map(
      fromStoredRecording,
    );
  return {
    add: async (rows) => void (await query(insert, [toJsonColumn(rows.map(toStoredRecording))])),
    list: (runId) => read("WHERE run_id = $1 ORDER BY at, seq", [runId]),
    forget: async (before) => (await query(forget, [before])).length,
    page: ({ limit, offset }) => read("ORDER BY run_id, at, seq LIMIT $1 OFFSET $2", [limit, offset]),
  };
}
