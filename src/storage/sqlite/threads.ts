import { filterInTurns } from "../../support/event-loop.js";
import type { JsonObject } from "../../models/common.js";
import type { StoredPreview } from "../../models/thread-fields.js";
import { containing, expiryOf, labelsOf, patchThread, splitFilter } from "../rows/rows.js";
import { IS_UNFINISHED, THREAD_COLUMNS, type TtlColumns } from "../rows/sql-rows.js";
import type {
  ThreadFilter,
  ThreadPage,
  ThreadPatch,
  ThreadQuery,
  ThreadRow,
  ThreadTable,
} from "../contract/threads.js";
import type { SqliteFile } from "./file.js";
import { CHECKPOINT_TABLES } from "./schema.js";

interface StoredThread
  extends Omit<ThreadRow, "metadata" | "config" | "graphs" | "ttl" | "preview">, TtlColumns {
  metadata: string;
  config: string;
  graphs: string | null;
  preview: string | null;
  expires_at: number | null;
}

function storeThread(row: ThreadRow): StoredThread {
  const { ttl, ...fields } = row;
  return {
    ...fields,
    metadata: JSON.stringify(row.metadata),
    config: JSON.stringify(row.config),
    graphs: row.graphs && JSON.stringify(row.graphs),
    preview: row.preview ? JSON.stringify(row.preview) : null,
    ttl_strategy: ttl?.strategy ?? null,
    ttl_minutes: ttl?.ttl_minutes ?? null,
    expires_at: expiryOf(row),
  };
}

function readThread(stored: StoredThread): ThreadRow {
  const { ttl_strategy: strategy, ttl_minutes, expires_at: _derived, preview, ...fields } = stored;
  return {
    ...fields,
    metadata: JSON.parse(stored.metadata) as JsonObject,
    config: JSON.parse(stored.config) as JsonObject,
    graphs: stored.graphs === null ? null : (JSON.parse(stored.graphs) as string[]),
    ttl: strategy && { strategy, ttl_minutes },
    ...(preview !== null && { preview: JSON.parse(preview) as StoredPreview }),
  };
}

const columns = THREAD_COLUMNS.join(", ");
const values = THREAD_COLUMNS.map((column) => `@${column}`).join(", ");
const assignments = THREAD_COLUMNS.filter((column) => column !== "thread_id" && column !== "created_at")
  .map((column) => `${column} = @${column}`)
  .join(", ");

const DELETE = "DELETE FROM gs_threads WHERE thread_id = @threadId";
const IF_UNUSED = `AND updated_at = @updatedAt AND status <> 'busy' AND NOT EXISTS (
  SELECT 1 FROM gs_runs WHERE thread_id = @threadId AND ${IS_UNFINISHED})`;

/** Thread rows of a SQLite file. */
export class SqliteThreads implements ThreadTable {
  readonly #file: SqliteFile;
  readonly #search: SqliteSearch;

  constructor(file: SqliteFile) {
    this.#file = file;
    this.#search = new SqliteSearch(file);
  }

