import { StorageUnavailableError } from "../../support/errors.js";
import type { Owner } from "../contract/owners.js";
import { assertStopped } from "../rows/owners.js";
import { lockKey, type PostgresDriver } from "./options.js";
import type { PostgresPool, Query } from "./pool.js";

/** Timeout of the migration, including the wait for another process that migrates, in milliseconds. */
const MIGRATION_TIMEOUT = 300_000;

/**
 * SQL expression for the caller of a run: a hash, so that its length is fixed and the order of the scope's fields does not
 * matter. Must match the index expression in MIGRATIONS, which repeats it because released migrations never change.
 */
export const callerOf = (resumption: string): string =>
  `(coalesce(md5((${resumption} -> 'caller' -> 'scope')::jsonb::text), ''))`;
export const CALLER = callerOf("resumption");

/**
 * One entry per version, never changed after its release; `s` is the quoted schema. Table names start with `gs_`, because
 * the tables of the checkpoint saver are in the same schema. Columns that are compared use bytewise collation, regardless
 * of the database's locale.
 *
 * `gs_fact_counts` counts the threads of each fact, and all threads under the empty fact, so that totals need no scan. A
 * fact is a label: a top-level metadata entry with a scalar value. Counts are spread over 16 slots, so that transactions
 * that count the same fact rarely wait for each other. The fill factor leaves room for updated counts. `gs_runs.seq` is
 * the order of acceptance, independent of the processes' clocks.
 */
