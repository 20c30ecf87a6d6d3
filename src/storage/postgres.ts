import type { Client } from "pg";
import { wrapCheckpointer } from "./checkpointer.js";
import { loadPostgresDriver, type PostgresDriver } from "./postgres-driver.js";
import { explainPostgres } from "./postgres-errors.js";
import { createPostgresItems } from "./postgres-items.js";
import { lockKey } from "./postgres-keys.js";
import { LockConnection } from "./postgres-lock-connection.js";
import { PostgresThreadLocks } from "./postgres-locks.js";
import { PostgresMetadataStore } from "./postgres-metadata.js";
import { addressOf, CONNECT_TIMEOUT, readPostgresOptions, type PostgresOptions } from "./postgres-options.js";
import { PostgresPool } from "./postgres-pool.js";
import { FastPostgresSaver } from "./postgres-saver.js";
import { migrate, requireTables } from "./postgres-schema.js";
import type { Storage, StorageOptions, ThreadLocks } from "./storage.js";
import { createThreadLocks } from "./thread-locks.js";

/**
 * Both stores in one schema of a PostgreSQL database, on one pool of connections, and thread locks that hold across
 * all processes on the schema, on one connection of their own. Several processes may start at the same moment.
 *
 * Behind pgbouncer in transaction mode, set `prepare: false`, which does without named statements and start-up
 * parameters, and `lock_uri` to the server itself: the locks are the one thing that needs a session of its own.
 * @throws ConfigError when the URI or an option is wrong (`config_invalid`)
 * @throws StorageUnavailableError when the server cannot be used, or pg not loaded (`storage_unavailable`)
 */
export async function openPostgres(storageOptions: StorageOptions): Promise<Storage> {
  const options = readPostgresOptions(storageOptions);
  const driver = await loadPostgresDriver();
  const { server, database } = addressOf(driver, { connectionString: options.uri }, "checkpointer_uri");
  const pool = new PostgresPool(driver, options, explainPostgres(server));
  try {
    const locks = await prepare(pool, driver, options, storageOptions.max_queued_runs);
    return {
      ...storesOf(pool, options),
      scheme: "postgres",
      durable: true,
      location: `postgresql://${server}/${database}`,
      locks: locks.threads,
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

/** Makes the tables and opens the locks; who only reads needs neither. */
async function prepare(
  pool: PostgresPool,
  driver: PostgresDriver,
  options: PostgresOptions,
  maxWaiting: number,
): Promise<{ threads: ThreadLocks; close(): Promise<void> }> {
  const { schema } = options;
  if (options.readOnly) {
    await requireTables(pool, schema);
    return { threads: createThreadLocks({ maxWaiting }), close: async () => undefined };
  }
  await migrate(pool, driver, schema);
  const connection = await openLocks(driver, options);
  return {
    threads: new PostgresThreadLocks({ connection, schema, maxWaiting }),
    close: () => connection.close(),
  };
}

function storesOf(pool: PostgresPool, { schema }: PostgresOptions) {
  const saver = new FastPostgresSaver(pool, schema);
  return {
    metadata: new PostgresMetadataStore(pool, schema),
    items: createPostgresItems(pool, schema),
    checkpointer: wrapCheckpointer(saver, {
      keepOnly: (threadId, keep) => saver.keepOnly(threadId, keep),
      namespaces: (threadId) => saver.namespaces(threadId),
      explain: pool.explain,
    }),
  };
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
