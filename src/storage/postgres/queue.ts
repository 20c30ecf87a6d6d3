import type { PgBoss as Engine } from "pg-boss";
import { STORED_RUN_COLUMNS } from "../rows/sql-rows.js";
import type { Acceptance, AcceptOptions, QueueStats, RunQueue } from "../contract/queue.js";
import type { RunRow } from "../contract/runs.js";
import type { ThreadPatch } from "../contract/threads.js";
import { engineSchema, IS_QUEUED, RunJobs } from "./jobs.js";
import { tableIn } from "./options.js";
import type { PostgresPool } from "./pool.js";
import { toRunColumns, threadAssignments, toJsonColumn } from "./rows.js";
import { holderOf, isHeldBy, runValue } from "./runs.js";
import { CALLER, callerOf } from "./schema.js";

/** The checks and the result of an acceptance. */
interface Placement {
  before: number;
  fits: boolean;
  begins: boolean;
  has_room: boolean;
  caller_has_room: boolean;
  stored: boolean;
}

/** Columns that the acceptance of an existing row sets. The ids of run and thread come first. */
const TAKEN_COLUMNS = [
  "run_id",
  "thread_id",
  "updated_at",
  "state",
  "owner",
  "attempt",
  "resumption",
] as const;

/** The queue of pg-boss, and what it does not provide: `accept` enforces the limits and the order within a thread. */
export class PostgresQueue extends RunJobs implements RunQueue {
  readonly #pool: PostgresPool;
  readonly #sql: ReturnType<typeof statements>;

  constructor(pool: PostgresPool, boss: Engine, schema: string) {
    super(pool, boss, schema);
    this.#pool = pool;
    this.#sql = statements(schema);
  }

  async accept(row: RunRow, thread: ThreadPatch, options: AcceptOptions): Promise<Acceptance> {
    const { queued, mostBefore, mostWaiting = null, mostOfCaller = null, from } = options;
    if (queued.resumption.caller) this.sawCaller();
    const fields = toRunColumns(row);
    const params = from ? TAKEN_COLUMNS.map((column) => fields[STORED_RUN_COLUMNS.indexOf(column)]) : fields;
    const values = [
      ...params,
      toJsonColumn(thread),
      toJsonColumn(queued),
      mostBefore,
      mostWaiting,
      mostOfCaller,
    ];
    if (from) values.push(...holderOf(from));
    const sql = from ? this.#sql.acceptHeld : this.#sql.accept;
    const [placement] = await this.#pool.query<Placement>(sql, values);
    if (!placement) return { became: "no_thread" };
    const { before, fits, begins, has_room, caller_has_room, stored } = placement;
    if (stored) return { became: begins ? "begun" : "queued", before };
    if (!fits) return { became: "thread_full" };
    if (begins || (has_room && caller_has_room)) return { became: "not_held" };
    return { became: has_room ? "caller_full" : "queue_full" };
  }

  async stats(): Promise<QueueStats> {
    const [row] = await this.#pool.query<QueueStats>(this.#sql.stats, []);
    return row ?? { waiting: 0, ready: 0, oldest_seconds: 0 };
  }
}

function statements(schema: string) {
  const runs = tableIn(schema, "gs_runs");
  return {
    accept: acceptance(schema, STORED_RUN_COLUMNS, (values) => {
      const [names, texts] = [Object.keys(values).join(", "), Object.values(values).join(", ")];
      return `INSERT INTO ${runs} (${names}) SELECT ${texts} FROM place WHERE ${ACCEPTED} RETURNING 1`;
    }),
    // A new `seq` puts the run behind all runs accepted so far, regardless of when its row was created.
    acceptHeld: acceptance(schema, TAKEN_COLUMNS, ({ run_id, thread_id, ...values }, next) => {
      const assignments = Object.entries(values).map(([column, value]) => `${column} = ${value}`);
      return `UPDATE ${runs} AS r SET seq = DEFAULT, ${assignments.join(", ")} FROM place
        WHERE r.run_id = ${run_id} AND r.thread_id = ${thread_id} AND r.status = 'pending'
          AND ${isHeldBy(next)} AND ${ACCEPTED} RETURNING 1`;
    }),
    stats: `SELECT ready, oldest_seconds, (
        SELECT count(*)::integer FROM ${runs} WHERE ${IS_QUEUED}) AS waiting
      FROM (
        SELECT count(*)::integer AS ready,
          greatest(0, coalesce(extract(epoch FROM now() - min(start_after)), 0))::float8 AS oldest_seconds
        FROM ${tableIn(engineSchema(schema), "job")} WHERE state <= 'active') AS jobs`,
  };
}

