import type { JsonObject } from "../../models/common.js";
import type { TimerRow, TimerTable } from "../contract/timers.js";
import { TIMER_COLUMNS } from "../rows/sql-rows.js";
import type { SqliteFile } from "./file.js";

interface Stored extends Omit<TimerRow, "data"> {
  data: string;
}

const columns = TIMER_COLUMNS.join(", ");
const values = TIMER_COLUMNS.map((column) => `@${column}`).join(", ");

const INSERT = `INSERT INTO gs_timers (${columns}) VALUES (${values}) ON CONFLICT DO NOTHING`;
const GET = `SELECT ${columns} FROM gs_timers WHERE kind = ? AND id = ?`;
const REPLACE = `UPDATE gs_timers SET thread_id = @thread_id, scope = @scope, due_at = @due_at,
  created_at = @created_at, version = @version + 1, data = @data
  WHERE kind = @kind AND id = @id AND version = @version`;
const DELETE =
  "DELETE FROM gs_timers WHERE kind = @kind AND id = @id AND (@version IS NULL OR version = @version)";
const OF_KINDS = "due_at IS NOT NULL AND kind IN (SELECT value FROM json_each(@kinds))";
const DUE = `SELECT ${columns} FROM gs_timers WHERE ${OF_KINDS} AND due_at <= @at
  AND coalesce(scope, '') NOT IN (SELECT value FROM json_each(@except)) ORDER BY due_at, id LIMIT @limit`;
const NEXT = `SELECT due_at FROM gs_timers WHERE ${OF_KINDS} ORDER BY due_at LIMIT 1`;
const LIST = `SELECT ${columns} FROM gs_timers
  WHERE kind = @kind AND (@threadId IS NULL OR thread_id = @threadId) AND (@scope IS NULL OR scope = @scope)
  ORDER BY created_at, id LIMIT @limit OFFSET @offset`;

const store = (row: TimerRow): Stored => ({ ...row, data: JSON.stringify(row.data) });
const read = (row: Stored): TimerRow => ({ ...row, data: JSON.parse(row.data) as JsonObject });

export function createSqliteTimers(file: SqliteFile): TimerTable {
  const all = (sql: string, params: object): Promise<TimerRow[]> =>
    file.read(() => (file.statement(sql).all(params) as Stored[]).map(read));
  const changes = (sql: string, params: object): Promise<boolean> =>
    file.write(() => file.statement(sql).run(params).changes > 0);
  return {
    insert: (row) => changes(INSERT, store(row)),
    get: (kind, id) =>
      file.read(() => {
        const row = file.statement(GET).get(kind, id) as Stored | undefined;
        return row && read(row);
      }),
    replace: (row) => changes(REPLACE, store(row)),
    delete: (kind, id, version) => changes(DELETE, { kind, id, version: version ?? null }),
    due: (kinds, at, limit, except = []) => {
      const scopes = except.map((scope) => scope ?? "");
      return all(DUE, { kinds: JSON.stringify(kinds), at, limit, except: JSON.stringify(scopes) });
    },
    next: (kinds) =>
      file.read(() => {
        const row = file.statement(NEXT).get({ kinds: JSON.stringify(kinds) });
        return (row as { due_at: string } | undefined)?.due_at;
      }),
    list: ({ kind, threadId, scope, limit, offset }) =>
      all(LIST, { kind, threadId: threadId ?? null, scope: scope ?? null, limit, offset }),
  };
}
