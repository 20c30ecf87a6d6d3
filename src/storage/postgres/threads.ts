import { filterInTurns } from "../../support/event-loop.js";
import { containing, splitFilter } from "../rows/rows.js";
import { IS_UNFINISHED, THREAD_COLUMNS } from "../rows/sql-rows.js";
import type {
  ThreadFilter,
  ThreadPage,
  ThreadPatch,
  ThreadQuery,
  ThreadRow,
  ThreadTable,
} from "../contract/threads.js";
import { tableIn } from "./options.js";
import type { PostgresPool } from "./pool.js";
import {
  fromThreadColumns,
  type ThreadColumns,
  toThreadColumns,
  threadAssignments,
  toJsonColumn,
} from "./rows.js";
import { checkpointDeletions, deleteCheckpoints } from "./saver-sql.js";

const columns = THREAD_COLUMNS.join(", ");
const values = THREAD_COLUMNS.map((_, index) => `$${index + 1}`).join(", ");

/** Thread rows in a PostgreSQL schema: one statement per method where possible. */
export class PostgresThreads implements ThreadTable {
  readonly #pool: PostgresPool;
  readonly #search: PostgresSearch;
  readonly #sql: Record<"insert" | "get" | "update" | "delete" | "deleteUnused" | "expired", string>;

  constructor(pool: PostgresPool, schema: string) {
    const [threads, runs] = [tableIn(schema, "gs_threads"), tableIn(schema, "gs_runs")];
    this.#pool = pool;
    this.#search = new PostgresSearch(pool, schema);
    this.#sql = {
      insert: `INSERT INTO ${threads} (${columns}) VALUES (${values}) ON CONFLICT DO NOTHING RETURNING 1`,
      get: `SELECT ${columns} FROM ${threads} WHERE thread_id = $1`,
      update: `UPDATE ${threads} AS t SET ${threadAssignments("$2::json")} WHERE thread_id = $1
        AND ($3::text IS NULL OR updated_at = $3) RETURNING ${columns}`,
      delete: `${deleteCheckpoints(schema)} DELETE FROM ${threads} WHERE thread_id = $1 RETURNING 1`,
      // A statement that accepts a run updates the thread's row first: this one waits for it, and then finds a later row.
      deleteUnused: `WITH gone AS (
          DELETE FROM ${threads} WHERE thread_id = $1 AND updated_at = $2 AND status <> 'busy'
            AND NOT EXISTS (SELECT FROM ${runs} WHERE thread_id = $1 AND ${IS_UNFINISHED}) RETURNING 1
        ), ${checkpointDeletions(schema, "EXISTS (SELECT FROM gone)")} SELECT 1 FROM gone`,
      // A thread with a queued run does not expire, whether or not it is busy.
      expired: `SELECT ${columns} FROM ${threads} AS t WHERE expires_at < $1 AND status <> 'busy' AND NOT EXISTS (
          SELECT FROM ${runs} AS r WHERE r.thread_id = t.thread_id AND r.state = 'queued' AND r.owner IS NULL)
        ORDER BY expires_at LIMIT $2`,
    };
  }

  async insert(row: ThreadRow): Promise<boolean> {
    return (await this.#pool.query(this.#sql.insert, toThreadColumns(row))).length > 0;
  }

  async get(threadId: string): Promise<ThreadRow | undefined> {
    const [stored] = await this.#pool.query<ThreadColumns>(this.#sql.get, [threadId]);
    return stored && fromThreadColumns(stored);
  }

  async update(threadId: string, patch: ThreadPatch, updatedAt?: string): Promise<ThreadRow | undefined> {
    const values = [threadId, toJsonColumn(patch), updatedAt ?? null];
    const [stored] = await this.#pool.query<ThreadColumns>(this.#sql.update, values);
    return stored && fromThreadColumns(stored);
  }

  /** The foreign key deletes the runs. The same statement deletes any remaining checkpoints. */
  async delete(threadId: string, updatedAt?: string): Promise<boolean> {
    const deleted =
      updatedAt === undefined
        ? this.#pool.query(this.#sql.delete, [threadId])
        : this.#pool.query(this.#sql.deleteUnused, [threadId, updatedAt]);
    return (await deleted).length > 0;
  }

  search(query: ThreadQuery): Promise<ThreadPage> {
    return this.#search.search(query);
  }

  count(filter: ThreadFilter): Promise<number> {
    return this.#search.count(filter);
  }

  async expired(now: string, limit: number): Promise<ThreadRow[]> {
    const stored = await this.#pool.query<ThreadColumns>(this.#sql.expired, [Date.parse(now), limit]);
    return stored.map(fromThreadColumns);
  }
}

