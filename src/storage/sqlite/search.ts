import type { Database, Statement } from "better-sqlite3";
import { filterInTurns } from "../../support/event-loop.js";
import { containing, splitFilter } from "../rows.js";
import { readThread, type StoredThread, THREAD_COLUMNS } from "./threads.js";
import type { ThreadFilter, ThreadQuery, ThreadRow } from "../storage.js";

const columns = THREAD_COLUMNS.map((column) => `t.${column}`).join(", ");

/** Metadata of more facts is compared row by row. */
const MOST_FACTS = 8;

interface Found {
  rows: ThreadRow[];
  total: number;
}

/**
 * Finds thread rows of a SQLite file. What statements can tell, they tell of one moment. Metadata that facts do not
 * stand for is compared row by row, over as many turns of the event loop as it takes: what changes meanwhile is found
 * as it is then.
 */
export class SqliteSearch {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();
  readonly #transaction: ReturnType<Database["transaction"]>;

  constructor(db: Database) {
    this.#db = db;
    this.#transaction = db.transaction((work: () => unknown) => work());
  }

  async search(query: ThreadQuery): Promise<Found> {
    const isWanted = testOf(query);
    if (!isWanted) return this.#atOnce(() => this.#page(query));
    const ids = await this.#passing(
      this.#atOnce(() => this.#candidates(query)),
      isWanted,
    );
    const page = ids.slice(query.offset, query.offset + query.limit);
    return { rows: this.#atOnce(() => page.flatMap((id) => this.#row(id) ?? [])), total: ids.length };
  }

  async count(filter: ThreadFilter): Promise<number> {
    const isWanted = testOf(filter);
    if (!isWanted) return this.#atOnce(() => this.#count(this.#match(filter)));
    return (
      await this.#passing(
        this.#atOnce(() => this.#candidates(filter)),
        isWanted,
      )
    ).length;
  }

  #page(query: ThreadQuery): Found {
    const match = this.#match(query);
    const total = this.#count(match);
    if (query.offset >= total) return { rows: [], total };
    // The second half is read from its end: an OFFSET walks over all that it skips.
    const limit = Math.min(query.limit, total - query.offset);
    const fromEnd = query.offset > total / 2;
    const offset = fromEnd ? total - query.offset - limit : query.offset;
    const direction = (query.sortOrder === "asc") === fromEnd ? "DESC" : "ASC";
    const sql = `SELECT ${columns} ${match.sql} ORDER BY ${orderOf(query.sortBy, match, direction)}
      LIMIT @limit OFFSET @offset`;
    const stored = this.#prepare(sql).all({ ...match.params, limit, offset }) as StoredThread[];
    const rows = stored.map(readThread);
    return { rows: fromEnd ? rows.reverse() : rows, total };
  }

  #count({ sql, params, total }: Match): number {
    return total ?? (this.#prepare(`SELECT count(*) ${sql}`).pluck().get(params) as number);
  }

  /** Ids of the threads whose metadata are to be compared, in order. */
  #candidates(query: ThreadFilter & Partial<ThreadQuery>): string[] {
    const match = this.#match(query);
    const order = orderOf(query.sortBy ?? "thread_id", match, query.sortOrder === "desc" ? "DESC" : "ASC");
    const sql = `SELECT t.thread_id ${match.sql} ORDER BY ${order}`;
    return this.#prepare(sql).pluck().all(match.params) as string[];
  }

  async #passing(ids: readonly string[], isWanted: Test): Promise<string[]> {
    const metadata = this.#prepare("SELECT metadata FROM gs_threads WHERE thread_id = ?").pluck();
    return filterInTurns(ids, (id) => {
      const text = metadata.get(id) as string | undefined;
      return text !== undefined && isWanted(JSON.parse(text));
    });
  }

  #row(threadId: string): ThreadRow | undefined {
    const sql = `SELECT ${columns} FROM gs_threads AS t WHERE thread_id = ?`;
    const stored = this.#prepare(sql).get(threadId) as StoredThread | undefined;
    return stored && readThread(stored);
  }

  /** Finds by ids, else by the rarest fact; of metadata that is compared row by row, the other facts are left out. */
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
    const statement = this.#prepare("SELECT threads FROM gs_facts WHERE fact = ?").pluck();
    return (statement.get(fact) as number | undefined) ?? 0;
  }

  /** Statements that see the same rows. */
  #atOnce<T>(work: () => T): T {
    return this.#transaction.deferred(work) as T;
  }

  #prepare(sql: string): Statement {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

type Test = (metadata: unknown) => boolean;

/** The test of metadata that no statement makes; undefined when facts stand for all of it. */
function testOf({ metadata = {} }: ThreadFilter): Test | undefined {
  const { facts, rest } = splitFilter(metadata);
  return rest || facts.length > MOST_FACTS ? containing(metadata) : undefined;
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
