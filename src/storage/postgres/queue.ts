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
import { DELAYED_OWNER } from "../contract/timers.js";
import type { LockConnection } from "./lock-session.js";
import { lockKey, tableIn } from "./options.js";
import type { PostgresPool } from "./pool.js";
import { storePatch, toRunColumns, threadAssignments, toJsonColumn } from "./rows.js";
import { runValue } from "./runs.js";
import { CALLER, callerOf } from "./schema.js";

/** Callers with a run that can begin who are looked at: those that follow the one who was served last. */
const MOST_CALLERS = 50;

/** Hints that one process sends in a second at most: the server gives them out one commit after the other. */
const RING_MS = 50;

interface Place {
  before: number;
  fits: boolean;
  begins: boolean;
  has_room: boolean;
  caller_has_room: boolean;
  stored: boolean;
}

/** What a run that is there already is told when it is accepted; the names of its row and thread come first. */
const TAKEN_COLUMNS = ["run_id", "thread_id", "updated_at", "owner", "attempt", "resumption"] as const;

/**
 * The queue is in the rows of runs. Which process executes one is settled by the lock of its thread, and by the holder in
 * its row: the queue only says which are first. Hints travel on the connection of the locks, which passes a pooler by.
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
    const own = from ? TAKEN_COLUMNS.map((column) => stored[STORED_RUN_COLUMNS.indexOf(column)]) : stored;
    const values = [...own, storePatch(thread), toJsonColumn(queued), mostBefore, mostWaiting, mostOfCaller];
    if (from) values.push(from.owner, from.attempt);
    const sql = from ? this.#sql.acceptHeld : this.#sql.accept;
    const [place] = await this.#pool.query<Place>(sql, values);
    return place ? acceptanceOf(place) : { became: "no_thread" };
  }

  readyRuns(limit: number, except: readonly string[], served: readonly string[] = []): Promise<ReadyRun[]> {
    return this.#pool.query<ReadyRun>(this.#sql.heads, [limit, except, served]);
  }

  async stats(): Promise<QueueStats> {
    const [row] = await this.#pool.query<QueueStats>(this.#sql.figures, []);
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
    }, RING_MS).unref();
    this.#isNotifiedAgain = false;
  }

  listen(hear: () => void): () => void {
    this.#listeners.add(hear);
    if (!this.#isListening) void this.#keepListening();
    this.#isListening = true;
    return () => this.#listeners.delete(hear);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#notifying);
  }

  async #notifyNow(): Promise<void> {
    try {
      await (await this.#connection.session()).ask(this.#key, "wakeAll");
    } catch {
      // Others look now and then.
    }
  }

  /** Whenever the connection is another one, what came in between was not heard. */
  async #keepListening(): Promise<void> {
    while (!this.#isClosed) {
      try {
        const session = await this.#connection.session();
        const forget = session.onUnlock(this.#key, () => this.#wakeListeners());
        this.#wakeListeners();
        await new Promise<void>((resolve) => {
          if (session.lost.aborted) resolve();
          session.lost.addEventListener("abort", () => resolve(), { once: true });
        });
        forget();
      } catch {
        // It is tried again by the connection itself, with pauses; its `session` waits for that.
      }
    }
  }

  #wakeListeners(): void {
    for (const hear of this.#listeners) hear();
  }
}

function acceptanceOf({ before, fits, begins, has_room, caller_has_room, stored }: Place): Acceptance {
  if (stored) return { became: begins ? "begun" : "queued", before };
  if (!fits) return { became: "thread_full" };
  if (begins || (has_room && caller_has_room)) return { became: "not_held" };
  return { became: has_room ? "caller_full" : "queue_full" };
}

function statements(schema: string) {
  const runs = tableIn(schema, "gs_runs");
  const isFirst = `NOT EXISTS (
    SELECT FROM ${runs} AS earlier WHERE earlier.thread_id = r.thread_id AND earlier.seq < r.seq
      AND earlier.status IN ('pending', 'running') AND earlier.owner <> '${DELAYED_OWNER.id}')`;
  return {
    accept: acceptance(schema, STORED_RUN_COLUMNS, (values) => {
      const [names, texts] = [Object.keys(values).join(", "), Object.values(values).join(", ")];
      return `INSERT INTO ${runs} (${names}) SELECT ${texts} FROM place WHERE ${ACCEPTED} RETURNING 1`;
    }),
    // Its place is behind all that were accepted before now, whenever its row was made.
    acceptHeld: acceptance(schema, TAKEN_COLUMNS, ({ run_id, thread_id, ...values }, next) => {
      const assignments = Object.entries(values).map(([column, value]) => `${column} = ${value}`);
      return `UPDATE ${runs} AS r SET seq = DEFAULT, ${assignments.join(", ")} FROM place
        WHERE r.run_id = ${run_id} AND r.thread_id = ${thread_id} AND r.status = 'pending'
          AND r.owner = $${next} AND r.attempt = $${next + 1}::integer AND ${ACCEPTED} RETURNING 1`;
    }),
    heads: readyRunsOf(runs, isFirst),
    // It is ready since it was accepted, or given back, or since the run before it ended.
    figures: `SELECT count(*)::integer AS waiting, count(*) FILTER (WHERE is_first)::integer AS ready,
        greatest(0, coalesce(extract(epoch FROM now() - min(since::timestamptz) FILTER (WHERE is_first)), 0))::float8
          AS oldest_seconds
      FROM (
        SELECT ${isFirst} AS is_first, greatest(r.updated_at, (
          SELECT before.updated_at FROM ${runs} AS before
          WHERE before.thread_id = r.thread_id AND before.status NOT IN ('pending', 'running')
          ORDER BY before.created_at DESC, before.run_id DESC LIMIT 1)) AS since
        FROM ${runs} AS r WHERE ${WAITS}
      ) AS waiting`,
  };
}

