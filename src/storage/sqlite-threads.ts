import type { Database, Statement } from "better-sqlite3";
import { contains } from "./contains.js";
import { factsOf, splitFilter } from "./facts.js";
import { patchThread } from "./rows.js";
import { readThread, storeThread, THREAD_COLUMNS, type StoredThread } from "./sqlite-rows.js";
import type { ThreadFilter, ThreadPatch, ThreadQuery, ThreadRow } from "./storage.js";

const columns = THREAD_COLUMNS.join(", ");
const pageColumns = THREAD_COLUMNS.map((column) => `t.${column}`).join(", ");
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
    let filter: { text: string; value: unknown } = { text: "null", value: null };
    db.function("gs_contains", { deterministic: true }, (metadata, text) => {
      if (filter.text !== text) filter = { text: String(text), value: JSON.parse(String(text)) };
      return contains(JSON.parse(String(metadata)), filter.value) ? 1 : 0;
    });
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

  search(query: ThreadQuery): { rows: ThreadRow[]; total: number } {
    const match = this.#match(query);
    const total = this.#count(match);
    if (query.offset >= total) return { rows: [], total };
    // The second half is read from its end: an OFFSET walks over all that it skips.
    const limit = Math.min(query.limit, total - query.offset);
    const fromEnd = query.offset > total / 2;
    const offset = fromEnd ? total - query.offset - limit : query.offset;
    const direction = (query.sortOrder === "asc") === fromEnd ? "DESC" : "ASC";
    const sql = `SELECT ${pageColumns} ${match.sql} ORDER BY ${orderOf(query.sortBy, match, direction)}
      LIMIT @limit OFFSET @offset`;
    const stored = this.#prepare(sql).all({ ...match.params, limit, offset }) as StoredThread[];
    const rows = stored.map(readThread);
    return { rows: fromEnd ? rows.reverse() : rows, total };
  }

  count(filter: ThreadFilter): number {
    return this.#count(this.#match(filter));
  }

  #count({ sql, params, total }: Match): number {
    return total ?? (this.#prepare(`SELECT count(*) ${sql}`).pluck().get(params) as number);
  }

  /** Finds by ids, else by the rarest fact; what these leave open is tested row by row. */
  #match({ ids, metadata = {}, status }: ThreadFilter): Match {
    const { facts, rest } = splitFilter(metadata);
    const base = ids ? byIds(ids) : this.#byRarest(facts);
    const others = facts.filter((fact) => fact !== base.fact);
    const tests = [
      ...(status ? ["t.status = @status"] : []),
      ...(others.length > 0 ? [HAS_FACTS] : []),
      ...(rest ? ["gs_contains(t.metadata, @rest)"] : []),
    ];
    if (tests.length === 0) return base;
    const params = { ...base.params, status, facts: JSON.stringify(others), rest: JSON.stringify(rest) };
    return {
      sql: `${base.sql} ${base.fact ? "AND" : "WHERE"} ${tests.join(" AND ")}`,
      fact: base.fact,
      params,
    };
  }

  #byRarest(facts: readonly string[]): Match {
    const counted = facts.map((fact) => ({ fact, total: this.#threadsOf(fact) }));
    const [rarest] = counted.sort((a, b) => a.total - b.total);
    return rarest ? byFact(rarest.fact, rarest.total) : all(this.#threadsOf(ALL_THREADS));
  }

  #threadsOf(fact: string): number {
    const statement = this.#prepare("SELECT threads FROM gs_facts WHERE fact = ?").pluck();
    return (statement.get(fact) as number | undefined) ?? 0;
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

/** FROM and WHERE of a search, over gs_threads `t` and, where a fact leads, gs_thread_facts `f`. */
interface Match {
  sql: string;
  params: Record<string, unknown>;
  fact?: string;
  /** The number of matching rows, where it is kept and need not be counted. */
  total?: number;
}

/** The facts' own columns where they serve: their index has this order. */
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