const MIGRATIONS: readonly ((s: string) => string)[] = [
  // oxlint-disable-next-line max-lines-per-function -- one sequence of SQL statements
  (s) => `
  CREATE TABLE ${s}.gs_threads (
    thread_id text COLLATE "C" PRIMARY KEY,
    created_at text COLLATE "C" NOT NULL,
    updated_at text COLLATE "C" NOT NULL,
    state_updated_at text COLLATE "C",
    metadata jsonb NOT NULL,
    config json NOT NULL,
    status text COLLATE "C" NOT NULL,
    error text,
    ttl_strategy text,
    ttl_minutes double precision,
    expires_at double precision
  );
  CREATE INDEX gs_threads_updated ON ${s}.gs_threads (updated_at, thread_id);
  CREATE INDEX gs_threads_created ON ${s}.gs_threads (created_at, thread_id);
  CREATE INDEX gs_threads_state_updated ON ${s}.gs_threads (state_updated_at NULLS FIRST, thread_id);
  CREATE INDEX gs_threads_status ON ${s}.gs_threads (status, thread_id);
  CREATE INDEX gs_threads_expiry ON ${s}.gs_threads (expires_at) WHERE expires_at IS NOT NULL;
  CREATE INDEX gs_threads_metadata ON ${s}.gs_threads USING gin (metadata jsonb_path_ops) WITH (fastupdate = off);

  CREATE TABLE ${s}.gs_fact_counts (
    fact bytea NOT NULL,
    slot integer NOT NULL,
    threads bigint NOT NULL,
    PRIMARY KEY (fact, slot)
  ) WITH (fillfactor = 50);
  CREATE FUNCTION ${s}.gs_facts(metadata jsonb) RETURNS SETOF bytea LANGUAGE sql STABLE AS $$
    SELECT ''::bytea WHERE metadata IS NOT NULL
    UNION ALL
    SELECT substring(sha256(convert_to(jsonb_build_array(key, value)::text, 'UTF8')) FOR 16)
    FROM jsonb_each(metadata) WHERE jsonb_typeof(value) NOT IN ('object', 'array')
  $$;
  CREATE FUNCTION ${s}.gs_count_facts() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    thread_slot integer := hashtext(coalesce(NEW.thread_id, OLD.thread_id)) & 15;
    changed bytea[];
  BEGIN
    WITH counted AS (
      INSERT INTO ${s}.gs_fact_counts AS kept (fact, slot, threads)
      SELECT fact, thread_slot, sum(change) FROM (
        SELECT fact, 1 AS change FROM ${s}.gs_facts(NEW.metadata) AS fact
        UNION ALL SELECT fact, -1 FROM ${s}.gs_facts(OLD.metadata) AS fact
      ) AS changes GROUP BY fact HAVING sum(change) <> 0 ORDER BY fact
      ON CONFLICT (fact, slot) DO UPDATE SET threads = kept.threads + excluded.threads
      RETURNING fact, threads
    ) SELECT array_agg(fact) FILTER (WHERE threads = 0) INTO changed FROM counted;
    IF changed IS NOT NULL THEN
      DELETE FROM ${s}.gs_fact_counts WHERE fact = ANY (changed) AND slot = thread_slot AND threads = 0;
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER gs_thread_counted AFTER INSERT OR DELETE ON ${s}.gs_threads
    FOR EACH ROW EXECUTE FUNCTION ${s}.gs_count_facts();
  CREATE TRIGGER gs_thread_recounted AFTER UPDATE ON ${s}.gs_threads
    FOR EACH ROW WHEN (OLD.metadata IS DISTINCT FROM NEW.metadata) EXECUTE FUNCTION ${s}.gs_count_facts();

  CREATE TABLE ${s}.gs_runs (
    run_id text COLLATE "C" PRIMARY KEY,
    seq bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    thread_id text COLLATE "C" NOT NULL REFERENCES ${s}.gs_threads ON DELETE CASCADE,
    assistant_id text NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    updated_at text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    metadata json NOT NULL,
    kwargs json NOT NULL,
    multitask_strategy text NOT NULL,
    error text,
    usage json,
    owner text NOT NULL
  );
  CREATE INDEX gs_runs_of_thread ON ${s}.gs_runs (thread_id, created_at, run_id);
  CREATE INDEX gs_runs_unfinished ON ${s}.gs_runs (thread_id, seq) WHERE status IN ('pending', 'running');

  CREATE TABLE ${s}.gs_owners (
    id text PRIMARY KEY,
    host text NOT NULL,
    pid integer NOT NULL,
    seen_at text NOT NULL
  );

  CREATE TABLE ${s}.gs_items (
    namespace text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value json NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    updated_at text COLLATE "C" NOT NULL,
    ttl_minutes double precision,
    expires_at text COLLATE "C",
    PRIMARY KEY (namespace, key)
  );
  CREATE INDEX gs_items_expiry ON ${s}.gs_items (expires_at) WHERE expires_at IS NOT NULL;
  `,
  (s) => `
  ALTER TABLE ${s}.gs_runs ADD COLUMN cancel_requested boolean NOT NULL DEFAULT false;
  CREATE INDEX gs_runs_cancelled ON ${s}.gs_runs (owner)
    WHERE cancel_requested AND status IN ('pending', 'running');
  `,
  (s) => `
  ALTER TABLE ${s}.gs_threads ADD COLUMN scope text COLLATE "C", ADD COLUMN graphs json;
  `,
  (s) => `
  ALTER TABLE ${s}.gs_runs ADD COLUMN fault json;
  `,
  (s) => `
  ALTER TABLE ${s}.gs_runs ADD COLUMN attempt integer NOT NULL DEFAULT 1, ADD COLUMN resumption json;
  `,
  (s) => `
  ALTER TABLE ${s}.gs_runs ADD COLUMN tasks json;
  `,
  (s) => `
  CREATE INDEX gs_runs_created ON ${s}.gs_runs (created_at, run_id, status);
  `,
  (s) => `
  CREATE TABLE ${s}.gs_timers (
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C",
    scope text COLLATE "C",
    due_at text COLLATE "C",
    created_at text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (kind, id)
  );
  CREATE INDEX gs_timers_due ON ${s}.gs_timers (due_at, id) WHERE due_at IS NOT NULL;
  CREATE INDEX gs_timers_of_thread ON ${s}.gs_timers (thread_id) WHERE thread_id IS NOT NULL;
  CREATE INDEX gs_timers_created ON ${s}.gs_timers (kind, created_at, id);
  `,
  (s) => `
  CREATE INDEX gs_runs_waiting ON ${s}.gs_runs (seq) WHERE owner = '' AND status IN ('pending', 'running');
  CREATE FUNCTION ${s}.gs_unfinished(thread text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    RETURN (SELECT count(*) FROM ${s}.gs_runs WHERE thread_id = thread AND status IN ('pending', 'running')
      AND owner <> 'waits for its time');
  END $$;
  `,
  // Earlier versions kept `resumption` on failed runs that never started. Clear it: those runs are not dead.
  (s) => `
  UPDATE ${s}.gs_runs SET resumption = NULL WHERE status = 'error' AND resumption IS NOT NULL;
  CREATE INDEX gs_runs_dead ON ${s}.gs_runs (created_at, run_id) WHERE status = 'error' AND resumption IS NOT NULL;
  `,
  // Indexes for the callers with queued runs and the number of runs each has in flight.
  (s) => `
  CREATE INDEX gs_runs_waiting_of
    ON ${s}.gs_runs ((coalesce(md5((resumption -> 'caller' -> 'scope')::jsonb::text), '')), seq)
    WHERE owner = '' AND status IN ('pending', 'running');
  CREATE INDEX gs_runs_in_flight_of
    ON ${s}.gs_runs ((coalesce(md5((resumption -> 'caller' -> 'scope')::jsonb::text), '')))
    WHERE owner <> '' AND status = 'running';
  `,
  (s) => `
  ALTER TABLE ${s}.gs_threads ADD COLUMN preview json;
  `,
  // The state of a run was coded in its owner. Statements of earlier releases violate the constraint.
  (s) => `
  DROP INDEX IF EXISTS ${s}.gs_runs_waiting, ${s}.gs_runs_waiting_of, ${s}.gs_runs_in_flight_of, ${s}.gs_runs_dead;
  ALTER TABLE ${s}.gs_runs ADD COLUMN state text COLLATE "C" NOT NULL DEFAULT 'ended', ALTER COLUMN owner DROP NOT NULL;
  UPDATE ${s}.gs_runs SET
    state = CASE WHEN status NOT IN ('pending', 'running') THEN CASE WHEN resumption IS NULL THEN 'ended' ELSE 'dead' END
      WHEN owner = 'waits for its time' THEN 'delayed'
      WHEN owner = '' OR (status = 'pending' AND attempt = 0) THEN 'queued' ELSE 'running' END,
    owner = nullif(nullif(owner, ''), 'waits for its time'),
    resumption = (resumption::jsonb - 'given_back' - 'frames' || jsonb_strip_nulls(jsonb_build_object(
      'requeued', resumption -> 'given_back',
      'frames', CASE resumption ->> 'frames' WHEN 'wide' THEN 'all' ELSE resumption ->> 'frames' END)))::json
  WHERE status IN ('pending', 'running') OR resumption IS NOT NULL OR owner IN ('', 'waits for its time');
  ALTER TABLE ${s}.gs_runs ALTER COLUMN state DROP DEFAULT, ADD CONSTRAINT gs_runs_state CHECK (
    (status IN ('pending', 'running')) = (state IN ('delayed', 'queued', 'running'))
    AND (state <> 'running' OR owner IS NOT NULL));
  CREATE INDEX gs_runs_queued_of
    ON ${s}.gs_runs ((coalesce(md5((resumption -> 'caller' -> 'scope')::jsonb::text), '')), seq)
    WHERE state = 'queued' AND owner IS NULL;
  CREATE INDEX gs_runs_running_of
    ON ${s}.gs_runs ((coalesce(md5((resumption -> 'caller' -> 'scope')::jsonb::text), '')))
    WHERE state = 'running';
  CREATE INDEX gs_runs_dead ON ${s}.gs_runs (created_at, run_id) WHERE state = 'dead';
  CREATE OR REPLACE FUNCTION ${s}.gs_unfinished(thread text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    RETURN (SELECT count(*) FROM ${s}.gs_runs WHERE thread_id = thread AND status IN ('pending', 'running')
      AND state <> 'delayed');
  END $$;
  DELETE FROM ${s}.gs_owners WHERE id = 'waits for its time';
  `,
  (s) => `
  CREATE TABLE ${s}.gs_usage (
    run_id text COLLATE "C" NOT NULL,
    attempt integer NOT NULL,
    seq integer NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    graph_id text COLLATE "C" NOT NULL,
    user_id text COLLATE "C",
    scope text COLLATE "C",
    node text COLLATE "C" NOT NULL,
    provider text COLLATE "C",
    model text COLLATE "C" NOT NULL,
    day text COLLATE "C" NOT NULL,
    at text COLLATE "C" NOT NULL,
    calls integer NOT NULL,
    input_tokens integer NOT NULL,
    output_tokens integer NOT NULL,
    cache_read_tokens integer NOT NULL,
    cache_write_tokens integer NOT NULL,
    reasoning_tokens integer NOT NULL,
    cost bigint NOT NULL,
    unpriced_calls integer NOT NULL,
    PRIMARY KEY (run_id, attempt, seq)
  );
  CREATE INDEX gs_usage_at ON ${s}.gs_usage (at);
  CREATE INDEX gs_usage_of_user ON ${s}.gs_usage (user_id, day) WHERE user_id IS NOT NULL;
  CREATE INDEX gs_usage_of_thread ON ${s}.gs_usage (thread_id);
  `,
  (s) => `
  CREATE TABLE ${s}.gs_recordings (
    run_id text COLLATE "C" NOT NULL REFERENCES ${s}.gs_runs ON DELETE CASCADE,
    at text COLLATE "C" NOT NULL,
    seq integer NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    call text NOT NULL,
    PRIMARY KEY (run_id, at, seq)
  );
  CREATE INDEX gs_recordings_at ON ${s}.gs_recordings (at);
  `,
  // Not compressed: vectors hardly shrink.
  (s) =>
    `ALTER TABLE ${s}.gs_items ADD COLUMN vectors bytea; ALTER TABLE ${s}.gs_items ALTER COLUMN vectors SET STORAGE EXTERNAL;`,
];

