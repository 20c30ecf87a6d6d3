import type { Db } from "mongodb";
import { StorageUnavailableError } from "../errors.js";
import { collectionsOf } from "./mongodb-rows.js";

/** Version of the documents that this release reads and writes. */
export const SCHEMA_VERSION = 1;

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
export async function prepare(db: Db): Promise<void> {
  const stored = await versionsOf(db).findOne({ _id: "version" });
  if (stored && stored.version > SCHEMA_VERSION) throw newerVersion(stored.version);
  const { threads, runs } = collectionsOf(db);
  await threads.createIndex({ updated_at: 1, _id: 1 });
  await threads.createIndex({ created_at: 1, _id: 1 });
  await threads.createIndex({ facts: 1, updated_at: 1, _id: 1 });
  await threads.createIndex({ status: 1, updated_at: 1, _id: 1 });
  await threads.createIndex({ expires_at: 1 });
  await runs.createIndex({ thread_id: 1, created_at: -1, _id: -1 });
  await runs.createIndex({ status: 1 });
  await db.collection("gs_items").createIndex({ namespace: 1, key: 1 });
  await versionsOf(db).updateOne(
    { _id: "version", version: { $lt: SCHEMA_VERSION } },
    { $set: { version: SCHEMA_VERSION } },
  );
  await versionsOf(db).updateOne(
    { _id: "version" },
    { $setOnInsert: { version: SCHEMA_VERSION } },
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
  if (stored.version > SCHEMA_VERSION) throw newerVersion(stored.version);
}

const newerVersion = (version: number) =>
  new StorageUnavailableError(
    `the database was written by a later graph-serve: its version is ${version}, this one knows ${SCHEMA_VERSION}`,
    { hint: "upgrade graph-serve" },
  );
