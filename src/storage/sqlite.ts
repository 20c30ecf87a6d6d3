import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Database } from "better-sqlite3";
import { ConfigError, StorageUnavailableError } from "../errors.js";
import { wrapCheckpointer } from "./checkpointer.js";
import { loadSqliteDriver, type SqliteDriver } from "./sqlite-driver.js";
import { explainSqlite } from "./sqlite-errors.js";
import { sqliteFindings } from "./sqlite-findings.js";
import { createSqliteItems } from "./sqlite-items.js";
import { IN_MEMORY, isSqliteUri, sqliteLocation } from "./sqlite-location.js";
import { SqliteMetadataStore } from "./sqlite-metadata.js";
import { openForReading } from "./sqlite-read-only.js";
import { SqliteSaver } from "./sqlite-saver.js";
import { migrate } from "./sqlite-schema.js";
import type { Storage, StorageOptions } from "./storage.js";
import { createThreadLocks } from "./thread-locks.js";

export type SqliteOptions = StorageOptions & { cwd?: string };

/**
 * Both stores in one SQLite file, which is made with its folder when it is missing, unless `readOnly` is set.
 * @throws ConfigError when `checkpointer_uri` names no file (`config_invalid`)
 * @throws StorageUnavailableError when the file cannot be used, or better-sqlite3 not loaded (`storage_unavailable`)
 */
export async function openSqlite(options: SqliteOptions): Promise<Storage> {
  const location = locationOf(options);
  const driver = await loadSqliteDriver();
  const stores = openStores(location, driver, options.readOnly ?? false);
  return {
    scheme: "sqlite",
    durable: location !== IN_MEMORY,
    location,
    ...stores,
    locks: createThreadLocks({ maxWaiting: options.max_queued_runs }),
  };
}

/** @throws ConfigError (`config_invalid`) */
export function locationOf({ checkpointer_uri: uri, cwd = process.cwd() }: SqliteOptions): string {
  if (uri && isSqliteUri(uri)) return sqliteLocation(uri, cwd);
  throw new ConfigError("checkpointer_scheme sqlite needs a checkpointer_uri that names its file", {
    hint: `set checkpointer_uri to a path such as "./graph-serve.db", or to "${IN_MEMORY}"`,
  });
}

function openStores(location: string, driver: SqliteDriver, readOnly: boolean) {
  let db: Database | undefined;
  try {
    if (readOnly) {
      db = openForReading(location, driver);
      return storesOf(db);
    }
    if (location !== IN_MEMORY) mkdirSync(path.dirname(location), { recursive: true });
    db = driver.open(location);
    prepare(db);
    return storesOf(db);
  } catch (error) {
    db?.close();
    throw openError(location, error);
  }
}

function prepare(db: Database): void {
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = NORMAL");
  db.pragma("foreign_keys = ON");
  migrate(db);
  assertWritable(db);
}

/** SQLite opens a file that it cannot write as well: only a write tells. */
function assertWritable(db: Database): void {
  db.pragma(`user_version = ${Number(db.pragma("user_version", { simple: true }))}`);
}

function storesOf(db: Database) {
  const saver = new SqliteSaver(db);
  return {
    metadata: new SqliteMetadataStore(db),
    checkpointer: wrapCheckpointer(saver, {
      keepOnly: (threadId, keep) => saver.keepOnly(threadId, keep),
      namespaces: (threadId) => saver.namespaces(threadId),
      explain: explainSqlite,
    }),
    items: createSqliteItems(db),
    findings: () => sqliteFindings(db),
    close: async () => void db.close(),
  };
}

/** Names the file: whoever starts the server has to know which. Later errors reach clients, and do not. */
export function openError(location: string, error: unknown): unknown {
  if (error instanceof StorageUnavailableError) return error;
  const isSystemError = error instanceof Error && "syscall" in error;
  const explained = explainSqlite(
    isSystemError ? Object.assign(new Error(), { code: "SQLITE_CANTOPEN" }) : error,
  );
  if (!explained) return error;
  return new StorageUnavailableError(`${explained.message}: ${location}`, {
    hint: explained.hint,
    cause: error,
  });
}
