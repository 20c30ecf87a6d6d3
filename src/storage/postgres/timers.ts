import type { TimerRow, TimerTable } from "../contract/timers.js";
import { TIMER_COLUMNS } from "../rows/sql-rows.js";
import { tableIn } from "./options.js";
import type { PostgresPool } from "./pool.js";
import { toJsonColumn } from "./rows.js";

const columns = TIMER_COLUMNS.join(", ");
const values = TIMER_COLUMNS.map((_, index) => `$${index + 1}`).join(", ");

const valuesOf = ({ kind, id, thread_id, scope, due_at, created_at, version, data }: TimerRow): unknown[] => [
  kind,
  id,
  thread_id,
  scope,
  due_at,
  created_at,
  version,
  toJsonColumn(data),
];

/** Timers in a PostgreSQL schema. */
export function createPostgresTimers({ query }: PostgresPool, schema: string): TimerTable {
  const timers = tableIn(schema, "gs_timers");
  const insert = `INSERT INTO ${timers} (${columns}) VALUES (${values}) ON CONFLICT DO NOTHING RETURNING 1`;
  const get = `SELECT ${columns} FROM ${timers} WHERE kind = $1 AND id = $2`;
  const replace = `UPDATE ${timers} SET thread_id = $3, scope = $4, due_at = $5, created_at = $6,
      version = $7::integer + 1, data = $8
    WHERE kind = $1 AND id = $2 AND version = $7::integer RETURNING 1`;
  const remove = `DELETE FROM ${timers}
    WHERE kind = $1 AND id = $2 AND ($3::integer IS NULL OR version = $3::integer) RETURNING 1`;
  const ofKinds = "due_at IS NOT NULL AND kind = ANY ($1::text[])";
  const due = `SELECT ${columns} FROM ${timers} WHERE ${ofKinds} AND due_at <= $2
    AND coalesce(scope, '') <> ALL ($4::text[]) ORDER BY due_at, id LIMIT $3`;
  const next = `SELECT due_at FROM ${timers} WHERE ${ofKinds} ORDER BY due_at LIMIT 1`;
  const list = `SELECT ${columns} FROM ${timers} WHERE kind = $1 AND ($2::text IS NULL OR thread_id = $2)
    AND ($3::text IS NULL OR scope = $3) ORDER BY created_at, id LIMIT $4 OFFSET $5`;
  const changes = async (sql: string, params: readonly unknown[]): Promise<boolean> =>
    (await query(sql, params)).length > 0;
  return {
    insert: (row) => changes(insert, valuesOf(row)),
    get: async (kind, id) => (await query<TimerRow>(get, [kind, id]))[0],
    replace: (row) => changes(replace, valuesOf(row)),
    delete: (kind, id, version) => changes(remove, [kind, id, version ?? null]),
    due: (kinds, at, limit, except = []) =>
      query<TimerRow>(due, [kinds, at, limit, except.map((scope) => scope ?? "")]),
    next: async (kinds) => (await query<{ due_at: string }>(next, [kinds]))[0]?.due_at,
    list: ({ kind, threadId, scope, limit, offset }) =>
      query<TimerRow>(list, [kind, threadId ?? null, scope ?? null, limit, offset]),
  };
}
