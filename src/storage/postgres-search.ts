import { splitFilter } from "./facts.js";
import { tableIn } from "./postgres-keys.js";
import type { PostgresPool } from "./postgres-pool.js";
import { readThread, THREAD_COLUMNS, toJson, type StoredThread } from "./postgres-rows.js";
import type { ThreadFilter, ThreadQuery, ThreadRow } from "./storage.js";

/** Offsets up to here are cheaper to skip than to be asked about first. */
const SHALLOW = 100;

/**
 * Searches whose time does not grow with the threads that there are: totals are kept where the filter is a single
 * fact, pages come from an index in order, from their nearer end, and threads that few facts lead to are looked up.
 * Every search is one statement, so that page and total are of one moment.
 */
export class PostgresSearch {
  readonly #pool: PostgresPool;
  readonly #threads: string;
  readonly #counts: string;
  readonly #facts: string;
  /** How many threads there were lately. */
  #all: number | undefined;

  constructor(pool: PostgresPool, schema: string) {
    this.#pool = pool;
    this.#threads = tableIn(schema, "gs_threads");
    this.#counts = tableIn(schema, "gs_fact_counts");
    this.#facts = tableIn(schema, "gs_facts");
  }

  async count(filter: ThreadFilter): Promise<number> {
    const match = new Match(filter);
    const sql = `SELECT ${this.#total(match)} AS total`;
    const [row] = await this.#pool.queryOnce<{ total: string }>(sql, match.values);
    return Number(row?.total ?? 0);
  }

  async search(query: ThreadQuery): Promise<{ rows: ThreadRow[]; total: number }> {
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

  /** The number of threads that the search before found tells the nearer end. */
  async #searchAll(query: ThreadQuery, match: Match): Promise<{ rows: ThreadRow[]; total: number }> {
    if (query.offset > SHALLOW) this.#all ??= (await this.#estimate(query)).all;
    const fromEnd = query.offset > SHALLOW && query.offset > (this.#all ?? 0) / 2;
    const found = await this.#read(this.#orderedPage(query, match, fromEnd), match.values, fromEnd);
    this.#all = found.total;
    return found;
  }

  /** At most how many threads match, and how many there are; read from counts that are kept. */
  async #estimate({ metadata = {} }: ThreadFilter): Promise<{ all: number; matching: number }> {
    const sql = `SELECT coalesce(min(threads), 0) AS matching, coalesce(max(threads), 0) AS all FROM (
      SELECT (SELECT coalesce(sum(threads), 0) FROM ${this.#counts} AS c WHERE c.fact = f.fact) AS threads
      FROM ${this.#facts}($1::jsonb) AS f (fact) OFFSET 0) AS counted`;
    const { rest: _, ...split } = splitFilter(metadata);
    const facts = Object.fromEntries(split.facts.map((fact) => JSON.parse(fact) as [string, unknown]));
    const [row] = await this.#pool.query<{ all: string; matching: string }>(sql, [toJson(facts)]);
    return { all: Number(row?.all ?? 0), matching: Number(row?.matching ?? 0) };
  }