/** Offsets up to this one are cheaper to skip than to estimate the number of matches first. */
const SHALLOW = 100;
/** Maximum length of a list in a filter that the server compares: it compares each element with each stored element. */
const MAX_LIST_LENGTH = 16;
/** Number of threads per statement whose metadata is read to be compared in this process. */
const COMPARE_BATCH = 50;

/**
 * Searches whose time does not grow with the total number of threads. For a filter with at most one label, the total is
 * stored. Pages are read from an ordered index, starting from the nearer end. If few threads match, they are looked up
 * through the metadata index. Page and total come from one statement, so they are consistent.
 */
class PostgresSearch {
  readonly #pool: PostgresPool;
  readonly #threads: string;
  readonly #counts: string;
  readonly #facts: string;
  /** Number of threads found by the latest search. */
  #all: number | undefined;

  constructor(pool: PostgresPool, schema: string) {
    this.#pool = pool;
    this.#threads = tableIn(schema, "gs_threads");
    this.#counts = tableIn(schema, "gs_fact_counts");
    this.#facts = tableIn(schema, "gs_facts");
  }

  async count(filter: ThreadFilter): Promise<number> {
    if (hasLongList(filter.metadata)) return (await this.#compared(filter)).length;
    const match = new Match(filter);
    const sql = `SELECT ${this.#total(match)} AS total`;
    const [row] = await this.#pool.queryOnce<{ total: string }>(sql, match.values);
    return Number(row?.total ?? 0);
  }

  async search(query: ThreadQuery): Promise<ThreadPage> {
    if (hasLongList(query.metadata)) return this.#searchCompared(query);
    const match = new Match(query);
    if (match.isAll) return this.#searchAll(query, match);
    if (!match.metadata && query.offset <= SHALLOW) {
      return this.#read(this.#orderedPage(query, match, false), match.values, false);
    }
    const likely = await this.#estimate(query);
    const few = likely.matching ** 2 <= query.limit * likely.all;
    if (few || match.isOpaque) return this.#read(this.#fewPage(query, match), match.values, false);
    const fromEnd = query.offset > likely.matching / 2;
    return this.#read(this.#orderedPage(query, match, fromEnd), match.values, fromEnd);
  }

  async #searchCompared(query: ThreadQuery): Promise<ThreadPage> {
    const { sortBy, sortOrder, limit, offset } = query;
    const ids = await this.#compared(query);
    const match = new Match({ ids });
    const sql = `SELECT ${columns} FROM ${this.#threads} WHERE ${match.indexed}
      ORDER BY ${orderBy(sortBy, sortOrder === "asc")} LIMIT ${match.add(limit)} OFFSET ${match.add(offset)}`;
    const stored = await this.#pool.query<ThreadColumns>(sql, match.values);
    return { rows: stored.map(fromThreadColumns), total: ids.length };
  }

