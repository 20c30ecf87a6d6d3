import type { Client } from "pg";
import type * as Engine from "pg-boss";
import { engineNeed, loadOptional } from "../../support/optional-package.js";
import type { HeldRuns } from "../saver/held-run.js";
import { SharedThreadLocks } from "../locks/shared-locks.js";
import type { SchemaState } from "../contract/schema-state.js";
import type { ThreadLocks } from "../contract/locks.js";
import type { RowStorage, Storage, StorageFinding, StorageOptions } from "../contract/storage.js";
import type { Checkpointer } from "../contract/checkpointer.js";
import { createThreadLocks } from "../locks/thread-locks.js";
import { explainPostgres } from "./errors.js";
import { createPostgresItems } from "./items.js";
import { startEngine } from "./jobs.js";
import { LockConnection } from "./lock-session.js";
import { PostgresLocks } from "./locks.js";
import {
  addressOf,
  CONNECT_TIMEOUT,
  loadPostgresDriver,
  lockKey,
  type PostgresDriver,
  type PostgresOptions,
  readPostgresOptions,
} from "./options.js";
import { PostgresPool } from "./pool.js";
import { PostgresQueue } from "./queue.js";
import { createPostgresRecordings } from "./recordings.js";
import { createPostgresOwners, PostgresRuns, createPostgresDeadRuns } from "./runs.js";
import { isMissing, migratePostgres, requireTables, POSTGRES_SCHEMA_VERSION, versionOf } from "./schema.js";
import { PostgresThreads } from "./threads.js";
import { createPostgresTimers } from "./timers.js";
import { createPostgresUsage } from "./usage.js";
import { PostgresWakeups } from "./wakeups.js";

/**
 * Open a storage in one schema of a PostgreSQL database. It uses a connection pool, and a dedicated connection for the
 * thread locks, which are shared by all processes on the schema. Several processes may start at the same time.
 *
 * Behind pgbouncer in transaction mode, set `prepare: false`, which avoids named statements and start-up parameters, and
 * set `lock_uri` to the server itself: only the locks need their own session.
 * @throws ConfigError if the URI or an option is invalid (`config_invalid`)
 * @throws StorageUnavailableError if the server cannot be used or pg cannot be loaded (`storage_unavailable`)
 */
export async function openPostgres(storageOptions: StorageOptions): Promise<Storage> {
  const options = readPostgresOptions(storageOptions);
  const driver = await loadPostgresDriver();
  const pool = openPool(driver, options);
  const { schema } = options;
  try {
    const locks = await prepare(pool, driver, options, storageOptions.max_queued_runs);
    return {
      ...rowsOf(pool, driver, options),
      durable: true,
      deadRuns: createPostgresDeadRuns(pool, schema),
      owners: createPostgresOwners(pool, schema),
      items: createPostgresItems(pool, options),
      timers: createPostgresTimers(pool, schema),
      get recordings() {
        return createPostgresRecordings(pool, schema);
      },
      checkpointer: await checkpointerOf(pool, schema),
      locks: locks.threads,
      wakeups: locks.wakeups,
      openQueue: locks.openQueue,
      now: () => timeOf(pool),
      findings: async () => [await lockTableFinding(pool)],
      close: async () => {
        await locks.close();
        await pool.close();
      },
    };
  } catch (error) {
    await pool.close();
    throw error;
  }
}

/** Create or migrate the tables and open the locks. A read-only storage does neither. */
async function prepare(
  pool: PostgresPool,
  driver: PostgresDriver,
  options: PostgresOptions,
  maxWaiting: number,
): Promise<Pick<Storage, "openQueue" | "wakeups" | "close"> & { threads: ThreadLocks }> {
  const { schema } = options;
  if (options.readOnly) {
    await requireTables(pool, schema);
    return { threads: createThreadLocks({ maxWaiting }), close: async () => undefined };
  }
  await migratePostgres(pool, driver, schema);
  const connection = await openLocks(driver, options);
  const wakeups = new PostgresWakeups(connection, schema);
  let queue: PostgresQueue | undefined;
  return {
    wakeups,
    threads: new SharedThreadLocks(new PostgresLocks(connection, schema), { maxWaiting }),
    openQueue: async (cwd) => {
      const { PgBoss } = loadOptional<typeof Engine>("pg-boss", engineNeed(cwd));
      queue = new PostgresQueue(pool, await startEngine(pool, schema, PgBoss), schema);
      return queue;
    },
    close: async () => {
      wakeups.close();
      await queue?.close();
      await connection.close();
    },
  };
}

/** Open only the rows, read-only. @throws as `openPostgres` */
export async function openPostgresRows(storageOptions: StorageOptions): Promise<RowStorage> {
  const options = readPostgresOptions(storageOptions);
  const driver = await loadPostgresDriver();
  const pool = openPool(driver, options);
  try {
    await requireTables(pool, options.schema);
    return rowsOf(pool, driver, options);
  } catch (error) {
    await pool.close();
    throw error;
  }
}

