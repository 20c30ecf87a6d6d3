import type { Database, Statement } from "better-sqlite3";
import type { JsonObject } from "../../models/common.js";
import type { TokenUsage } from "../../models/run.js";
import { expiryOf, factsOf, patchThread } from "../rows.js";
import type { RunRow, ThreadPatch, ThreadRow } from "../storage.js";

/** Columns of gs_threads, in the order of the table. */
export const THREAD_COLUMNS = [
  "thread_id",
  "created_at",
  "updated_at",
  "state_updated_at",
  "metadata",
  "config",
  "status",
  "error",
  "ttl_strategy",
  "ttl_minutes",
  "expires_at",
  "scope",
  "graphs",
] as const;

/** Columns of gs_runs, in the order of the table. */
export const RUN_COLUMNS = [
  "run_id",
  "thread_id",
  "assistant_id",
  "created_at",
  "updated_at",
  "status",
  "metadata",
  "kwargs",
  "multitask_strategy",
  "error",
  "usage",
  "owner",
] as const;

type Ttl = NonNullable<ThreadRow["ttl"]>;

export interface StoredThread extends Omit<ThreadRow, "metadata" | "config" | "graphs" | "ttl"> {
  metadata: string;
  config: string;
  graphs: string | null;
  ttl_strategy: Ttl["strategy"] | null;
  ttl_minutes: number | null;
  expires_at: number | null;
}

export interface StoredRun extends Omit<RunRow, "metadata" | "kwargs" | "usage"> {
  metadata: string;
  kwargs: string;
  usage: string | null;
}

function storeThread(row: ThreadRow): StoredThread {
  const { ttl, ...fields } = row;
  return {
    ...fields,
    metadata: JSON.stringify(row.metadata),
    config: JSON.stringify(row.config),
    graphs: row.graphs && JSON.stringify(row.graphs),
    ttl_strategy: ttl?.strategy ?? null,
    ttl_minutes: ttl?.ttl_minutes ?? null,
    expires_at: expiryOf(row),
  };
}

export function readThread(stored: StoredThread): ThreadRow {
  const { ttl_strategy, ttl_minutes, expires_at: _derived, ...fields } = stored;
  return {
    ...fields,
    metadata: JSON.parse(stored.metadata) as JsonObject,
    config: JSON.parse(stored.config) as JsonObject,
    graphs: stored.graphs === null ? null : (JSON.parse(stored.graphs) as string[]),
    ttl: ttl_strategy === null || ttl_minutes === null ? null : { strategy: ttl_strategy, ttl_minutes },
  };
}

export const storeRun = (row: RunRow): StoredRun => ({
  ...row,
  metadata: JSON.stringify(row.metadata),
  kwargs: JSON.stringify(row.kwargs),
  usage: row.usage && JSON.stringify(row.usage),
});

export const readRun = (stored: StoredRun): RunRow => ({
  ...stored,
  metadata: JSON.parse(stored.metadata) as JsonObject,
  kwargs: JSON.parse(stored.kwargs) as JsonObject,
  usage: stored.usage === null ? null : (JSON.parse(stored.usage) as TokenUsage),
});

const columns = THREAD_COLUMNS.join(", ");
const values = THREAD_COLUMNS.map((column) => `@${column}`).join(", ");
const assignments = THREAD_COLUMNS.filter((column) => column !== "thread_id" && column !== "created_at")
  .map((column) => `${column} = @${column}`)
  .join(", ");

/** Thread rows of a SQLite file. Methods are plain calls: the caller puts them into a transaction. */
export class SqliteThreads {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(db: Database) {
    this.#db = db;
  }

  get(threadId: string): ThreadRow | undefined {
    const sql = `SELECT ${columns} FROM gs_threads WHERE thread_id = ?`;
    const stored = this.#prepare(sql).get(threadId) as StoredThread | undefined;
    return stored && readThread(stored);
  }

  insert(row: ThreadRow): boolean {
    const sql = `INSERT INTO gs_threads (${columns}) VALUES (${values}) ON CONFLICT DO NOTHING`;
    if (this.#prepare(sql).run(storeThread(row)).changes === 0) return false;
    this.#addFacts(row, factsOf(row.metadata));
    return true;
  }

  update(threadId: string, patch: ThreadPatch): ThreadRow | undefined {
    const row = this.get(threadId);
    if (!row) return undefined;
    const next = patchThread(row, patch);
    this.#prepare(`UPDATE gs_threads SET ${assignments} WHERE thread_id = @thread_id`).run(storeThread(next));
    this.#updateFacts(row, next);
    return next;
  }

  /** Its runs and facts go with it, by their foreign keys. */
  delete(threadId: string): boolean {
    return this.#prepare("DELETE FROM gs_threads WHERE thread_id = ?").run(threadId).changes > 0;
  }

  expired(time: number, limit: number): ThreadRow[] {
    const sql = `SELECT ${columns} FROM gs_threads WHERE expires_at < ? AND status <> 'busy' ORDER BY expires_at LIMIT ?`;
    return (this.#prepare(sql).all(time, limit) as StoredThread[]).map(readThread);
  }

  #addFacts({ thread_id, updated_at }: ThreadRow, facts: string[]): void {
    const insert = this.#prepare(
      "INSERT INTO gs_thread_facts (thread_id, fact, updated_at) VALUES (?, ?, ?)",
    );
    for (const fact of facts) insert.run(thread_id, fact, updated_at);
  }

  #updateFacts(row: ThreadRow, next: ThreadRow): void {
    const { thread_id, updated_at } = next;
    const before = new Set(factsOf(row.metadata));
    const after = new Set(factsOf(next.metadata));
    const remove = this.#prepare("DELETE FROM gs_thread_facts WHERE thread_id = ? AND fact = ?");
    for (const fact of before) if (!after.has(fact)) remove.run(thread_id, fact);
    this.#prepare("UPDATE gs_thread_facts SET updated_at = ? WHERE thread_id = ?").run(updated_at, thread_id);
    this.#addFacts(
      next,
      [...after].filter((fact) => !before.has(fact)),
    );
  }

  #prepare(sql: string): Statement {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