  /** Ids of matching threads. The server compares the first elements of long lists; this process compares the rest. */
  async #compared({ metadata, ...filter }: ThreadFilter): Promise<string[]> {
    const match = new Match({ ...filter, metadata: shortened(metadata) });
    const sql = `SELECT thread_id FROM ${this.#threads} WHERE ${match.indexed}`;
    const found = await this.#pool.query<{ thread_id: string }>(sql, match.values);
    const isWanted = containing(metadata);
    const ids: string[] = [];
    for (let start = 0; start < found.length; start += COMPARE_BATCH) {
      const batch = found.slice(start, start + COMPARE_BATCH).map(({ thread_id }) => thread_id);
      const rows = await this.#pool.query<Pick<ThreadRow, "thread_id" | "metadata">>(
        `SELECT thread_id, metadata FROM ${this.#threads} WHERE thread_id = ANY ($1::text[])`,
        [batch],
      );
      for (const row of await filterInTurns(rows, (one) => isWanted(one.metadata))) ids.push(row.thread_id);
    }
    return ids;
  }

  /** The total of the previous search decides which end of the index is nearer. */
  async #searchAll(query: ThreadQuery, match: Match): Promise<ThreadPage> {
    if (query.offset > SHALLOW) this.#all ??= (await this.#estimate(query)).all;
    const fromEnd = query.offset > SHALLOW && query.offset > (this.#all ?? 0) / 2;
    const found = await this.#read(this.#orderedPage(query, match, fromEnd), match.values, fromEnd);
    this.#all = found.total;
    return found;
  }

  /** An upper limit of matching threads, and the number of all threads, from stored counts. */
  async #estimate({ metadata = {} }: ThreadFilter): Promise<{ all: number; matching: number }> {
    const sql = `SELECT coalesce(min(threads), 0) AS matching, coalesce(max(threads), 0) AS all FROM (
      SELECT (SELECT coalesce(sum(threads), 0) FROM ${this.#counts} AS c WHERE c.fact = f.fact) AS threads
      FROM ${this.#facts}($1::jsonb) AS f (fact) OFFSET 0) AS counted`;
    const { rest: _, ...split } = splitFilter(metadata);
    const facts = Object.fromEntries(split.facts.map((fact) => JSON.parse(fact) as [string, unknown]));
    const [row] = await this.#pool.query<{ all: string; matching: string }>(sql, [toJsonColumn(facts)]);
    return { all: Number(row?.all ?? 0), matching: Number(row?.matching ?? 0) };
  }

  /** A page when few threads match: all of them are read through the metadata index, then sorted. */
  #fewPage({ sortBy, sortOrder, limit, offset }: ThreadQuery, match: Match): string {
    const order = orderBy(sortBy, sortOrder === "asc");
    return `WITH found AS MATERIALIZED (SELECT ${columns} FROM ${this.#threads} AS t WHERE ${match.indexed}),
      page AS (SELECT * FROM found ORDER BY ${order} LIMIT ${match.add(limit)} OFFSET ${match.add(offset)})
      SELECT (SELECT count(*) FROM found) AS total, page.* FROM (SELECT 1) AS one LEFT JOIN page ON true ORDER BY ${order}`;
  }

  /** A page in index order, read from the end if that is nearer, because OFFSET reads all rows it skips. */
  #orderedPage({ sortBy, sortOrder, limit, offset }: ThreadQuery, match: Match, fromEnd: boolean): string {
    const order = orderBy(sortBy, (sortOrder === "asc") !== fromEnd);
    const [size, skipped] = [match.add(limit), match.add(offset)];
    const remaining = `(SELECT n FROM total) - ${skipped}::bigint`;
    const window = fromEnd
      ? `LIMIT greatest(0, least(${size}::bigint, ${remaining})) OFFSET greatest(0, ${remaining} - ${size}::bigint)`
      : `LIMIT ${size} OFFSET ${skipped}`;
    return `WITH total AS MATERIALIZED (SELECT ${this.#total(match)} AS n),
      page AS (SELECT ${columns} FROM ${this.#threads} AS t WHERE ${match.scanned} ORDER BY ${order} ${window})
      SELECT total.n AS total, page.* FROM total LEFT JOIN page ON true ORDER BY ${order}`;
  }

  #total(match: Match): string {
    if (!match.hasStoredTotal) return `(SELECT count(*) FROM ${this.#threads} AS t WHERE ${match.indexed})`;
    const fact = match.metadata
      ? `(SELECT f FROM ${this.#facts}(${match.metadata}) AS f WHERE f <> '')`
      : "''::bytea";
    return `(SELECT coalesce(sum(threads), 0) FROM ${this.#counts} WHERE fact = ${fact})`;
  }

  async #read(sql: string, values: unknown[], reversed: boolean) {
    type Row = ThreadColumns & { total: string };
    const stored = await this.#pool.queryOnce<Row>(sql, values);
    const total = Number(stored[0]?.total ?? 0);
    const rows = stored.filter((row) => row.thread_id !== null).map(fromThreadColumns);
    return { rows: reversed ? rows.reverse() : rows, total };
  }
}

