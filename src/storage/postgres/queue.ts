import { STORED_RUN_COLUMNS } from "../rows/sql-rows.js";
import type {
  AcceptOptions,
  Acceptance,
  QueueStats,
  RunQueue,
  RunRow,
  ThreadPatch,
  ReadyRun,
} from "../contract/storage.js";
import type { LockConnection } from "./lock-session.js";
import { lockKey, tableIn } from "./options.js";
import type { PostgresPool } from "./pool.js";
import { storePatch, toRunColumns, threadAssignments, toJsonColumn } from "./rows.js";
import { holderOf, isHeldBy, runValue } from "./runs.js";
import { CALLER, callerOf } from "./schema.js";

/** Maximum number of callers with ready runs per query, beginning after the caller served last. */
const MAX_CALLERS = 50;

/** Minimum interval between notifications of a process: the server serializes commits that send notifications. */
const NOTIFY_MS = 50;

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

/**
 * The queue consists of the run rows. The thread lock and the holder in the row decide which process executes a run; the
 * queue only decides which runs are ready. Notifications use the connection of the locks, which bypasses poolers.
 */
export class PostgresQueue implements RunQueue {
  readonly #pool: PostgresPool;
  readonly #connection: LockConnection;
  readonly #key: string;
  readonly #sql: ReturnType<typeof statements>;
  readonly #listeners = new Set<() => void>();
  #isListening = false;
  #notifying: NodeJS.Timeout | undefined;
  #isNotifiedAgain = false;
  #isClosed = false;

  constructor(pool: PostgresPool, connection: LockConnection, schema: string) {
    this.#pool = pool;
    this.#connection = connection;
    this.#key = lockKey("queue", schema);
    this.#sql = statements(schema);
  }

  async accept(row: RunRow, thread: ThreadPatch, options: AcceptOptions): Promise<Acceptance> {
    const { queued, mostBefore, mostWaiting = null, mostOfCaller = null, from } = options;
    const stored = toRunColumns(row);
    const params = from ? TAKEN_COLUMNS.map((column) => stored[STORED_RUN_COLUMNS.indexOf(column)]) : stored;
    const values = [
      ...params,
      storePatch(thread),
      toJsonColumn(queued),
      mostBefore,
      mostWaiting,
      mostOfCaller,
    ];
    if (from) values.push(...holderOf(from));
    const sql = from ? this.#sql.acceptHeld : this.#sql.accept;
    const [placement] = await this.#pool.query<Placement>(sql, values);
    return placement ? acceptanceOf(placement) : { became: "no_thread" };
  }

  readyRuns(
    limit: number,
    except: readonly string[],
    recentCallers: readonly string[] = [],
  ): Promise<ReadyRun[]> {
    return this.#pool.query<ReadyRun>(this.#sql.readyRuns, [limit, except, recentCallers]);
  }

  async stats(): Promise<QueueStats> {
    const [row] = await this.#pool.query<QueueStats>(this.#sql.stats, []);
    return row ?? { waiting: 0, ready: 0, oldest_seconds: 0 };
  }