/**
 * Only a run that is stored and begins changes its thread. Acceptance counts what came before after it has the thread's
 * row, and in a function, whose queries see what was committed until then: of two runs that are accepted at once, the one
 * that `seq` has first is seen by the other. `store` gets the columns' values, and the number of the next parameter.
 */
function acceptance<Column extends (typeof STORED_RUN_COLUMNS)[number]>(
  schema: string,
  columns: readonly Column[],
  store: (values: Record<Column, string>, next: number) => string,
): string {
  const [runs, threads] = [tableIn(schema, "gs_runs"), tableIn(schema, "gs_threads")];
  const [patch, queued, mostBefore, mostWaiting, mostOfCaller] = [1, 2, 3, 4, 5].map(
    (place) => `$${columns.length + place}`,
  );
  const caller = callerOf(`${queued}::json`);
  const roomFor = (most: string | undefined, which: string) =>
    `${most}::integer IS NULL OR ${most} > (SELECT count(*) FROM (
          SELECT FROM ${runs} WHERE ${which} LIMIT ${most}::integer) AS waiting)`;
  const whileQueued: Partial<Record<string, string>> = {
    owner: "''",
    attempt: "0",
    resumption: `${queued}::json`,
  };
  const given = (column: string) => runValue(column, (columns as readonly string[]).indexOf(column) + 1);
  const valueOf = (column: Column) => {
    const other = whileQueued[column];
    return other === undefined ? given(column) : `CASE WHEN begins THEN ${given(column)} ELSE ${other} END`;
  };
  const values = Object.fromEntries(columns.map((column) => [column, valueOf(column)]));
  return `WITH thread AS (
      SELECT thread_id FROM ${threads} WHERE thread_id = $2 FOR NO KEY UPDATE
    ), earlier AS MATERIALIZED (
      SELECT "${schema}".gs_unfinished(thread_id)::integer AS before FROM thread
    ), place AS MATERIALIZED (
      SELECT before, before <= ${mostBefore}::integer AS fits, before = 0 AND ${given("owner")} <> '' AS begins,
        ${roomFor(mostWaiting, WAITS)} AS has_room,
        ${caller} = '' OR ${roomFor(mostOfCaller, `${WAITS} AND ${CALLER} = ${caller}`)} AS caller_has_room
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

/** From one caller who waits to the next, by the index: however many runs each has. `isFirst` is of `r`. */
function readyRunsOf(runs: string, isFirst: string): string {
  const nextCaller = (caller: string) =>
    `(SELECT ${CALLER} FROM ${runs} WHERE ${WAITS} AND ${CALLER} > ${caller} ORDER BY ${CALLER} LIMIT 1)`;
  const ready = (caller: string, most: string) =>
    `SELECT run_id, thread_id, seq, ${IS_SUSPECT} AS is_suspect FROM ${runs} AS r
      WHERE ${WAITS} AND ${CALLER} = ${caller} AND thread_id <> ALL ($2::text[]) AND ${isFirst}
      ORDER BY ${CALLER}, seq LIMIT ${most}`;
  return `WITH RECURSIVE after (caller) AS (
        SELECT ${nextCaller(LAST_SERVED)}
        UNION ALL SELECT ${nextCaller("after.caller")} FROM after WHERE after.caller IS NOT NULL
      ), up_to (caller) AS (
        SELECT (SELECT ${CALLER} FROM ${runs} WHERE ${WAITS} ORDER BY ${CALLER} LIMIT 1)
        UNION ALL SELECT ${nextCaller("up_to.caller")} FROM up_to WHERE up_to.caller <= ${LAST_SERVED}
      ), callers AS MATERIALIZED (
        SELECT caller FROM (
          SELECT caller FROM after WHERE caller IS NOT NULL
          UNION ALL SELECT caller FROM up_to WHERE caller <= ${LAST_SERVED}) AS waiting
        CROSS JOIN LATERAL (${ready("waiting.caller", "1")}) AS any_ready LIMIT ${MOST_CALLERS}
      ), busy AS MATERIALIZED (
        SELECT ${CALLER} AS caller, count(*) AS runs FROM ${runs} WHERE ${IN_FLIGHT} GROUP BY 1
      ) SELECT run_id, thread_id, callers.caller, is_suspect AS "isSuspect" FROM callers LEFT JOIN busy USING (caller)
      CROSS JOIN LATERAL (
        SELECT run_id, thread_id, seq, is_suspect, row_number() OVER (ORDER BY seq) AS place FROM (
          ${ready("callers.caller", "$1")}) AS own
      ) AS head
      ORDER BY coalesce(busy.runs, 0) + place, coalesce(array_position($3::text[], callers.caller), 0), seq LIMIT $1`;
}

/** The caller who was served last, of the third parameter. */
const LAST_SERVED = "coalesce(($3::text[])[cardinality($3::text[])], '')";
/** The place of a run that is accepted. */
const ACCEPTED = "fits AND (begins OR (has_room AND caller_has_room))";
/** As the indexes of those that wait, and of those in flight, have it. */
const WAITS = "owner = '' AND status IN ('pending', 'running')";
/** See `deathsOf`. */
const IS_SUSPECT = "attempt > coalesce((resumption ->> 'given_back')::integer, 0)";
const IN_FLIGHT = "owner <> '' AND status = 'running'";
