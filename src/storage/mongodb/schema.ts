import type { MongoDBSaver } from "@langchain/langgraph-checkpoint-mongodb";
import type { Db, MongoClient, MongoClientOptions } from "mongodb";
import { StorageUnavailableError } from "../../support/errors.js";
import type { RunState } from "../contract/runs.js";
import { assertStopped, DELAYED_OWNER } from "../rows/owners.js";
import { UNFINISHED } from "../../models/run-status.js";
import { recordingsIn } from "./recordings.js";
import { collectionsOf, IS_DEAD, type RunDocument } from "./rows.js";

/**
 * Document version that this release reads and writes. Version 2 added `fault` to runs, version 3 `tasks` and `resumption`;
 * an earlier release would send them to clients. Version 4 added timers, which an earlier release would ignore. Since
 * version 5, a run that ended as `error` has a `resumption` only if it is dead. Version 6 added `preview` to threads.
 * Version 7 added `state` to runs, which was coded in their owner. Version 8 added usage, which an earlier release would not
 * record. Version 9 added recordings, which an earlier release would not delete with their threads. Version 10
 * added vectors to items, which an earlier release would leave on an item that it overwrites.
 */
export const MONGODB_SCHEMA_VERSION = 10;
const STATE_VERSION = 7;

interface Version {
  _id: "version";
  version: number;
}

const versionsOf = (db: Db) => db.collection<Version>("gs_schema");

/** 0 if no server has used the database. */
export const storedVersion = async (db: Db): Promise<number> =>
  (await versionsOf(db).findOne({ _id: "version" }))?.version ?? 0;

/**
 * Create the indexes and store the version. Every step is idempotent and may run in several processes concurrently.
 * @throws StorageUnavailableError if the documents have a later version (`storage_unavailable`)
 */
export async function migrateMongodb(db: Db): Promise<void> {
  const stored = await versionsOf(db).findOne({ _id: "version" });
  if (stored && stored.version > MONGODB_SCHEMA_VERSION) throw newerVersion(stored.version);
  const { threads, runs, owners } = collectionsOf(db);
  if (stored && stored.version < STATE_VERSION)
    assertStopped((await owners.find({}).toArray()).map(({ _id: id, ...owner }) => ({ id, ...owner })));
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
    { name: "gs_runs_dead_state", partialFilterExpression: IS_DEAD },
  );
  await db.collection("gs_items").createIndex({ namespace: 1, key: 1 });
  const timers = db.collection("gs_timers");
  await timers.createIndex({ due_at: 1, id: 1 });
  await timers.createIndex({ thread_id: 1 });
  await timers.createIndex({ kind: 1, created_at: 1, id: 1 });
  const usage = db.collection("gs_usage");
  await usage.createIndex({ at: 1 });
  await usage.createIndex({ user_id: 1, day: 1 });
  await usage.createIndex({ thread_id: 1 });
  await usage.createIndex({ run_id: 1, attempt: 1, seq: 1 });
  const recordings = recordingsIn(db);
  await recordings.createIndex({ run_id: 1, at: 1, seq: 1 });
  await recordings.createIndex({ thread_id: 1 });
  await recordings.createIndex({ at: 1 });
  if (stored && stored.version < 5)
    await runs.updateMany({ status: "error", resumption: { $ne: null } }, { $set: { resumption: null } });
  if (stored && stored.version < STATE_VERSION) await addStates(db);
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

/** Adds `state` to runs of earlier versions. Idempotent. */
async function addStates(db: Db): Promise<void> {
  const { threads, runs, owners } = collectionsOf(db);
  const none: object = { state: { $exists: false } };
  const isUnfinished = { status: { $in: [...UNFINISHED] } };
  for await (const { _id, resumption } of runs.find({ ...none, resumption: { $type: "string" } })) {
    const { given_back, frames, ...kept } = JSON.parse(String(resumption)) as Record<string, unknown>;
    const requeued = given_back === undefined ? {} : { requeued: given_back };
    const renamed = {
      ...kept,
      ...requeued,
      ...(frames !== undefined && { frames: frames === "wide" ? "all" : frames }),
    };
    await runs.updateOne({ _id, ...none }, { $set: { resumption: JSON.stringify(renamed) } });
  }
  const set = async (state: RunState, which: object, more: Partial<RunDocument> = {}) =>
    runs.updateMany({ ...none, ...which }, { $set: { state, ...more } });
  await runs.updateMany({ ...none, attempt: { $exists: false } }, { $set: { attempt: 1 } });
  await set("delayed", { ...isUnfinished, owner: DELAYED_OWNER }, { owner: null });
  await set("queued", { ...isUnfinished, owner: "" }, { owner: null });
  await set("queued", { status: "pending", attempt: 0 });
  await set("running", isUnfinished);
  await set("dead", { resumption: { $type: "string" } });
  await set("ended", { owner: { $in: ["", DELAYED_OWNER] } }, { owner: null });
  await set("ended", {});
  // Ends that are stored in their thread only; see ./runs.ts.
  const unstated: object = { "settled.run_id": { $exists: true }, "settled.patch.state": { $exists: false } };
  await threads.updateMany(
    { ...unstated, "settled.patch.resumption": { $type: "string" } },
    withState("dead"),
  );
  await threads.updateMany(unstated, withState("ended"));
  await owners.deleteOne({ _id: DELAYED_OWNER });
  await runs.dropIndex("gs_runs_dead").catch(() => undefined);
}

const withState = (state: RunState): object => ({ $set: { "settled.patch.state": state } });

/**
 * Check that a server has used the database, without changing anything.
 * @throws StorageUnavailableError if none has, or if the documents have a later version (`storage_unavailable`)
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
    `the database was written by a later graph-serve: its documents have version ${version}, this release supports version ${MONGODB_SCHEMA_VERSION}`,
    { hint: "upgrade graph-serve" },
  );

export interface MongodbDriver {
  MongoClient: new (uri: string, options: MongoClientOptions) => MongoClient;
  MongoDBSaver: typeof MongoDBSaver;
}

/**
 * Load the packages of this backend.
 * @throws StorageUnavailableError if one is missing (`storage_unavailable`)
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