/** Processes that wrote tables of an earlier version must have stopped before the migration. */
const STATE_VERSION = 13;

/** Table version that this release reads and writes. */
export const POSTGRES_SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Create the schema and all tables, or migrate them to the current version. Everything happens in one transaction under
 * an advisory lock: if several processes start at the same time, one migrates and the others wait. The privilege to
 * create objects is needed only if something is missing.
 * @throws StorageUnavailableError if the tables have a later version (`storage_unavailable`)
 */
export async function migratePostgres(
  pool: PostgresPool,
  driver: PostgresDriver,
  schema: string,
): Promise<void> {
  await pool.transaction(async (query) => {
    await lockSetUp(query, schema);
    await createSchema(query, schema);
    await migrateRows(query, `"${schema}"`);
    await migrateCheckpoints(query, driver, schema);
  }, MIGRATION_TIMEOUT);
}

/**
 * Check that the tables exist and have the current version, without changing anything.
 * @throws StorageUnavailableError if they do not (`storage_unavailable`)
 */
export async function requireTables({ query }: PostgresPool, schema: string): Promise<void> {
  const table = `"${schema}".gs_schema`;
  const version = (await isMissing(query, table)) ? 0 : await versionOf(query, table);
  if (version > MIGRATIONS.length) throw newerSchema(version);
  if (version === MIGRATIONS.length) return;
  throw new StorageUnavailableError(
    `schema "${schema}" of the database has no tables of graph-serve, or tables of an earlier release`,
    {
      hint: "check checkpointer_uri and checkpointer_options.schema; graph-serve migrate up creates missing tables and migrates existing ones",
    },
  );
}

