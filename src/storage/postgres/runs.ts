import type { RunTasks } from "../../models/run.js";
import { tableIn } from "./options.js";
import type { PostgresPool } from "./pool.js";
import { isStart } from "../rows/rows.js";
import { runAssignments, toJsonColumn, toRunColumns, threadAssignments } from "./rows.js";
import { storeUsage, usageInsert } from "./usage.js";
import {
  type OwnedRun,
  RUN_COLUMNS,
  STORED_RUN_COLUMNS,
  unfinishedRun,
  runOrderSql,
  IS_UNFINISHED,
} from "../rows/sql-rows.js";
import type { OwnerTable } from "../contract/owners.js";
import type {
  RunHolder,
  RunKey,
  RunLease,
  RunOutcome,
  RunPatch,
  RunQuery,
  RunRow,
  RunSearch,
  RunTable,
  UnfinishedQuery,
  UnfinishedRun,
  DeadRunTable,
} from "../contract/runs.js";
import type { ThreadPatch } from "../contract/threads.js";

const columns = RUN_COLUMNS.join(", ");
const stored = STORED_RUN_COLUMNS.join(", ");
const JSON_COLUMNS = ["metadata", "kwargs", "usage", "fault", "resumption", "tasks"];
const typeOf = (column: string): string =>
  JSON_COLUMNS.includes(column) ? "json" : column === "attempt" ? "integer" : "text";
/** The parameter with this number, cast to the type of the column. */
export const runValue = (column: string, parameter: number): string => `$${parameter}::${typeOf(column)}`;
const values = STORED_RUN_COLUMNS.map((column, index) => runValue(column, index + 1)).join(", ");
const threadPatch = `$${STORED_RUN_COLUMNS.length + 1}::json`;
const inTurn = `$${STORED_RUN_COLUMNS.length + 2}::boolean`;
const ownerValue = runValue("owner", STORED_RUN_COLUMNS.indexOf("owner") + 1);
const SORTED = {
  duration: `CASE WHEN ${IS_UNFINISHED} THEN -1
    ELSE round(extract(epoch FROM updated_at::timestamptz - created_at::timestamptz) * 1000) END`,
  tokens: `CASE WHEN usage->>'source' = 'messages' THEN 0
    ELSE coalesce((usage->>'total_tokens')::numeric, 0) END`,
};
/** Whether the run has the holder in the parameters from `first` on, see `holderOf`; true if they are null. */
export const isHeldBy = (first: number): string =>
  `($${first}::integer IS NULL OR (r.attempt = $${first} AND r.owner IS NOT DISTINCT FROM $${first + 1}::text
    AND r.state = coalesce($${first + 2}::text, r.state)))`;
export const holderOf = (holder: RunHolder | undefined): unknown[] => [
  holder?.attempt ?? null,
  holder?.owner ?? null,
  holder?.state ?? null,
];

/** Run rows in a PostgreSQL schema: one statement per method where possible. */
export class PostgresRuns implements RunTable {
  readonly #pool: PostgresPool;
  readonly #sql: Required<Record<keyof RunTable | "settleWithUsage" | "takeDue" | "takeQueued", string>>;

