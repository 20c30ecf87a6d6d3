/**
 * The jobs of pg-boss. A thread has at most one: the job of its first unfinished run, while that run is queued for any
 * process. The id of a job is the id of its run.
 *
 * Triggers on the table of runs insert and delete the jobs, so that they change in the transaction that changes the run:
 * a job appears when its run is accepted on a free thread or requeued, or when the run before it ends, and it is gone as
 * soon as a process has claimed the run. The row of the run stays the only truth about its state.
 */
import type { PgBoss as Engine } from "pg-boss";
import { guarded } from "../driver/errors.js";
import { IS_UNFINISHED } from "../rows/sql-rows.js";
import type { ReadyQueues, ReadyRun } from "../contract/queue.js";
import { lockKey, tableIn } from "./options.js";
import type { PostgresPool } from "./pool.js";
import { CALLER, createSchema, lockSetUp } from "./schema.js";

/** pg-boss queues by name. Runs whose process crashed are in a queue of their own: they execute alone. */
const QUEUES = { runs: "runs", suspects: "quarantined-runs" } as const;

/** How long a process may take to claim a run whose job it fetched, in seconds. Then another process gets the job. */
const CLAIM_SECONDS = 5;
/** Jobs wait as long as their runs: pg-boss never gives one up. The values are the largest that it stores. */
const NO_LIMIT = 2_147_483_647;

/** Maximum number of users with ready runs per query, beginning after the user served last. */
const MAX_CALLERS = 50;

/** Starts pg-boss: installs or migrates its tables, and creates the jobs of runs that were queued without it. */
export async function startEngine(
  pool: PostgresPool,
  schema: string,
  PgBoss: typeof Engine,
): Promise<Engine> {
  const boss = new PgBoss({
    db: { executeSql: pool.execute },
    schema: engineSchema(schema),
    // pg-boss creates its schema without a lock, which fails if several processes do so at the same time.
    createSchema: false,
    schedule: false,
    registerInstance: false,
    superviseIntervalSeconds: CLAIM_SECONDS,
    monitorIntervalSeconds: CLAIM_SECONDS,
  });
  // The supervisor tries again at its next interval.
  boss.on("error", () => undefined);
  try {
    await install(pool, schema, boss);
  } catch (error) {
    // Its timers would keep the process alive.
    await stopEngine(boss);
    throw error;
  }
  return boss;
}

const stopEngine = (boss: Engine): Promise<void> => boss.stop({ close: false, graceful: false });

async function install(pool: PostgresPool, schema: string, boss: Engine): Promise<void> {
  await pool.transaction(async (query) => {
    await lockSetUp(query, schema);
    await createSchema(query, engineSchema(schema));
  });
  await guarded(pool.explain, async () => {
    await boss.start();
    for (const queue of Object.values(QUEUES))
      await boss.createQueue(queue, { expireInSeconds: CLAIM_SECONDS, retryDelay: 0, retryLimit: NO_LIMIT });
  });
  const sql = statements(schema);
  await pool.transaction(async (query) => {
    await lockSetUp(query, schema);
    const [found] = await query<{ isInstalled: boolean }>(sql.isInstalled, [
      sql.functionBody,
      tableIn(schema, "gs_runs"),
    ]);
    if (!found?.isInstalled) await query(sql.install);
    await query(sql.fill);
  });
}

/** Fetches the jobs of runs that this process is about to claim. */
export class RunJobs {
  readonly #boss: Engine;
  readonly #pool: PostgresPool;
  readonly #sql: ReturnType<typeof statements>;
  /** Users matter only once this process has seen a run of one. */
  #hasCallers = false;

  constructor(pool: PostgresPool, boss: Engine, schema: string) {
    this.#boss = boss;
    this.#pool = pool;
    this.#sql = statements(schema);
  }