  insert(row: ThreadRow): Promise<boolean> {
    const sql = `INSERT INTO gs_threads (${columns}) VALUES (${values}) ON CONFLICT DO NOTHING`;
    return this.#file.write(() => {
      if (this.#file.statement(sql).run(storeThread(row)).changes === 0) return false;
      this.#addFacts(row, labelsOf(row.metadata));
      return true;
    });
  }

  get(threadId: string): Promise<ThreadRow | undefined> {
    return this.#file.read(() => this.#find(threadId));
  }

  update(threadId: string, patch: ThreadPatch, updatedAt?: string): Promise<ThreadRow | undefined> {
    return this.#file.write(() => this.patch(threadId, patch, updatedAt));
  }

  /** Like `update`, for use inside a transaction. */
  patch(threadId: string, patch: ThreadPatch, updatedAt?: string): ThreadRow | undefined {
    const row = this.#find(threadId);
    if (!row || (updatedAt ?? row.updated_at) !== row.updated_at) return undefined;
    const next = patchThread(row, patch);
    const sql = `UPDATE gs_threads SET ${assignments} WHERE thread_id = @thread_id`;
    this.#file.statement(sql).run(storeThread(next));
    this.#updateFacts(row, next);
    return next;
  }

  search(query: ThreadQuery): Promise<ThreadPage> {
    return this.#file.read(() => this.#search.search(query));
  }

  count(filter: ThreadFilter): Promise<number> {
    return this.#file.read(() => this.#search.count(filter));
  }

  /** Foreign keys delete its runs and labels too. The same transaction deletes any remaining checkpoints. */
  delete(threadId: string, updatedAt?: string): Promise<boolean> {
    return this.#file.write(() => {
      const sql = updatedAt === undefined ? DELETE : `${DELETE} ${IF_UNUSED}`;
      const params = { threadId, updatedAt: updatedAt ?? null };
      if (this.#file.statement(sql).run(params).changes === 0) return false;
      for (const table of CHECKPOINT_TABLES)
        this.#file.statement(`DELETE FROM ${table} WHERE thread_id = ?`).run(threadId);
      return true;
    });
  }

  expired(now: string, limit: number): Promise<ThreadRow[]> {
    const sql = `SELECT ${columns} FROM gs_threads WHERE expires_at < ? AND status <> 'busy' ORDER BY expires_at LIMIT ?`;
    return this.#file.read(() =>
      (this.#file.statement(sql).all(Date.parse(now), limit) as StoredThread[]).map(readThread),
    );
  }

  #find(threadId: string): ThreadRow | undefined {
    const sql = `SELECT ${columns} FROM gs_threads WHERE thread_id = ?`;
    const stored = this.#file.statement(sql).get(threadId) as StoredThread | undefined;
    return stored && readThread(stored);
  }

  #addFacts({ thread_id, updated_at }: ThreadRow, facts: string[]): void {
    const insert = this.#file.statement(
      "INSERT INTO gs_thread_facts (thread_id, fact, updated_at) VALUES (?, ?, ?)",
    );
    for (const fact of facts) insert.run(thread_id, fact, updated_at);
  }

  #updateFacts(row: ThreadRow, next: ThreadRow): void {
    const { thread_id, updated_at } = next;
    const before = new Set(labelsOf(row.metadata));
    const after = new Set(labelsOf(next.metadata));
    const remove = this.#file.statement("DELETE FROM gs_thread_facts WHERE thread_id = ? AND fact = ?");
    for (const fact of before) if (!after.has(fact)) remove.run(thread_id, fact);
    this.#file
      .statement("UPDATE gs_thread_facts SET updated_at = ? WHERE thread_id = ?")
      .run(updated_at, thread_id);
    this.#addFacts(
      next,
      [...after].filter((fact) => !before.has(fact)),
    );
  }
}

const searched = THREAD_COLUMNS.map((column) => `t.${column}`).join(", ");

/** Metadata filters with more labels are compared row by row. */
const MAX_FACTS = 8;

/**
 * Finds thread rows of a SQLite file. Searches that SQL can answer read one snapshot. Metadata that labels cannot
 * represent is compared row by row, over several turns of the event loop, so rows that change meanwhile may be
 * returned with their new contents.
 */
