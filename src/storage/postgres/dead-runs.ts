import { RUN_COLUMNS } from "../rows/sql-rows.js";
import type { DeadRunTable, RunRow } from "../contract/storage.js";
import { tableIn } from "./options.js";
import type { PostgresPool } from "./pool.js";
import { runAssignments, storePatch, threadAssignments } from "./rows.js";

/** Must match the condition of the index `gs_runs_dead`. */
const IS_DEAD = "state = 'dead'";

/**
 * Unfinished runs are counted as when a run is accepted (./queue.ts): after the thread's row is locked, and in a function,
 * so that the count includes everything committed before the lock was acquired.
 */
export function createPostgresDeadRuns({ query }: PostgresPool, schema: string): DeadRunTable {
  const [runs, threads] = [tableIn(schema, "gs_runs"), tableIn(schema, "gs_threads")];
  const list = `SELECT ${RUN_COLUMNS.join(", ")} FROM ${runs} WHERE ${IS_DEAD}
    ORDER BY created_at DESC, run_id DESC LIMIT $1 OFFSET $2`;
  const count = `SELECT count(*)::integer AS count FROM ${runs} WHERE ${IS_DEAD}`;
  const revive = `WITH thread AS (
      SELECT thread_id FROM ${threads} WHERE thread_id = $2 FOR NO KEY UPDATE
    ), place AS MATERIALIZED (
      SELECT "${schema}".gs_unfinished(thread_id) AS before FROM thread
    ), run AS (
      UPDATE ${runs} AS r SET ${runAssignments("$3::json")} FROM place
      WHERE before = 0 AND run_id = $1 AND thread_id = $2 AND ${IS_DEAD} RETURNING 1
    ) UPDATE ${threads} AS t SET ${threadAssignments("$4::json")} FROM run WHERE t.thread_id = $2 RETURNING 1`;
  const forget = `UPDATE ${runs} SET state = 'ended', resumption = NULL WHERE ${IS_DEAD} AND updated_at < $1 RETURNING 1`;
  return {
    list: ({ limit, offset }) => query<RunRow>(list, [limit, offset]),
    count: async () => (await query<{ count: number }>(count, []))[0]?.count ?? 0,
    revive: async ({ run_id, thread_id }, patch, thread) =>
      (await query(revive, [run_id, thread_id, storePatch(patch), storePatch(thread)])).length > 0,
    forget: async (before) => (await query(forget, [before])).length,
  };
}
