import type { MongoDBSaver } from "@langchain/langgraph-checkpoint-mongodb";
import type { Db, MongoClient, MongoClientOptions } from "mongodb";
import { StorageUnavailableError } from "../../support/errors.js";
import { collectionsOf, IS_DEAD } from "./rows.js";

/**
 * Version of the documents that this release reads and writes: since 2, runs have a fault, since 3 tasks and what they are
 * gone on with, all of which an earlier release would show; since 4 there are timers, which it would not see to; since
 * 5 a run that ended as `error` has what it would have gone on with only where processes died over it.
 */
export const MONGODB_SCHEMA_VERSION = 5;

interface Version {
  _id: "version";
  version: number;
}

const versionsOf = (db: Db) => db.collection<Version>("gs_schema");

/** 0 when no server has been here. */
export const storedVersion = async (db: Db): Promise<number> =>
  (await versionsOf(db).findOne({ _id: "version" }))?.version ?? 0;

/**
 * Make the indexes and note the version. Every step may be made by several processes at once, and made again.
 * @throws StorageUnavailableError when the documents are of a later version (`storage_unavailable`)
 */
export async function migrateMongodb(db: Db): Promise<void> {
  const stored = await versionsOf(db).findOne({ _id: "version" });
  if (stored && stored.version > MONGODB_SCHEMA_VERSION) throw newerVersion(stored.version);
  const { threads, runs } = collectionsOf(db);
  await threads.createIndex({ updated_at: 1, _id: 1 });
  await threads.createIndex({ created_at: 1, _id: 1 });
  await threads.createIndex({ facts: 1, updated_at: 1, _id: 1 });
  await threads.createIndex({ status: 1, updated_at: 1, _id: 1 });
  await threads.createIndex({ expires_at: 1 });
  await runs.createIndex({ thread_id: 1, created_at: -1, _id: -1 });
  await runs.createIndex({ status: 1 });
  await runs.createIndex({ created_at: -1, _id: -1, status: 1 });
  await runs.createIndex(
    { created_at: -1, _id: -1 },
    { name: "gs_runs_dead", partialFilterExpression: IS_DEAD },
  );
  await db.collection("gs_items").createIndex({ namespace: 1, key: 1 });
  const timers = db.collection("gs_timers");
  await timers.createIndex({ due_at: 1, id: 1 });
  await timers.createIndex({ thread_id: 1 });
  await timers.createIndex({ kind: 1, created_at: 1, id: 1 });
  if (stored && stored.version < 5)
    await runs.updateMany({ status: "error", resumption: { $ne: null } }, { $set: { resumption: null } });
  await versionsOf(db).updateOne(
    { _id: "version", version: { $lt: MONGODB_SCHEMA_VERSION } },
    { $set: { version: MONGODB_SCHEMA_VERSION } },
  );
  await versionsOf(db).updateOne(
    { _id: "version" },
    { $setOnInsert: { version: MONGODB_SCHEMA_VERSION } },
    { upsert: true },
  );
}

/**
 * Check that a server has been here, without making anything.
 * @throws StorageUnavailableError when none has, or one of another version (`storage_unavailable`)
 */
export async function requirePrepared(db: Db, location: string): Promise<void> {
  const stored = await versionsOf(db).findOne({ _id: "version" });
  if (!stored) {
    throw new StorageUnavailableError(`the database holds no threads of graph-serve: ${location}`, {
      hint: "set checkpointer_uri to the database of a graph-serve server",
    });
  }
  if (stored.version > MONGODB_SCHEMA_VERSION) throw newerVersion(stored.version);
}

const newerVersion = (version: number) =>
  new StorageUnavailableError(
    `the database was written by a later graph-serve: its version is ${version}, this one knows ${MONGODB_SCHEMA_VERSION}`,
    { hint: "upgrade graph-serve" },
  );

export interface MongodbDriver {
  MongoClient: new (uri: string, options: MongoClientOptions) => MongoClient;
  MongoDBSaver: typeof MongoDBSaver;
}

/**
 * The packages of this backend, loaded when it is first opened.
 * @throws StorageUnavailableError when one is missing (`storage_unavailable`)
 */
export async function loadMongodbDriver(): Promise<MongodbDriver> {
  try {
    const { MongoClient } = await import("mongodb");
    const { MongoDBSaver } = await import("@langchain/langgraph-checkpoint-mongodb");
    return { MongoClient, MongoDBSaver };
  } catch (cause) {
    throw new StorageUnavailableError("checkpointer_scheme mongodb needs mongodb, which does not load", {
      hint: "run: npm install mongodb @langchain/langgraph-checkpoint-mongodb",
      cause,
    });
  }
}

/** Whether `uri` names a MongoDB deployment. */
export const isMongodbUri = (uri: string): boolean => /^mongodb(\+srv)?:\/\//i.test(uri);

export interface MongodbUri {
  /** Database that the URI's path names. */
  database: string;
  /** Where it is, without user and password. */
  location: string;
  /** `host:port`, or several of them. */
  hosts: string;
  /** Names of the options that the URI sets, in lower case. */
  options: ReadonlySet<string>;
}

const DEFAULT_DATABASE = "graph_serve";

/** What a connection string says, as far as this backend asks; undefined when it is malformed. */
export function parseMongodbUri(uri: string): MongodbUri | undefined {
  const parts = /^(mongodb(?:\+srv)?:\/\/)(?:[^/?]*@)?([^/?@]+)(?:\/([^?]*))?(?:\?(.*))?$/i.exec(uri);
  if (!parts) return undefined;
  const [, scheme = "", hosts = "", path = "", query = ""] = parts;
  const database = decoded(path) || DEFAULT_DATABASE;
  const options = new Set([...new URLSearchParams(query).keys()].map((name) => name.toLowerCase()));
  return { database, hosts, options, location: `${scheme.toLowerCase()}${hosts}/${database}` };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