/** Whether the filter contains a list that is too long for the server to compare. */
function hasLongList(filter: unknown): boolean {
  if (typeof filter !== "object" || filter === null) return false;
  return (
    (Array.isArray(filter) && filter.length > MAX_LIST_LENGTH) || Object.values(filter).some(hasLongList)
  );
}

/** A weaker filter with shorter lists: every value that contains `filter` contains it too. */
function shortened<T>(filter: T): T {
  if (Array.isArray(filter)) return filter.slice(0, MAX_LIST_LENGTH).map(shortened) as T;
  if (typeof filter !== "object" || filter === null) return filter;
  return Object.fromEntries(
    Object.entries(filter).map(([key, value]) => [key, shortened(value as unknown)]),
  ) as T;
}

/** The ORDER BY expressions that match the index of this field. */
function orderBy(field: ThreadQuery["sortBy"], ascending: boolean): string {
  const direction = ascending ? "ASC" : "DESC";
  const nulls = field === "state_updated_at" ? (ascending ? " NULLS FIRST" : " NULLS LAST") : "";
  return field === "thread_id"
    ? `thread_id ${direction}`
    : `${field} ${direction}${nulls}, thread_id ${direction}`;
}

/** The WHERE condition of a filter, with its parameters. */
class Match {
  readonly values: unknown[] = [];
  /** The filter's metadata as an SQL expression; undefined if the filter has none. */
  readonly metadata: string | undefined;
  /** Whether the number of matching threads is stored and does not have to be counted. */
  readonly hasStoredTotal: boolean;
  /** Whether every thread matches. */
  readonly isAll: boolean;
  /** Whether the metadata filter has no label, so that the number of matches cannot be estimated. */
  readonly isOpaque: boolean;
  /** The condition, with the choice of index left to the planner. */
  readonly indexed: string;
  /** The same condition, but without the metadata index: for pages of many matches, read in index order. */
  readonly scanned: string;

  constructor({ ids, metadata = {}, scope, status }: ThreadFilter) {
    const { facts, rest } = splitFilter(metadata);
    const tests = [
      ...(ids ? [`thread_id = ANY (${this.add([...new Set(ids)])}::text[])`] : []),
      ...(status ? [`status = ${this.add(status)}`] : []),
      ...(scope === undefined ? [] : [`(scope IS NULL OR scope = ${this.add(scope)})`]),
    ];
    this.metadata = facts.length > 0 || rest ? `${this.add(toJsonColumn(metadata))}::jsonb` : undefined;
    this.hasStoredTotal = tests.length === 0 && !rest && facts.length <= 1;
    this.isAll = this.hasStoredTotal && !this.metadata;
    this.isOpaque = rest !== undefined && facts.length === 0;
    const contained = this.metadata && `metadata @> ${this.metadata}`;
    this.indexed = [...tests, ...(contained ? [contained] : ["true"])].join(" AND ");
    this.scanned = [...tests, ...(contained ? [`(${contained}) IS TRUE`] : ["true"])].join(" AND ");
  }

  /** Adds a value and returns the placeholder of its parameter. */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}