const addressIn = (driver: PostgresDriver, { uri }: PostgresOptions) =>
  addressOf(driver, { connectionString: uri }, "checkpointer_uri");

const openPool = (driver: PostgresDriver, options: PostgresOptions) =>
  new PostgresPool(driver, options, explainPostgres(addressIn(driver, options).server));

function rowsOf(pool: PostgresPool, driver: PostgresDriver, options: PostgresOptions) {
  const { server, database } = addressIn(driver, options);
  return {
    scheme: "postgres",
    location: `postgresql://${server}/${database}`,
    threads: new PostgresThreads(pool, options.schema),
    runs: new PostgresRuns(pool, options.schema),
    usage: createPostgresUsage(pool, options.schema),
    close: () => pool.close(),
  };
}

async function timeOf({ query }: PostgresPool): Promise<number> {
  const [row] = await query<{ ms: number }>(
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms",
  );
  return row?.ms ?? Date.now();
}

/** Each locked thread takes one lock, and one more while others wait for it. The whole server shares the lock table. */
async function lockTableFinding({ query }: PostgresPool): Promise<StorageFinding> {
  const [row] = await query<{ room: number; used: number }>(
    `SELECT current_setting('max_locks_per_transaction')::int
        * (current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int) AS room,
      (SELECT count(*)::int FROM pg_catalog.pg_locks WHERE NOT fastpath) AS used`,
  );
  const { room = 0, used = 0 } = row ?? {};
  const isRoomy = used < room / 2;
  return {
    name: "lock table",
    ok: isRoomy,
    detail: `${used} of about ${room} locks are in use; each running thread takes one`,
    ...(!isRoomy && { fix: "raise max_locks_per_transaction on the server and restart it" }),
  };
}

/** Loads LangGraph's packages. */
async function checkpointerOf(pool: PostgresPool, schema: string): Promise<Checkpointer> {
  const [{ wrapCheckpointer }, { FastPostgresSaver }] = await Promise.all([
    import("../saver/wrap.js"),
    import("./saver.js"),
  ]);
  const held: HeldRuns = new Map();
  const saver = new FastPostgresSaver(pool, schema, held);
  return wrapCheckpointer(saver, {
    held,
    guardEdit: (threadId) => saver.guardEdit(threadId),
    keepOnly: (threadId, keep, newest) => saver.keepOnly(threadId, keep, newest),
    namespaces: (threadId) => saver.namespaces(threadId),
    explain: pool.explain,
  });
}

function openLocks(driver: PostgresDriver, { uri, lockUri, schema }: PostgresOptions) {
  const config = {
    connectionString: lockUri ?? uri,
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5000,
    application_name: "graph-serve locks",
  };
  const { server } = addressOf(
    driver,
    config,
    lockUri ? "checkpointer_options.lock_uri" : "checkpointer_uri",
  );
  return LockConnection.open({
    createClient: (): Client => new driver.Client(config),
    channel: `gs_${lockKey("unlocked", schema)}`,
    explain: explainPostgres(server),
    isDirect: lockUri !== undefined,
  });
}

/** Versions of the tables in a schema. The official saver numbers its versions from 0; the result counts from 1. */
export async function postgresSchema(storageOptions: StorageOptions): Promise<SchemaState> {
  const options = readPostgresOptions({ ...storageOptions, readOnly: true });
  const driver = await loadPostgresDriver();
  const { server, database } = addressOf(driver, { connectionString: options.uri }, "checkpointer_uri");
  const pool = new PostgresPool(driver, { ...options, poolSize: 1 }, explainPostgres(server));
  try {
    const s = `"${options.schema}"`;
    const has = async (table: string) => !(await isMissing(pool.query, table));
    const rows = (await has(`${s}.gs_schema`)) ? await versionOf(pool.query, `${s}.gs_schema`) : 0;
    const table = `${s}.checkpoint_migrations`;
    const checkpoints = (await has(table)) ? await saverVersion(pool, table) : 0;
    return {
      location: `postgresql://${server}/${database}`,
      parts: [
        { name: "rows", version: rows, wanted: POSTGRES_SCHEMA_VERSION },
        { name: "checkpoints", version: checkpoints, wanted: await saverVersions(driver) },
      ],
    };
  } finally {
    await pool.close();
  }
}

async function saverVersion({ query }: PostgresPool, table: string): Promise<number> {
  const [row] = await query<{ v: number | null }>(`SELECT max(v) AS v FROM ${table}`);
  return (row?.v ?? -1) + 1;
}

/** Number of versions of the installed saver: the migrations that its `setup` would record in an empty schema. */
async function saverVersions({ PostgresSaver }: PostgresDriver): Promise<number> {
  let recorded = 0;
  const query = async (text: string) => {
    if (/^\s*INSERT INTO .*checkpoint_migrations/.test(text)) recorded += 1;
    return { rows: [] };
  };
  const pool = { connect: async () => ({ query, release: () => undefined }) };
  await new PostgresSaver(pool as never, undefined, { schema: "public" }).setup();
  return recorded;
}
