import { deleteCheckpoints } from "./postgres-saver-sql.js";
import { tableIn } from "./postgres-keys.js";
import type { PostgresPool } from "./postgres-pool.js";
import {
  readThread,
  storePatch,
  storeThread,
  THREAD_COLUMNS,
  threadAssignments,
  type StoredThread,
} from "./postgres-rows.js";
import type { ThreadPatch, ThreadRow } from "./storage.js";

const columns = THREAD_COLUMNS.join(", ");
const values = THREAD_COLUMNS.map((_, index) => `$${index + 1}`).join(", ");

/** Thread rows, one by one. */
export class PostgresThreads {
  readonly #pool: PostgresPool;
  readonly #sql: Record<"insert" | "get" | "update" | "delete" | "expired", string>;

  constructor(pool: PostgresPool, schema: string) {
    const threads = tableIn(schema, "gs_threads");
    this.#pool = pool;
    this.#sql = {
      insert: `INSERT INTO ${threads} (${columns}) VALUES (${values}) ON CONFLICT DO NOTHING RETURNING 1`,
      get: `SELECT ${columns} FROM ${threads} WHERE thread_id = $1`,
      update: `UPDATE ${threads} AS t SET ${threadAssignments("$2::json")} WHERE thread_id = $1 RETURNING ${columns}`,
      delete: `${deleteCheckpoints(schema)} DELETE FROM ${threads} WHERE thread_id = $1 RETURNING 1`,
      expired: `SELECT ${columns} FROM ${threads} WHERE expires_at < $1 AND status <> 'busy'
        ORDER BY expires_at LIMIT $2`,
    };
  }

  async insert(row: ThreadRow): Promise<boolean> {
    return (await this.#pool.query(this.#sql.insert, storeThread(row))).length > 0;
  }

  async get(threadId: string): Promise<ThreadRow | undefined> {
    const [stored] = await this.#pool.query<StoredThread>(this.#sql.get, [threadId]);
    return stored && readThread(stored);
  }

  async update(threadId: string, patch: ThreadPatch): Promise<ThreadRow | undefined> {
    const [stored] = await this.#pool.query<StoredThread>(this.#sql.update, [threadId, storePatch(patch)]);
    return stored && readThread(stored);
  }

  /** Its runs go with it, by their foreign key, and in the same statement what checkpoints are left of it. */
  async delete(threadId: string): Promise<boolean> {
    return (await this.#pool.query(this.#sql.delete, [threadId])).length > 0;
  }

  async expired(time: number, limit: number): Promise<ThreadRow[]> {
    return (await this.#pool.query<StoredThread>(this.#sql.expired, [time, limit])).map(readThread);
  }
}