/**
 * The statement that accepts a run. Only a run that begins applies the whole patch to its thread. Earlier runs are counted
 * after the thread's row is locked, and in a function, so that the count includes everything committed before the lock was
 * acquired: of two runs accepted concurrently, the one with the higher `seq` sees the other. `store` receives the values
 * of the columns and the number of the next parameter.
 */
function acceptance<Column extends (typeof STORED_RUN_COLUMNS)[number]>(
  schema: string,
  columns: readonly Column[],
  store: (values: Record<Column, string>, next: number) => string,
): string {
  const [runs, threads] = [tableIn(schema, "gs_runs"), tableIn(schema, "gs_threads")];
  const [patch, queued, mostBefore, mostWaiting, mostOfCaller] = [1, 2, 3, 4, 5].map(
    (index) => `$${columns.length + index}`,
  );
  const caller = callerOf(`(${queued}::json -> 'resumption')`);
  const roomFor = (most: string | undefined, which: string) =>
    `${most}::integer IS NULL OR ${most} > (SELECT count(*) FROM (
          SELECT FROM ${runs} WHERE ${which} LIMIT ${most}::integer) AS waiting)`;
  const whileQueued: Partial<Record<string, string>> = {
    state: `${queued}::json ->> 'state'`,
    owner: `${queued}::json ->> 'owner'`,
    attempt: `(${queued}::json ->> 'attempt')::integer`,
    resumption: `${queued}::json -> 'resumption'`,
  };
  const given = (column: string) => runValue(column, (columns as readonly string[]).indexOf(column) + 1);
  const valueOf = (column: Column) => {
    const queuedValue = whileQueued[column];
    return queuedValue === undefined
      ? given(column)
      : `CASE WHEN begins THEN ${given(column)} ELSE ${queuedValue} END`;
  };
  const values = Object.fromEntries(columns.map((column) => [column, valueOf(column)]));
  return `WITH thread AS (
      SELECT thread_id FROM ${threads} WHERE thread_id = $2 FOR NO KEY UPDATE
    ), earlier AS MATERIALIZED (
      SELECT "${schema}".gs_unfinished(thread_id)::integer AS before FROM thread
    ), place AS MATERIALIZED (
      SELECT before, before <= ${mostBefore}::integer AS fits, before = 0 AND ${given("state")} = 'running' AS begins,
        ${roomFor(mostWaiting, IS_QUEUED)} AS has_room,
        ${caller} = '' OR ${roomFor(mostOfCaller, `${IS_QUEUED} AND ${CALLER} = ${caller}`)} AS caller_has_room
      FROM earlier
    ), stored AS (
      ${store(values as Record<Column, string>, columns.length + 6)}
    ), patch AS MATERIALIZED (
      SELECT CASE WHEN begins THEN ${patch}::json
        ELSE json_build_object('updated_at', ${patch}::json -> 'updated_at') END AS it
      FROM place, stored
    ), patched AS (
      UPDATE ${threads} AS t SET ${threadAssignments("patch.it")} FROM patch WHERE t.thread_id = $2
    ) SELECT place.*, EXISTS (SELECT FROM stored) AS stored FROM place`;
}

/** Condition on `place`: the run is accepted. */
const ACCEPTED = "fits AND (begins OR (has_room AND caller_has_room))";