  /** Fetches at most `limit` jobs. Other processes do not get them until `release`, or until CLAIM_SECONDS have passed. */
  async fetch(limit: number, recentCallers: readonly string[] = []): Promise<ReadyRun[]> {
    if (this.#hasCallers) await this.#pool.query(this.#sql.raise, [limit, recentCallers]);
    return this.#fetchFrom("runs", limit);
  }

  /** Fetches the job of a run whose process crashed. */
  async fetchSuspect(): Promise<ReadyRun | undefined> {
    return (await this.#fetchFrom("suspects", 1))[0];
  }

  /** Much cheaper than to fetch from an empty queue: the statement of pg-boss cannot be prepared. */
  async ready(): Promise<ReadyQueues> {
    const [found] = await this.#pool.query<ReadyQueues>(this.#sql.ready);
    return found ?? { runs: false, suspects: false };
  }

  /** Any process may fetch the job again. Has no effect if the run was claimed. */
  async release({ run_id, isSuspect }: ReadyRun): Promise<void> {
    await guarded(this.#pool.explain, () =>
      this.#boss.fail(isSuspect ? QUEUES.suspects : QUEUES.runs, run_id),
    );
  }

  protected sawCaller(): void {
    this.#hasCallers = true;
  }

  close(): Promise<void> {
    return stopEngine(this.#boss);
  }

  async #fetchFrom(queue: keyof typeof QUEUES, limit: number): Promise<ReadyRun[]> {
    const fetched = await guarded(this.#pool.explain, () =>
      this.#boss.fetch<{ thread_id: string }>(QUEUES[queue], { batchSize: limit }),
    );
    return fetched.map(({ id: run_id, data: { thread_id }, groupId }) => {
      const caller = groupId ?? "";
      if (caller !== "") this.#hasCallers = true;
      return { run_id, thread_id, caller, isSuspect: queue === "suspects" };
    });
  }
}

/** The schema of pg-boss's tables. pg-boss accepts shorter names than PostgreSQL. */
export const engineSchema = (schema: string): string =>
  /^[a-z_][a-z0-9_]{0,42}$/.test(schema)
    ? `${schema}_pgboss`
    : `pgboss_${BigInt.asUintN(64, BigInt(lockKey("pgboss", schema)))}`;

function statements(schema: string) {
  const runs = tableIn(schema, "gs_runs");
  const engine = engineSchema(schema);
  const job = tableIn(engine, "job");
  const functionBody = triggerBody(schema);
  return {
    functionBody,
    isInstalled: `SELECT EXISTS (
        SELECT FROM pg_catalog.pg_trigger AS t JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid
        WHERE t.tgrelid = to_regclass($2) AND t.tgname = 'gs_run_deleted' AND p.prosrc = $1) AS "isInstalled"`,
    install: `
      CREATE OR REPLACE FUNCTION "${schema}".gs_queue_run() RETURNS trigger LANGUAGE plpgsql AS $sql$${functionBody}$sql$;
      DROP TRIGGER IF EXISTS gs_run_queued ON ${runs};
      DROP TRIGGER IF EXISTS gs_run_moved ON ${runs};
      DROP TRIGGER IF EXISTS gs_run_deleted ON ${runs};
      CREATE TRIGGER gs_run_queued AFTER INSERT ON ${runs} FOR EACH ROW
        WHEN (NEW.state = 'queued' AND NEW.owner IS NULL) EXECUTE FUNCTION "${schema}".gs_queue_run();
      CREATE TRIGGER gs_run_moved AFTER UPDATE ON ${runs} FOR EACH ROW
        WHEN (OLD.state <> NEW.state OR OLD.owner IS DISTINCT FROM NEW.owner)
        EXECUTE FUNCTION "${schema}".gs_queue_run();
      CREATE TRIGGER gs_run_deleted AFTER DELETE ON ${runs} FOR EACH ROW
        WHEN (OLD.state IN ('queued', 'running')) EXECUTE FUNCTION "${schema}".gs_queue_run();
      CREATE INDEX IF NOT EXISTS gs_ready_by_caller ON ${tableIn(engine, "job_common")} (group_id, created_on)
        WHERE ${IS_READY};`,
    // Skips a locked row: the trigger of the statement that changes it places the job.
    fill: `WITH first AS MATERIALIZED (
        SELECT * FROM ${runs} AS r WHERE ${IS_QUEUED} AND NOT EXISTS (
          SELECT FROM ${runs} AS earlier WHERE earlier.thread_id = r.thread_id AND earlier.seq < r.seq
            AND earlier.${UNFINISHED}) FOR UPDATE SKIP LOCKED
      ) ${insertJob(schema)} FROM first ON CONFLICT DO NOTHING`,
    raise: raiseOf(runs, job),
    ready: `SELECT ${Object.entries(QUEUES)
      .map(
        ([key, name]) =>
          `EXISTS (SELECT FROM ${job} WHERE name = '${name}' AND state < 'active' AND start_after <= now()) AS ${key}`,
      )
      .join(", ")}`,
  };
}

/** Queued runs. Must match the condition of the index `gs_runs_queued_of`. */
export const IS_QUEUED = "state = 'queued' AND owner IS NULL";
const UNFINISHED = `${IS_UNFINISHED} AND state <> 'delayed'`;
/** Jobs that wait. Must match the condition of the index `gs_ready_by_caller`. */
const IS_READY = `name = '${QUEUES.runs}' AND state < 'active'`;

/**
 * The thread's row is locked before its first run is determined, as when a run is accepted: of a run that is accepted
 * and an earlier one that ends at the same time, the second transaction to get the lock sees the other.
 */
const triggerBody = (schema: string): string => `
  DECLARE thread text := coalesce(NEW.thread_id, OLD.thread_id);
  BEGIN
    -- The schema of pg-boss may be dropped while no process uses the queue.
    IF to_regclass('${tableIn(engineSchema(schema), "job")}') IS NULL THEN RETURN NULL; END IF;
    IF TG_OP <> 'INSERT' AND OLD.state = 'queued' AND OLD.owner IS NULL THEN
      DELETE FROM ${tableIn(engineSchema(schema), "job")}
      WHERE id = OLD.run_id::uuid AND name IN ('${QUEUES.runs}', '${QUEUES.suspects}');
    END IF;
    IF TG_OP = 'UPDATE' AND NEW.state = 'running' THEN RETURN NULL; END IF;
    PERFORM FROM ${tableIn(schema, "gs_threads")} WHERE thread_id = thread FOR NO KEY UPDATE;
    ${insertJob(schema)} FROM ${tableIn(schema, "gs_runs")} WHERE ${IS_QUEUED} AND run_id = (
      SELECT run_id FROM ${tableIn(schema, "gs_runs")} WHERE thread_id = thread AND ${UNFINISHED} ORDER BY seq LIMIT 1)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
  END `;

/** Requeued runs come before all others: their jobs are as old as they are. */
const insertJob = (schema: string): string => `
  INSERT INTO ${tableIn(engineSchema(schema), "job")}
    (id, name, data, group_id, created_on, retry_limit, retry_delay, expire_seconds, keep_until)
  SELECT run_id::uuid, CASE WHEN ${IS_SUSPECT} THEN '${QUEUES.suspects}' ELSE '${QUEUES.runs}' END,
    jsonb_build_object('thread_id', thread_id), ${CALLER},
    CASE status WHEN 'running' THEN created_at::timestamptz ELSE now() END,
    ${NO_LIMIT}, 0, ${CLAIM_SECONDS}, now() + interval '100 years'`;

/** See `crashesOf`. */
const IS_SUSPECT = "attempt > coalesce((resumption ->> 'requeued')::integer, 0)";

/**
 * Raises the priority of the jobs that are next, and lowers those raised before. Jobs of the users with the fewest runs in
 * flight are next, then those of users that were served least recently, then the oldest. An index skips from user to user,
 * however many jobs each has.
 */
function raiseOf(runs: string, job: string): string {
  const nextCaller = (caller: string) =>
    `(SELECT group_id FROM ${job} WHERE ${IS_READY} AND group_id > ${caller} ORDER BY group_id LIMIT 1)`;
  return `WITH RECURSIVE after (caller) AS (
        SELECT ${nextCaller(LAST_CALLER)}
        UNION ALL SELECT ${nextCaller("after.caller")} FROM after WHERE after.caller IS NOT NULL
      ), up_to (caller) AS (
        SELECT (SELECT group_id FROM ${job} WHERE ${IS_READY} ORDER BY group_id LIMIT 1)
        UNION ALL SELECT ${nextCaller("up_to.caller")} FROM up_to WHERE up_to.caller <= ${LAST_CALLER}
      ), callers AS MATERIALIZED (
        SELECT caller FROM after WHERE caller IS NOT NULL
        UNION ALL SELECT caller FROM up_to WHERE caller <= ${LAST_CALLER} LIMIT ${MAX_CALLERS}
      ), busy AS MATERIALIZED (
        SELECT ${CALLER} AS caller, count(*) AS runs FROM ${runs} WHERE state = 'running' GROUP BY 1
      ), next AS MATERIALIZED (
        SELECT id, row_number() OVER (ORDER BY coalesce(busy.runs, 0) + place,
          coalesce(array_position($2::text[], callers.caller), 0), created_on) AS turn
        FROM callers LEFT JOIN busy USING (caller)
        CROSS JOIN LATERAL (
          SELECT id, created_on, row_number() OVER (ORDER BY created_on) AS place FROM (
            SELECT id, created_on FROM ${job} WHERE ${IS_READY} AND group_id = callers.caller AND start_after <= now()
            ORDER BY created_on LIMIT $1) AS own
        ) AS first
        WHERE (SELECT count(*) FROM callers) > 1
        ORDER BY turn LIMIT $1
      ), chosen AS MATERIALIZED (
        SELECT id, $1::integer - turn + 1 AS priority FROM next
        UNION ALL SELECT id, 0 FROM ${job} WHERE ${IS_READY} AND priority > 0 AND id NOT IN (SELECT id FROM next)
      ), free AS MATERIALIZED (
        SELECT id FROM ${job} WHERE ${IS_READY} AND id IN (SELECT id FROM chosen) FOR UPDATE SKIP LOCKED
      ) UPDATE ${job} AS j SET priority = chosen.priority FROM chosen JOIN free USING (id)
      WHERE j.id = chosen.id AND j.name = '${QUEUES.runs}' AND j.priority <> chosen.priority`;
}

/** The user served last: the last element of the second parameter. */
const LAST_CALLER = "coalesce(($2::text[])[cardinality($2::text[])], '')";