/** One process at a time creates or migrates tables; the lock lasts until the transaction ends. */
export const lockSetUp = (query: Query, schema: string): Promise<unknown> =>
  query("SELECT pg_advisory_xact_lock($1)", [lockKey("set-up", schema)]);

export async function createSchema(query: Query, schema: string): Promise<void> {
  const found = await query("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", [schema]);
  if (found.length === 0) await query(`CREATE SCHEMA "${schema}"`);
}

async function migrateRows(query: Query, s: string): Promise<void> {
  await createTable(query, `${s}.gs_schema`, "version integer NOT NULL");
  const version = await versionOf(query, `${s}.gs_schema`);
  if (version > MIGRATIONS.length) throw newerSchema(version);
  if (version === MIGRATIONS.length) return;
  if (version > 0 && version < STATE_VERSION)
    assertStopped(await query<Owner>(`SELECT id, host, pid, seen_at FROM ${s}.gs_owners`));
  for (const migration of MIGRATIONS.slice(version)) await query(migration(s));
  await query(`DELETE FROM ${s}.gs_schema`);
  await query(`INSERT INTO ${s}.gs_schema VALUES ($1)`, [MIGRATIONS.length]);
}

/**
 * Runs the official saver's `setup` inside our transaction, because it fails if several processes run it concurrently. It
 * creates its schema and its migration table by trial and error, and an error would abort the transaction, so both are
 * created beforehand.
 */
async function migrateCheckpoints(query: Query, { PostgresSaver }: PostgresDriver, schema: string) {
  await createTable(query, `"${schema}".checkpoint_migrations`, "v integer PRIMARY KEY");
  const client = {
    query: async (text: string, values?: unknown[]) =>
      text.startsWith("CREATE SCHEMA") ? { rows: [] } : { rows: await query(text, values) },
    release: () => undefined,
  };
  const pool = { connect: async () => client };
  await new PostgresSaver(pool as never, undefined, { schema }).setup();
}

async function createTable(query: Query, table: string, columns: string): Promise<void> {
  if (await isMissing(query, table)) await query(`CREATE TABLE ${table} (${columns})`);
}

export async function isMissing(query: Query, table: string): Promise<boolean> {
  const [row] = await query<{ missing: boolean }>("SELECT to_regclass($1) IS NULL AS missing", [table]);
  return row?.missing ?? true;
}

export async function versionOf(query: Query, table: string): Promise<number> {
  const [row] = await query<{ version: number | null }>(`SELECT max(version) AS version FROM ${table}`);
  return row?.version ?? 0;
}

function newerSchema(version: number): StorageUnavailableError {
  return new StorageUnavailableError(
    `the database was written by a later graph-serve: its tables have version ${version}, ` +
      `this release supports version ${MIGRATIONS.length}`,
    { hint: "upgrade graph-serve, or set checkpointer_options.schema to another schema" },
  );
}