  /** A page of few threads: all of them are fetched, by the index of their metadata, then sorted. */
  #fewPage({ sortBy, sortOrder, limit, offset }: ThreadQuery, match: Match): string {
    const order = orderBy(sortBy, sortOrder === "asc");
    return `WITH found AS MATERIALIZED (SELECT ${columns} FROM ${this.#threads} AS t WHERE ${match.indexed}),
      page AS (SELECT * FROM found ORDER BY ${order} LIMIT ${match.add(limit)} OFFSET ${match.add(offset)})
      SELECT (SELECT count(*) FROM found) AS total, page.* FROM (SELECT 1) AS one LEFT JOIN page ON true ORDER BY ${order}`;
  }

  /** A page of an index in order; from the end, when that is nearer, for an OFFSET walks over all that it skips. */
  #orderedPage({ sortBy, sortOrder, limit, offset }: ThreadQuery, match: Match, fromEnd: boolean): string {
    const order = orderBy(sortBy, (sortOrder === "asc") !== fromEnd);
    const [size, skipped] = [match.add(limit), match.add(offset)];
    const left = `(SELECT n FROM total) - ${skipped}::bigint`;
    const window = fromEnd
      ? `LIMIT greatest(0, least(${size}::bigint, ${left})) OFFSET greatest(0, ${left} - ${size}::bigint)`
      : `LIMIT ${size} OFFSET ${skipped}`;
    return `WITH total AS MATERIALIZED (SELECT ${this.#total(match)} AS n),
      page AS (SELECT ${columns} FROM ${this.#threads} AS t WHERE ${match.scanned} ORDER BY ${order} ${window})
      SELECT total.n AS total, page.* FROM total LEFT JOIN page ON true ORDER BY ${order}`;
  }

  #total(match: Match): string {
    if (!match.kept) return `(SELECT count(*) FROM ${this.#threads} AS t WHERE ${match.indexed})`;
    const fact = match.metadata
      ? `(SELECT f FROM ${this.#facts}(${match.metadata}) AS f WHERE f <> '')`
      : "''::bytea";
    return `(SELECT coalesce(sum(threads), 0) FROM ${this.#counts} WHERE fact = ${fact})`;
  }

  async #read(sql: string, values: unknown[], reversed: boolean) {
    type Row = StoredThread & { total: string };
    const stored = await this.#pool.queryOnce<Row>(sql, values);
    const total = Number(stored[0]?.total ?? 0);
    const rows = stored.filter((row) => row.thread_id !== null).map(readThread);
    return { rows: reversed ? rows.reverse() : rows, total };
  }
}

const columns = THREAD_COLUMNS.join(", ");

/** The order that the index of this field has, one way or the other. */
function orderBy(field: ThreadQuery["sortBy"], ascending: boolean): string {
  const direction = ascending ? "ASC" : "DESC";
  const nulls = field === "state_updated_at" ? (ascending ? " NULLS FIRST" : " NULLS LAST") : "";
  return field === "thread_id"
    ? `thread_id ${direction}`
    : `${field} ${direction}${nulls}, thread_id ${direction}`;
}

/** The WHERE of a filter, with its values. */
class Match {
  readonly values: unknown[] = [];
  /** The filter's metadata as an expression; undefined when it asks for none. */
  readonly metadata: string | undefined;
  /** True when the number of matching threads is kept, and need not be counted. */
  readonly kept: boolean;
  /** True when every thread matches. */
  readonly isAll: boolean;
  /** True when the metadata asked for holds no fact: nothing is known of how many threads match. */
  readonly isOpaque: boolean;
  /** Leaves the way to the planner. */
  readonly indexed: string;
  /** Keeps the planner from the metadata's index, for a page of many threads that comes in order by itself. */
  readonly scanned: string;

  constructor({ ids, metadata = {}, status }: ThreadFilter) {
    const { facts, rest } = splitFilter(metadata);
    const tests = [
      ...(ids ? [`thread_id = ANY (${this.add([...new Set(ids)])}::text[])`] : []),
      ...(status ? [`status = ${this.add(status)}`] : []),
    ];
    this.metadata = facts.length > 0 || rest ? `${this.add(toJson(metadata))}::jsonb` : undefined;
    this.kept = tests.length === 0 && !rest && facts.length <= 1;
    this.isAll = this.kept && !this.metadata;
    this.isOpaque = rest !== undefined && facts.length === 0;
    const contained = this.metadata && `metadata @> ${this.metadata}`;
    this.indexed = [...tests, ...(contained ? [contained] : ["true"])].join(" AND ");
    this.scanned = [...tests, ...(contained ? [`(${contained}) IS TRUE`] : ["true"])].join(" AND ");
  }

  /** Adds a value and returns the parameter that stands for it. */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}
