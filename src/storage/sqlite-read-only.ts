import { existsSync, statSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { StorageUnavailableError } from "../errors.js";
import type { SqliteDriver } from "./sqlite-driver.js";
import { IN_MEMORY } from "./sqlite-location.js";
import { SCHEMA_VERSION } from "./sqlite-schema.js";

/**
 * Open a database for reading only.
 * @throws StorageUnavailableError when there is none, or none of this release (`storage_unavailable`)
 */
export function openForReading(location: string, driver: SqliteDriver): Database {
  if (location === IN_MEMORY || !existsSync(location)) throw noDatabase(location);
  const db = openUnchanged(location, driver);
  try {
    assertOurs(db, location);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Open a database that another process may be writing, so that the folder holds the same files afterwards. Where a
 * WAL holds something (a server runs, or died) a read-only handle leaves all as it is. Elsewhere SQLite makes a WAL for
 * the time of the reading, and only a handle that may write takes it away again: it is kept from changing anything else.
 */
export function openUnchanged(location: string, { open }: SqliteDriver): Database {
  const db = open(location, { fileMustExist: true, readonly: hasWal(location) });
  try {
    db.pragma("query_only = ON");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Another reader's WAL is empty. */
function hasWal(location: string): boolean {
  return (statSync(`${location}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function assertOurs(db: Database, location: string): void {
  const hasTable = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  if (!hasTable.get("gs_schema")) {
    throw new StorageUnavailableError(`the database holds no threads of graph-serve: ${location}`, {
      hint: "set checkpointer_uri to the database of a graph-serve server",
    });
  }
  const version = db.prepare("SELECT max(version) FROM gs_schema").pluck().get() as number | null;
  if (version === SCHEMA_VERSION) return;
  const isOlder = (version ?? 0) < SCHEMA_VERSION;
  throw new StorageUnavailableError(
    `the database was written by ${isOlder ? "an earlier" : "a later"} graph-serve: ${location}`,
    {
      hint: isOlder
        ? "run graph-serve migrate up on it, or start a server: both bring the tables up to date"
        : "upgrade graph-serve",
    },
  );
}

function noDatabase(location: string): StorageUnavailableError {
  return new StorageUnavailableError(`there is no database at ${location}`, {
    hint: "a server or a run makes it; name another with --checkpointer-uri, or ask a server with --url",
  });
}