class SqliteSearch {
  readonly #file: SqliteFile;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  async search(query: ThreadQuery): Promise<ThreadPage> {
    const isWanted = testOf(query);
    if (!isWanted) return this.#file.atOnce(() => this.#page(query));
    const ids = await this.#passing(
      this.#file.atOnce(() => this.#candidates(query)),
      isWanted,
    );
    const page = ids.slice(query.offset, query.offset + query.limit);
    return { rows: this.#file.atOnce(() => page.flatMap((id) => this.#row(id) ?? [])), total: ids.length };
  }

  async count(filter: ThreadFilter): Promise<number> {
    const isWanted = testOf(filter);
    if (!isWanted) return this.#file.atOnce(() => this.#count(this.#match(filter)));
    return (
      await this.#passing(
        this.#file.atOnce(() => this.#candidates(filter)),
        isWanted,
      )
    ).length;
  }

  #page(query: ThreadQuery): ThreadPage {
    const match = this.#match(query);
    const total = this.#count(match);
    if (query.offset >= total) return { rows: [], total };
    // Read the second half from the end: OFFSET scans all rows that it skips.
    const limit = Math.min(query.limit, total - query.offset);
    const fromEnd = query.offset > total / 2;
    const offset = fromEnd ? total - query.offset - limit : query.offset;
    const direction = (query.sortOrder === "asc") === fromEnd ? "DESC" : "ASC";
    const sql = `SELECT ${searched} ${match.sql} ORDER BY ${orderOf(query.sortBy, match, direction)}
      LIMIT @limit OFFSET @offset`;
    const stored = this.#file.statement(sql).all({ ...match.params, limit, offset }) as StoredThread[];
    const rows = stored.map(readThread);
    return { rows: fromEnd ? rows.reverse() : rows, total };
  }

  #count({ sql, params, total }: Match): number {
    return total ?? (this.#file.statement(`SELECT count(*) ${sql}`).pluck().get(params) as number);
  }

  /** Ids of the threads whose metadata must be compared, in order. */
  #candidates(query: ThreadFilter & Partial<ThreadQuery>): string[] {
    const match = this.#match(query);
    const order = orderOf(query.sortBy ?? "thread_id", match, query.sortOrder === "desc" ? "DESC" : "ASC");
    const sql = `SELECT t.thread_id ${match.sql} ORDER BY ${order}`;
    return this.#file.statement(sql).pluck().all(match.params) as string[];
  }

  async #passing(ids: readonly string[], isWanted: Test): Promise<string[]> {
    const metadata = this.#file.statement("SELECT metadata FROM gs_threads WHERE thread_id = ?").pluck();
    return filterInTurns(ids, (id) => {
      const text = metadata.get(id) as string | undefined;
      return text !== undefined && isWanted(JSON.parse(text));
    });
  }

  #row(threadId: string): ThreadRow | undefined {
    const sql = `SELECT ${searched} FROM gs_threads AS t WHERE thread_id = ?`;
    const stored = this.#file.statement(sql).get(threadId) as StoredThread | undefined;
    return stored && readThread(stored);
  }

  /** Looks up by ids, otherwise by the rarest label. If metadata is compared row by row, the other labels are omitted. */
  #match(filter: ThreadFilter): Match {
    const { ids, metadata = {}, scope, status } = filter;
    const { facts } = splitFilter(metadata);
    const base = ids ? byIds(ids) : this.#byRarest(facts);
    const others = testOf(filter) ? [] : facts.filter((fact) => fact !== base.fact);
    const tests = [
      ...(status ? ["t.status = @status"] : []),
      ...(scope === undefined ? [] : ["(t.scope IS NULL OR t.scope = @scope)"]),
      ...(others.length > 0 ? [HAS_FACTS] : []),
    ];
    if (tests.length === 0) return base;
    return {
      sql: `${base.sql} ${base.fact ? "AND" : "WHERE"} ${tests.join(" AND ")}`,
      fact: base.fact,
      params: { ...base.params, status, scope, facts: JSON.stringify(others) },
    };
  }

  #byRarest(facts: readonly string[]): Match {
    const counted = facts.map((fact) => ({ fact, total: this.#threadsOf(fact) }));
    const [rarest] = counted.sort((a, b) => a.total - b.total);
    return rarest ? byFact(rarest.fact, rarest.total) : all(this.#threadsOf(ALL_THREADS));
  }

  #threadsOf(fact: string): number {
    const statement = this.#file.statement("SELECT threads FROM gs_facts WHERE fact = ?").pluck();
    return (statement.get(fact) as number | undefined) ?? 0;
  }
}

type Test = (metadata: unknown) => boolean;

/** The metadata test that SQL cannot express; undefined if labels represent the whole filter. */
function testOf({ metadata = {} }: ThreadFilter): Test | undefined {
  const { facts, rest } = splitFilter(metadata);
  return rest || facts.length > MAX_FACTS ? containing(metadata) : undefined;
}

/** FROM and WHERE of a search over gs_threads `t` and, if it starts from a label, gs_thread_facts `f`. */
interface Match {
  sql: string;
  params: Record<string, unknown>;
  fact?: string;
  /** Number of matching rows, if the tables store it. */
  total?: number;
}

/** Uses the columns of gs_thread_facts if possible: its index has this order. */
function orderOf(field: ThreadQuery["sortBy"], { fact }: Match, direction: "ASC" | "DESC"): string {
  const table = fact && field === "updated_at" ? "f" : "t";
  const fields = field === "thread_id" ? [field] : [field, "thread_id"];
  return fields.map((name) => `${table}.${name} ${direction}`).join(", ");
}

/** Row of gs_facts that counts all threads. */
const ALL_THREADS = "";

const HAS_FACTS = `NOT EXISTS (SELECT 1 FROM json_each(@facts) AS wanted WHERE NOT EXISTS (
  SELECT 1 FROM gs_thread_facts AS has WHERE has.thread_id = t.thread_id AND has.fact = wanted.value))`;

const all = (total: number): Match => ({ sql: "FROM gs_threads AS t", params: {}, total });

/** CROSS JOIN keeps the tables in this order. */
const byFact = (fact: string, total: number): Match => ({
  sql: "FROM gs_thread_facts AS f CROSS JOIN gs_threads AS t ON t.thread_id = f.thread_id WHERE f.fact = @fact",
  params: { fact },
  fact,
  total,
});

const byIds = (ids: readonly string[]): Match => ({
  sql: "FROM json_each(@ids) AS wanted CROSS JOIN gs_threads AS t ON t.thread_id = wanted.value",
  params: { ids: JSON.stringify([...new Set(ids)]) },
});
