import { tableIn } from "./options.js";
import type { PostgresPool, Query } from "./pool.js";
import { runAssignments, storePatch, storeRun, threadAssignments } from "./rows.js";
import { type OwnedRun, RUN_COLUMNS, unfinishedRun } from "../sql-rows.js";
import type {
  OwnerTable,
  RunOutcome,
  RunPatch,
  RunQuery,
  RunRow,
  RunTable,
  ThreadPatch,
  UnfinishedQuery,
  UnfinishedRun,
} from "../storage.js";

const columns = RUN_COLUMNS.join(", ");
const JSON_COLUMNS = ["metadata", "kwargs", "usage", "fault"];
const values = RUN_COLUMNS.map((column, index) =>
  JSON_COLUMNS.includes(column) ? `$${index + 1}::json` : `$${index + 1}::text`,
).join(", ");
const threadPatch = `$${RUN_COLUMNS.length + 1}::json`;
const UNFINISHED = "IN ('pending', 'running')";

/** Run rows of a PostgreSQL schema: one statement a method, wherever that is possible. */
export class PostgresRuns implements RunTable {
  readonly #pool: PostgresPool;
  readonly #sql: Record<keyof RunTable, string>;

  constructor(pool: PostgresPool, schema: string) {
    const [runs, threads] = [tableIn(schema, "gs_runs"), tableIn(schema, "gs_threads")];
    const owners = tableIn(schema, "gs_owners");
    this.#pool = pool;
    this.#sql = {
      insert: `WITH thread AS (
          UPDATE ${threads} AS t SET ${threadAssignments(threadPatch)} WHERE thread_id = $2 RETURNING 1
        ) INSERT INTO ${runs} (${columns}) SELECT ${values} FROM thread RETURNING 1`,
      get: `SELECT ${columns} FROM ${runs} WHERE run_id = $1 AND thread_id = $2`,
      update: `UPDATE ${runs} AS r SET ${runAssignments("$2::json")} WHERE run_id = $1 AND status ${UNFINISHED}
        RETURNING 1`,
      // A run that lost its thread to a later one has no say in what becomes of the thread.
      settle: `WITH run AS (
          UPDATE ${runs} AS r SET ${runAssignments("$3::json")}
          WHERE run_id = $1 AND thread_id = $2 AND status ${UNFINISHED} RETURNING seq
        ) UPDATE ${threads} AS t SET ${threadAssignments("$4::json")} FROM run
        WHERE t.thread_id = $2 AND NOT EXISTS (
          SELECT 1 FROM ${runs} AS later
          WHERE later.thread_id = $2 AND later.seq > run.seq AND later.status ${UNFINISHED})`,
      delete: `DELETE FROM ${runs} WHERE run_id = $1 AND thread_id = $2 RETURNING 1`,
      list: `SELECT ${columns} FROM ${runs} WHERE thread_id = $1 AND ($2::text IS NULL OR status = $2)
        ORDER BY created_at DESC, run_id DESC LIMIT $3 OFFSET $4`,
      unfinished: `SELECT run_id, thread_id, o.* FROM ${runs} LEFT JOIN ${owners} AS o ON o.id = owner
        WHERE status ${UNFINISHED}`,
      requestCancel: `UPDATE ${runs} SET cancel_requested = true WHERE run_id = $1 AND status ${UNFINISHED}`,
      cancelRequests: `SELECT run_id FROM ${runs} WHERE owner = $1 AND cancel_requested AND status ${UNFINISHED}`,
    };
  }

  async insert(row: RunRow, thread: ThreadPatch): Promise<boolean> {
    return (await this.#pool.query(this.#sql.insert, [...storeRun(row), storePatch(thread)])).length > 0;
  }

  async get(threadId: string, runId: string): Promise<RunRow | undefined> {
    const [run] = await this.#pool.query<RunRow>(this.#sql.get, [runId, threadId]);
    return run;
  }

  async update(runId: string, patch: RunPatch): Promise<boolean> {
    return (await this.#pool.query(this.#sql.update, [runId, storePatch(patch)])).length > 0;
  }

  /** One outcome is one statement; several are one transaction, in their order. */
  async settle(outcomes: readonly RunOutcome[]): Promise<void> {
    const [first, ...others] = outcomes;
    if (!first) return;
    if (others.length === 0) return this.#settleOne(this.#pool.query, first);
    await this.#pool.transaction(async (query) => {
      for (const outcome of outcomes) await this.#settleOne(query, outcome);
    });
  }

  async delete(threadId: string, runId: string): Promise<boolean> {
    return (await this.#pool.query(this.#sql.delete, [runId, threadId])).length > 0;
  }

  list({ threadId, status, limit, offset }: RunQuery): Promise<RunRow[]> {
    return this.#pool.query<RunRow>(this.#sql.list, [threadId, status ?? null, limit, offset]);
  }

  async unfinished({ threadId, ownerId }: UnfinishedQuery = {}): Promise<UnfinishedRun[]> {
    const named = Object.entries({ thread_id: threadId, owner: ownerId }).filter(
      ([, id]) => id !== undefined,
    );
    const conditions = named.map(([column], index) => `AND ${column} = $${index + 1}`).join(" ");
    const sql = `${this.#sql.unfinished} ${conditions} ORDER BY run_id`;
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

  async cancelRequests(ownerId: string): Promise<string[]> {
    const runs = await this.#pool.query<Pick<RunRow, "run_id">>(this.#sql.cancelRequests, [ownerId]);
    return runs.map(({ run_id }) => run_id);
  }

  async #settleOne(query: Query, { runId, run, threadId, thread }: RunOutcome): Promise<void> {
    await query(this.#sql.settle, [runId, threadId, storePatch(run), storePatch(thread)]);
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
