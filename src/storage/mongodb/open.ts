import type { Db, MongoClient, MongoClientOptions } from "mongodb";
import { ConfigError } from "../../support/errors.js";
import { wrapCheckpointer } from "../saver/wrap.js";
import { explained, type ExplainError, guarded, storageError } from "../driver/errors.js";
import type { HeldRuns } from "../saver/held-run.js";
import type { SchemaState } from "../contract/schema-state.js";
import type { ThreadLocks } from "../contract/locks.js";
import type { Storage, StorageOptions } from "../contract/storage.js";
import { createThreadLocks } from "../locks/thread-locks.js";
import { explainMongodb } from "./errors.js";
import { createMongodbItems } from "./items.js";
import { openMongodbLocks } from "./locks.js";
import { createMongodbRecordings } from "./recordings.js";
import { createMongodbOwners, MongodbRuns, createMongodbDeadRuns } from "./runs.js";
import { createSaver, keepOnly, namespacesOf, setUp } from "./saver.js";
import {
  loadMongodbDriver,
  type MongodbDriver,
  migrateMongodb,
  requirePrepared,
  MONGODB_SCHEMA_VERSION,
  storedVersion,
} from "./schema.js";
import { MongodbThreads } from "./threads.js";
import { createMongodbTimers } from "./timers.js";
import { isMongodbUri, type MongodbUri, parseMongodbUri } from "./uri.js";
import { createMongodbUsage } from "./usage.js";

/** Timeout of a call, including server selection, in milliseconds. */
const TIMEOUT = 10_000;

/**
 * Intervals between the driver's server checks. After a failed call, the driver (6.21) checks immediately if its last check
 * is older than `minHeartbeatFrequencyMS`, and then hangs if its own monitoring connection is closing at that moment. With
 * a minimum above the frequency it waits for the next regular check, when closing connections have closed.
 */
const HEARTBEAT = { heartbeatFrequencyMS: 1_000, minHeartbeatFrequencyMS: 2_000 };

/**
 * Open a storage in the database that the URI's path names (default `graph_serve`). Thread locks are shared by all
 * processes on the database. Rows are in collections whose names start with `gs_`, checkpoints in those of the official
 * MongoDBSaver. Only basic commands are used, so that MongoDB-compatible servers work as well.
 * @throws ConfigError if the URI or an option is invalid (`config_invalid`)
 * @throws StorageUnavailableError if the server cannot be used or mongodb cannot be loaded (`storage_unavailable`)
 */
export async function openMongodb(options: StorageOptions): Promise<Storage> {
  const driver = await loadMongodbDriver();
  const { client, target } = connectionOf(driver, options);
  try {
    return await openStores(driver, client, target, options);
  } catch (error) {
    await client.close();
    throw storageError(error, explainMongodb(target.hosts));
  }
}

/**
 * A client that is not connected yet, and its parsed URI.
 * @throws ConfigError (`config_invalid`)
 */
function connectionOf(
  driver: MongodbDriver,
  options: StorageOptions,
): { client: MongoClient; target: MongodbUri } {
  const { uri, target } = readUri(options);
  return { client: createClient(driver, uri, clientOptions(options, target)), target };
}

async function openStores(
  driver: MongodbDriver,
  client: MongoClient,
  target: MongodbUri,
  options: StorageOptions,
): Promise<Storage> {
  const { database, hosts, location } = target;
  const db = client.db(database, target.options.has("timeoutms") ? {} : { timeoutMS: TIMEOUT });
  const explain = explainMongodb(hosts);
  await client.connect();
  if (options.readOnly) await requirePrepared(db, location);
  // `prepareAll` uses no call timeout, because building an index may take long.
  else await prepareAll(driver, client, database);
  const held: HeldRuns = new Map();
  const saver = createSaver(driver, client, db, held);
  const locks = await openLocks(db, options, explain);
  const threads = new MongodbThreads(db);
  const usage = createMongodbUsage(db);
  const runs = new MongodbRuns(db, threads, usage);
  return {
    scheme: "mongodb",
    durable: true,
    location,
    threads: explained(threads, explain),
    runs: explained(runs, explain),
    usage: explained(usage, explain),
    deadRuns: explained(createMongodbDeadRuns(db, runs), explain),
    owners: explained(createMongodbOwners(db, runs), explain),
    checkpointer: wrapCheckpointer(saver, {
      held,
      keepOnly: (threadId, keep, newest) => keepOnly(db, threadId, keep, newest),
      namespaces: (threadId) => namespacesOf(db, threadId),
      explain,
    }),
    items: explained(createMongodbItems(db), explain),
    timers: explained(createMongodbTimers(db), explain),
    recordings: explained(createMongodbRecordings(db), explain),
    locks: locks.threads,
    now: () => guarded(explain, () => timeOf(db)),
    close: async () => {
      await locks.close();
      await client.close();
    },
  };
}