  constructor(pool: PostgresPool, schema: string) {
    const [runs, threads] = [tableIn(schema, "gs_runs"), tableIn(schema, "gs_threads")];
    const owners = tableIn(schema, "gs_owners");
    // If a later run has started, the outcome does not change the thread.
    const settle = `WITH run AS (
          UPDATE ${runs} AS r SET ${runAssignments("$3::json")}
          WHERE run_id = $1 AND thread_id = $2 AND ${IS_UNFINISHED} AND ${isHeldBy(5)} RETURNING seq
        ) UPDATE ${threads} AS t SET ${threadAssignments("$4::json")} FROM run
        WHERE t.thread_id = $2 AND NOT EXISTS (
          SELECT 1 FROM ${runs} AS later
          WHERE later.thread_id = $2 AND later.seq > run.seq AND later.${IS_UNFINISHED}
            AND NOT (later.status = 'pending' AND later.state IN ('delayed', 'queued')))`;
    const take = `WITH run AS (
          UPDATE ${runs} AS r SET ${runAssignments("$3::json")}
          WHERE run_id = $1 AND thread_id = $2 AND ${IS_UNFINISHED} AND ${isHeldBy(5)} RETURNING 1
        ) UPDATE ${threads} AS t SET ${threadAssignments("$4::json")} FROM run WHERE t.thread_id = $2 RETURNING 1`;
    this.#pool = pool;
    this.#sql = {
      insert: `WITH thread AS (
          UPDATE ${threads} AS t SET ${threadAssignments(threadPatch)} WHERE thread_id = $2 AND NOT (${inTurn}
            AND EXISTS (SELECT 1 FROM ${runs} AS other WHERE other.thread_id = $2 AND other.status = 'pending'
              AND other.state = 'queued' AND other.owner IS DISTINCT FROM ${ownerValue})) RETURNING 1
        ) INSERT INTO ${runs} (${stored}) SELECT ${values} FROM thread RETURNING 1`,
      get: `SELECT ${columns} FROM ${runs} WHERE run_id = $1 AND thread_id = $2`,
      update: `UPDATE ${runs} AS r SET ${runAssignments("$2::json")} WHERE run_id = $1 AND ${IS_UNFINISHED}
        AND ${isHeldBy(3)} RETURNING 1`,
      take,
      // A new `seq` puts a run that is due behind all runs accepted so far.
      takeDue: take.replace("SET", "SET seq = DEFAULT,"),
      takeQueued: take.replace("RETURNING 1", "AND NOT r.cancel_requested RETURNING 1"),
      settle,
      settleWithUsage: settle.replace("WITH", `WITH usage AS (${usageInsert(schema, "$8")}),`),
      delete: `DELETE FROM ${runs} WHERE run_id = $1 AND thread_id = $2 RETURNING 1`,
      list: `SELECT ${columns} FROM ${runs} WHERE thread_id = $1 AND ($2::text IS NULL OR status = $2)
        ORDER BY created_at DESC, run_id DESC LIMIT $3 OFFSET $4`,
      search: `SELECT ${columns} FROM ${runs}`,
      unfinished: `SELECT run_id, thread_id, o.* FROM ${runs} LEFT JOIN ${owners} AS o ON o.id = owner
        WHERE ${IS_UNFINISHED} AND state <> 'delayed'`,
      requestCancel: `UPDATE ${runs} SET cancel_requested = true WHERE run_id = $1 AND ${IS_UNFINISHED}`,
      tasks: `SELECT tasks FROM ${runs} WHERE run_id = $1 AND thread_id = $2`,
      cancelRequests: `SELECT run_id FROM ${runs} WHERE owner IS NOT DISTINCT FROM $1::text AND cancel_requested AND ${IS_UNFINISHED}`,
    };
  }

  async insert(row: RunRow, thread: ThreadPatch, isInTurn = false): Promise<boolean> {
    const values = [...toRunColumns(row), toJsonColumn(thread), isInTurn];
    return (await this.#pool.query(this.#sql.insert, values)).length > 0;
  }

  async get(threadId: string, runId: string): Promise<RunRow | undefined> {
    const [run] = await this.#pool.query<RunRow>(this.#sql.get, [runId, threadId]);
    return run;
  }

  async update(runId: string, patch: RunPatch, holder?: RunHolder): Promise<boolean> {
    const values = [runId, toJsonColumn(patch), ...holderOf(holder)];
    return (await this.#pool.query(this.#sql.update, values)).length > 0;
  }

  async take(
    { run_id, thread_id }: RunKey,
    from: RunHolder,
    patch: RunPatch & RunLease,
    thread: ThreadPatch,
  ): Promise<boolean> {
    const values = [run_id, thread_id, toJsonColumn(patch), toJsonColumn(thread), ...holderOf(from)];
    const { take, takeDue, takeQueued } = this.#sql;
    const sql = from.state === "delayed" ? takeDue : isStart(from, patch) ? takeQueued : take;
    return (await this.#pool.query(sql, values)).length > 0;
  }

  /** One outcome is one statement. Several are executed in order, in one transaction. */
  async settle(outcomes: readonly RunOutcome[]): Promise<void> {
    const statements: [sql: string, values: unknown[]][] = [];
    for (const { runId, holder, run, threadId, thread, usage } of outcomes) {
      const values = [runId, threadId, toJsonColumn(run), toJsonColumn(thread), ...holderOf(holder)];
      if (usage) statements.push([this.#sql.settleWithUsage, [...values, storeUsage(usage)]]);
      else statements.push([this.#sql.settle, values]);
    }
    const [first, second] = statements;
    if (second) {
      await this.#pool.transaction(async (query) => {
        for (const statement of statements) await query(...statement);
      });
    } else if (first) await this.#pool.query(...first);
  }

  async delete(threadId: string, runId: string): Promise<boolean> {
    return (await this.#pool.query(this.#sql.delete, [runId, threadId])).length > 0;
  }

  list({ threadId, status, limit, offset }: RunQuery): Promise<RunRow[]> {
    return this.#pool.query<RunRow>(this.#sql.list, [threadId, status ?? null, limit, offset]);
  }

  search({ threadIds, assistantIds, status, createdAfter, createdBefore, ...page }: RunSearch) {
    const { limit, offset, sortBy, sortOrder } = page;
    const values: unknown[] = [limit, offset];
    const test = (sql: string, value: unknown) =>
      value === undefined ? [] : [`${sql}$${values.push(value)}${Array.isArray(value) ? "::text[])" : ""}`];
    const tests = [
      ...test("thread_id = ANY (", threadIds),
      ...test("assistant_id = ANY (", assistantIds),
      ...test("status = ", status),
      ...test("created_at >= ", createdAfter),
      ...test("created_at < ", createdBefore),
    ];
    const where = tests.length > 0 ? `WHERE ${tests.join(" AND ")}` : "";
    const order = `ORDER BY ${runOrderSql(SORTED, sortBy, sortOrder)} LIMIT $1 OFFSET $2`;
    return this.#pool.query<RunRow>(`${this.#sql.search} ${where} ${order}`, values);
  }

  async unfinished({ threadId, ownerId, isOwned }: UnfinishedQuery = {}): Promise<UnfinishedRun[]> {
    const named = Object.entries({ thread_id: threadId, owner: ownerId }).filter(([, id]) => id != null);
    const conditions = named.map(([column], index) => `AND ${column} = $${index + 1}`).join(" ");
    const owned = isOwned ? "AND owner IS NOT NULL" : ownerId === null ? "AND owner IS NULL" : "";
    const sql = `${this.#sql.unfinished} ${owned} ${conditions} ORDER BY seq`;
    return (
      await this.#pool.query<OwnedRun>(
        sql,
        named.map(([, id]) => id),
      )
    ).map(unfinishedRun);
  }

  async requestCancel(runId: string): Promise<void> {
    await this.#pool.query(this.#sql.requestCancel, [runId]);
  }

  async cancelRequests(ownerId: string | null): Promise<string[]> {
    const runs = await this.#pool.query<Pick<RunRow, "run_id">>(this.#sql.cancelRequests, [ownerId]);
    return runs.map(({ run_id }) => run_id);
  }

  async tasks(threadId: string, runId: string): Promise<RunTasks | null> {
    const [run] = await this.#pool.query<{ tasks: RunTasks | null }>(this.#sql.tasks, [runId, threadId]);
    return run?.tasks ?? null;
  }
}

export function createPostgresOwners({ query }: PostgresPool, schema: string): OwnerTable {
  const owners = tableIn(schema, "gs_owners");
  const beat = `INSERT INTO ${owners} (id, host, pid, seen_at) VALUES ($1, $2, $3, $4) ON CONFLICT (id)
    DO UPDATE SET host = excluded.host, pid = excluded.pid, seen_at = excluded.seen_at`;
  const remove = `DELETE FROM ${owners} WHERE id = $1`;
  return {
    beat: async ({ id, host, pid, seen_at }) => void (await query(beat, [id, host, pid, seen_at])),
    remove: async (ownerId) => void (await query(remove, [ownerId])),
  };
}

// Dead runs.

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
      (await query(revive, [run_id, thread_id, toJsonColumn(patch), toJsonColumn(thread)])).length > 0,
    forget: async (before) => (await query(forget, [before])).length,
  };
}
