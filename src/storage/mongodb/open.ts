import type { Db, MongoClient, MongoClientOptions } from "mongodb";
import { ConfigError } from "../../support/errors.js";
import { wrapCheckpointer } from "../saver/checkpointer.js";
import { explained, type ExplainError, guarded, storageError } from "../driver/errors.js";
import type { HeldRuns } from "../saver/saver-parts.js";
import type { SchemaState } from "../contract/schema-state.js";
import type { Storage, StorageOptions, ThreadLocks } from "../contract/storage.js";
import { createThreadLocks } from "../locks/thread-locks.js";
import { createMongodbDeadRuns } from "./dead-runs.js";
import { explainMongodb } from "./errors.js";
import { createMongodbItems } from "./items.js";
import { openMongodbLocks } from "./locks.js";
import { createMongodbOwners, MongodbRuns } from "./runs.js";
import { createSaver, keepOnly, namespacesOf, setUp } from "./saver.js";
import {
  isMongodbUri,
  loadMongodbDriver,
  type MongodbDriver,
  type MongodbUri,
  parseMongodbUri,
  migrateMongodb,
  requirePrepared,
  MONGODB_SCHEMA_VERSION,
  storedVersion,
} from "./schema.js";
import { MongodbThreads } from "./threads.js";
import { createMongodbTimers } from "./timers.js";

/** How long a call may take, from the search for a server to its answer, in milliseconds. */
const TIMEOUT = 10_000;

/**
 * Milliseconds between two looks whether a server lives. After a failed call the driver (6.21) looks at once when its
 * last look is older than the second figure, and waits for ever when its own connection is just ending as well: with this
 * pause it waits for the next look, when connections that were to end have ended.
 */
const HEARTBEAT = { heartbeatFrequencyMS: 1_000, minHeartbeatFrequencyMS: 2_000 };

/**
 * All of a storage in the database that the URI's path names (graph_serve when it names none), and thread locks that hold
 * across all processes on it. Rows are in collections that begin with `gs_`, checkpoints in those of the official
 * MongoDBSaver. Only plain commands are sent, so that MongoDB-compatible servers do as well.
 * @throws ConfigError when the URI or an option is wrong (`config_invalid`)
 * @throws StorageUnavailableError when the server cannot be used, or mongodb not loaded (`storage_unavailable`)
 */
export async function openMongodb(options: StorageOptions): Promise<Storage> {
  const driver = await loadMongodbDriver();
  const { client, place } = connectionOf(driver, options);
  try {
    return await openStores(driver, client, place, options);
  } catch (error) {
    await client.close();
    throw storageError(error, explainMongodb(place.hosts));
  }
}

/**
 * A client that has not connected yet, and where it leads.
 * @throws ConfigError (`config_invalid`)
 */
function connectionOf(
  driver: MongodbDriver,
  options: StorageOptions,
): { client: MongoClient; place: MongodbUri } {
  const { uri, place } = readUri(options);
  return { client: createClient(driver, uri, clientOptions(options, place)), place };
}

async function openStores(
  driver: MongodbDriver,
  client: MongoClient,
  place: MongodbUri,
  options: StorageOptions,
): Promise<Storage> {
  const { database, hosts, location } = place;
  const db = client.db(database, place.options.has("timeoutms") ? {} : { timeoutMS: TIMEOUT });
  const explain = explainMongodb(hosts);
  await client.connect();
  if (options.readOnly) await requirePrepared(db, location);
  // An index may take longer to build than a call.
  else await prepareAll(driver, client, database);
  const held: HeldRuns = new Map();
  const saver = createSaver(driver, client, db, held);
  const locks = await openLocks(db, options, explain);
  const threads = new MongodbThreads(db);
  const runs = new MongodbRuns(db, threads);
  return {
    scheme: "mongodb",
    durable: true,
    location,
    threads: explained(threads, explain),
    runs: explained(runs, explain),
    deadRuns: explained(createMongodbDeadRuns(db, runs), explain),
    owners: explained(createMongodbOwners(db, runs), explain),
    checkpointer: wrapCheckpointer(saver, {
      held,
      keepOnly: (threadId, keep) => keepOnly(db, threadId, keep),
      namespaces: (threadId) => namespacesOf(db, threadId),
      explain,
    }),
    items: explained(createMongodbItems(db), explain),
    timers: explained(createMongodbTimers(db), explain),
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

/** Who only reads takes no lock that others would see. */
async function openLocks(
  db: Db,
  { max_queued_runs: maxWaiting, readOnly }: StorageOptions,
  explain: ExplainError,
): Promise<{ threads: ThreadLocks; close: () => Promise<void> }> {
  if (readOnly) return { threads: createThreadLocks({ maxWaiting }), close: async () => undefined };
  return openMongodbLocks(db, { maxWaiting, explain });
}

function readUri({ checkpointer_uri: uri }: StorageOptions): { uri: string; place: MongodbUri } {
  const place = uri === undefined || !isMongodbUri(uri) ? undefined : parseMongodbUri(uri);
  if (uri !== undefined && place) return { uri, place };
  throw new ConfigError("checkpointer_scheme mongodb needs a checkpointer_uri that names its server", {
    hint: "set checkpointer_uri to a URI such as mongodb://user:password@host:27017/graph_serve",
  });
}

/** What the URI sets itself is left to it. */
function clientOptions({ checkpointer_options }: StorageOptions, place: MongodbUri): MongoClientOptions {
  const unknown = Object.keys(checkpointer_options).find((name) => name !== "pool_max_size");
  if (unknown !== undefined) {
    throw new ConfigError(`checkpointer_options.${unknown} is not known; known is pool_max_size`, {
      hint: "options of the driver go into checkpointer_uri, such as ?tls=true",
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
    // What was acknowledged outlives the server that took it.
    w: "majority",
    ...(maxPoolSize !== undefined && { maxPoolSize }),
  };
  return Object.fromEntries(Object.entries(ours).filter(([name]) => !place.options.has(name.toLowerCase())));
}

/** The driver's own message may repeat parts of the URI. */
function createClient(driver: MongodbDriver, uri: string, options: MongoClientOptions): MongoClient {
  try {
    return new driver.MongoClient(uri, options);
  } catch {
    throw new ConfigError("checkpointer_uri is not a valid connection string of MongoDB", {
      hint: "write mongodb://user:password@host:27017/database, special characters percent-encoded",
    });
  }
}

/** What the documents of a database stand at; one version counts for rows and the indexes of checkpoints. */
export async function mongodbSchema(options: StorageOptions): Promise<SchemaState> {
  const { client, place } = connectionOf(await loadMongodbDriver(), options);
  try {
    const version = await storedVersion(client.db(place.database));
    return {
      location: place.location,
      parts: [{ name: "documents", version, wanted: MONGODB_SCHEMA_VERSION }],
    };
  } catch (error) {
    throw storageError(error, explainMongodb(place.hosts));
  } finally {
    await client.close();
  }
}