  notify(): void {
    if (this.#isClosed) return;
    if (this.#notifying) {
      this.#isNotifiedAgain = true;
      return;
    }
    void this.#notifyNow();
    this.#notifying = setTimeout(() => {
      this.#notifying = undefined;
      if (this.#isNotifiedAgain) this.notify();
    }, NOTIFY_MS).unref();
    this.#isNotifiedAgain = false;
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (!this.#isListening) void this.#keepListening();
    this.#isListening = true;
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#notifying);
  }

  async #notifyNow(): Promise<void> {
    try {
      await (await this.#connection.session()).request(this.#key, "wakeAll");
    } catch {
      // Other processes poll.
    }
  }

  /** Wakes the listeners after each reconnect, because notifications may have been lost in between. */
  async #keepListening(): Promise<void> {
    while (!this.#isClosed) {
      try {
        const session = await this.#connection.session();
        const unsubscribe = session.onUnlock(this.#key, () => this.#wakeListeners());
        this.#wakeListeners();
        await new Promise<void>((resolve) => {
          if (session.lost.aborted) resolve();
          session.lost.addEventListener("abort", () => resolve(), { once: true });
        });
        unsubscribe();
      } catch {
        // The connection retries with backoff, and `session` waits for it.
      }
    }
  }

  #wakeListeners(): void {
    for (const listener of this.#listeners) listener();
  }
}

function acceptanceOf({ before, fits, begins, has_room, caller_has_room, stored }: Placement): Acceptance {
  if (stored) return { became: begins ? "begun" : "queued", before };
  if (!fits) return { became: "thread_full" };
  if (begins || (has_room && caller_has_room)) return { became: "not_held" };
  return { became: has_room ? "caller_full" : "queue_full" };
}

function statements(schema: string) {
  const runs = tableIn(schema, "gs_runs");
  const isFirst = `NOT EXISTS (
    SELECT FROM ${runs} AS earlier WHERE earlier.thread_id = r.thread_id AND earlier.seq < r.seq
      AND earlier.status IN ('pending', 'running') AND earlier.state <> 'delayed')`;
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
    readyRuns: readyRunsOf(runs, isFirst),
    // A run becomes ready when it is accepted or requeued, or when the previous run of its thread ends.
    stats: `SELECT count(*)::integer AS waiting, count(*) FILTER (WHERE is_first)::integer AS ready,
        greatest(0, coalesce(extract(epoch FROM now() - min(since::timestamptz) FILTER (WHERE is_first)), 0))::float8
          AS oldest_seconds
      FROM (
        SELECT ${isFirst} AS is_first, greatest(r.updated_at, (
          SELECT before.updated_at FROM ${runs} AS before
          WHERE before.thread_id = r.thread_id AND before.status NOT IN ('pending', 'running')
          ORDER BY before.created_at DESC, before.run_id DESC LIMIT 1)) AS since
        FROM ${runs} AS r WHERE ${IS_QUEUED}
      ) AS waiting`,
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

/** Uses the index to skip from caller to caller, however many runs each has queued. `isFirst` refers to `r`. */
function readyRunsOf(runs: string, isFirst: string): string {
  const nextCaller = (caller: string) =>
    `(SELECT ${CALLER} FROM ${runs} WHERE ${IS_QUEUED} AND ${CALLER} > ${caller} ORDER BY ${CALLER} LIMIT 1)`;
  const ready = (caller: string, most: string) =>
    `SELECT run_id, thread_id, seq, ${IS_SUSPECT} AS is_suspect FROM ${runs} AS r
      WHERE ${IS_QUEUED} AND ${CALLER} = ${caller} AND thread_id <> ALL ($2::text[]) AND ${isFirst}
      ORDER BY ${CALLER}, seq LIMIT ${most}`;
  return `WITH RECURSIVE after (caller) AS (
        SELECT ${nextCaller(LAST_CALLER)}
        UNION ALL SELECT ${nextCaller("after.caller")} FROM after WHERE after.caller IS NOT NULL
      ), up_to (caller) AS (
        SELECT (SELECT ${CALLER} FROM ${runs} WHERE ${IS_QUEUED} ORDER BY ${CALLER} LIMIT 1)
        UNION ALL SELECT ${nextCaller("up_to.caller")} FROM up_to WHERE up_to.caller <= ${LAST_CALLER}
      ), callers AS MATERIALIZED (
        SELECT caller FROM (
          SELECT caller FROM after WHERE caller IS NOT NULL
          UNION ALL SELECT caller FROM up_to WHERE caller <= ${LAST_CALLER}) AS waiting
        CROSS JOIN LATERAL (${ready("waiting.caller", "1")}) AS any_ready LIMIT ${MAX_CALLERS}
      ), busy AS MATERIALIZED (
        SELECT ${CALLER} AS caller, count(*) AS runs FROM ${runs} WHERE ${IN_FLIGHT} GROUP BY 1
      ) SELECT run_id, thread_id, callers.caller, is_suspect AS "isSuspect" FROM callers LEFT JOIN busy USING (caller)
      CROSS JOIN LATERAL (
        SELECT run_id, thread_id, seq, is_suspect, row_number() OVER (ORDER BY seq) AS place FROM (
          ${ready("callers.caller", "$1")}) AS own
      ) AS head
      ORDER BY coalesce(busy.runs, 0) + place, coalesce(array_position($3::text[], callers.caller), 0), seq LIMIT $1`;
}

/** The caller served last: the last element of the third parameter. */
const LAST_CALLER = "coalesce(($3::text[])[cardinality($3::text[])], '')";
/** Condition on `place`: the run is accepted. */
const ACCEPTED = "fits AND (begins OR (has_room AND caller_has_room))";
/** Queued runs. Must match the condition of the index `gs_runs_queued_of`. */
const IS_QUEUED = "state = 'queued' AND owner IS NULL";
/** See `crashesOf`. */
const IS_SUSPECT = "attempt > coalesce((resumption ->> 'requeued')::integer, 0)";
/** Must match the condition of the index `gs_runs_running_of`. */
const IN_FLIGHT = "state = 'running'";