async function timeOf(db: Db): Promise<number> {
  const { localTime } = await db.command({ hello: 1 });
  return (localTime as Date).getTime();
}

async function prepareAll(driver: MongodbDriver, client: MongoClient, database: string): Promise<void> {
  const db = client.db(database);
  await migrateMongodb(db);
  await setUp(createSaver(driver, client, db));
}

/** A read-only storage takes no locks that other processes can see. */
async function openLocks(
  db: Db,
  { max_queued_runs: maxWaiting, readOnly }: StorageOptions,
  explain: ExplainError,
): Promise<{ threads: ThreadLocks; close: () => Promise<void> }> {
  if (readOnly) return { threads: createThreadLocks({ maxWaiting }), close: async () => undefined };
  return openMongodbLocks(db, { maxWaiting, explain });
}

function readUri({ checkpointer_uri: uri }: StorageOptions): { uri: string; target: MongodbUri } {
  const target = uri === undefined || !isMongodbUri(uri) ? undefined : parseMongodbUri(uri);
  if (uri !== undefined && target) return { uri, target };
  throw new ConfigError("checkpointer_scheme mongodb needs a checkpointer_uri that names its server", {
    hint: "set checkpointer_uri to a URI such as mongodb://user:password@host:27017/graph_serve",
  });
}

/** Options of the driver. Options in the URI take precedence. */
function clientOptions({ checkpointer_options }: StorageOptions, target: MongodbUri): MongoClientOptions {
  const unknown = Object.keys(checkpointer_options).find((name) => name !== "pool_max_size");
  if (unknown !== undefined) {
    throw new ConfigError(`checkpointer_options.${unknown} is not known; known is pool_max_size`, {
      hint: "set options of the driver in checkpointer_uri, for example ?tls=true",
    });
  }
  const { pool_max_size: maxPoolSize } = checkpointer_options;
  const ours: MongoClientOptions = {
    appName: "graph-serve",
    ...HEARTBEAT,
    serverSelectionTimeoutMS: TIMEOUT,
    connectTimeoutMS: TIMEOUT,
    socketTimeoutMS: TIMEOUT,
    waitQueueTimeoutMS: TIMEOUT,
    // An acknowledged write must survive the loss of the primary.
    w: "majority",
    ...(maxPoolSize !== undefined && { maxPoolSize }),
  };
  return Object.fromEntries(Object.entries(ours).filter(([name]) => !target.options.has(name.toLowerCase())));
}

/** Replaces the driver's error, because its message may contain parts of the URI. */
function createClient(driver: MongodbDriver, uri: string, options: MongoClientOptions): MongoClient {
  try {
    return new driver.MongoClient(uri, options);
  } catch {
    throw new ConfigError("checkpointer_uri is not a valid MongoDB connection string", {
      hint: "use mongodb://user:password@host:27017/database, with special characters percent-encoded",
    });
  }
}

/** Version of the documents in a database. One version covers rows and the indexes of checkpoints. */
export async function mongodbSchema(options: StorageOptions): Promise<SchemaState> {
  const { client, target } = connectionOf(await loadMongodbDriver(), options);
  try {
    const version = await storedVersion(client.db(target.database));
    return {
      location: target.location,
      parts: [{ name: "documents", version, wanted: MONGODB_SCHEMA_VERSION }],
    };
  } catch (error) {
    throw storageError(error, explainMongodb(target.hosts));
  } finally {
    await client.close();
  }
}
