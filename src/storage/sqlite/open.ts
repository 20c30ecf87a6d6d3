import { existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import type { Database, Options } from "better-sqlite3";
import { StorageUnavailableError } from "../../support/errors.js";
import { MANAGERS, managerOf } from "../../support/package-manager.js";
import type { HeldRuns } from "../saver/held-run.js";
import type { SchemaState } from "../contract/schema-state.js";
import type { ThreadLocks } from "../contract/locks.js";
import type { RowStorage, Storage, StorageFinding } from "../contract/storage.js";
import type { Checkpointer } from "../contract/checkpointer.js";
import type { TimerTable } from "../contract/timers.js";
import { createThreadLocks } from "../locks/thread-locks.js";
import { BUSY_TIMEOUT, explainSqlite } from "./errors.js";
import { SqliteFile } from "./file.js";
import { createSqliteItems } from "./items.js";
import { IN_MEMORY, sqlitePath, type SqliteOptions } from "./location.js";
import { hasNodeDriver, openNodeSqlite } from "./node-driver.js";
import { createSqliteRecordings } from "./recordings.js";
import { createSqliteOwners, SqliteRuns, createSqliteDeadRuns } from "./runs.js";
import { assertMigratable, migrateSqlite, SQLITE_SCHEMA_VERSION } from "./schema.js";
import { SqliteThreads } from "./threads.js";
import { createSqliteTimers } from "./timers.js";
import { createSqliteUsage } from "./usage.js";
import { SqliteWriter, TRY_MS } from "./writer.js";

/**
 * A storage in one SQLite file. A missing file is created, with its directory, unless `readOnly` is set.
 * @throws ConfigError if `checkpointer_uri` does not name a file (`config_invalid`)
 * @throws StorageUnavailableError if the file cannot be used or there is no driver (`storage_unavailable`)
 */
export async function openSqlite(options: SqliteOptions): Promise<Storage> {
  const location = sqlitePath(options);
  const notices: string[] = [];
  const driver = await loadSqliteDriver(options);
  const db = openFile(location, driver, { readOnly: options.readOnly ?? false, notices });
  const writer = new SqliteWriter(db);
  const file = new SqliteFile(db, writer);
  // Created on first use: commands that only read threads need none of these.
  let locks: ThreadLocks | undefined;
  let timers: TimerTable | undefined;
  let items: Storage["items"] | undefined;
  const rows = rowsOf(db, file, location);
  return {
    ...rows,
    notices,
    get deadRuns() {
      return createSqliteDeadRuns(file, rows.runs, rows.threads);
    },
    durable: location !== IN_MEMORY,
    owners: createSqliteOwners(file),
    get items() {
      return (items ??= createSqliteItems(file, db, options.cwd ?? process.cwd()));
    },
    checkpointer: await checkpointerOf(db, writer),
    get locks() {
      return (locks ??= createThreadLocks({ maxWaiting: options.max_queued_runs }));
    },
    get recordings() {
      return createSqliteRecordings(file);
    },
    get timers() {
      return (timers ??= createSqliteTimers(file));
    },
    findings: () => sqliteFindings(db),
  };
}

/** @throws as `openSqlite` */
export async function openSqliteRows(options: SqliteOptions): Promise<RowStorage> {
  const location = sqlitePath(options);
  const db = openFile(location, await loadSqliteDriver(options), { readOnly: true, notices: [] });
  return rowsOf(db, new SqliteFile(db, new SqliteWriter(db)), location);
}

function rowsOf(db: Database, file: SqliteFile, location: string) {
  const threads = new SqliteThreads(file);
  return {
    scheme: "sqlite",
    location,
    threads,
    runs: new SqliteRuns(file, threads),
    usage: createSqliteUsage(file),
    close: async () => void db.close(),
  };
}

/** Imported on demand, because it loads LangGraph's packages. */
async function checkpointerOf(db: Database, writer: SqliteWriter): Promise<Checkpointer> {
  const [{ wrapCheckpointer }, { SqliteSaver }] = await Promise.all([
    import("../saver/wrap.js"),
    import("./saver.js"),
  ]);
  const held: HeldRuns = new Map();
  const saver = new SqliteSaver(db, held, writer);
  return wrapCheckpointer(saver, {
    held,
    keepOnly: (threadId, keep, newest) => saver.keepOnly(threadId, keep, newest),
    namespaces: (threadId) => saver.namespaces(threadId),
    explain: explainSqlite,
  });
}

function openFile(
  location: string,
  driver: SqliteDriver,
  { readOnly, notices }: { readOnly: boolean; notices: string[] },
): Database {
  let db: Database | undefined;
  try {
    if (readOnly) return openForReading(location, driver);
    if (location !== IN_MEMORY) mkdirSync(path.dirname(location), { recursive: true });
    db = driver.open(location);
    prepare(db, location, notices);
    return db;
  } catch (error) {
    db?.close();
    throw openError(location, error);
  }
}

function prepare(db: Database, location: string, notices: string[]): void {
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = NORMAL");
  db.pragma("foreign_keys = ON");
  const copy = copyEarlier(db, location);
  if (copy !== undefined) notices.push(copy);
  migrateSqlite(db);
  assertWritable(db);
  db.pragma(`busy_timeout = ${TRY_MS}`);
}

/**
 * Back up a file of an earlier release before its tables are migrated: that release rejects migrated tables.
 * @returns a notice for the operator; undefined if no migration is needed
 */
function copyEarlier(db: Database, location: string): string | undefined {
  const version = versionOf(db);
  if (location === IN_MEMORY || version === 0 || version >= SQLITE_SCHEMA_VERSION) return undefined;
  assertMigratable(db, version);
  const copy = `${location}.v${version}.bak`;
  if (!existsSync(copy)) copyWhole(db, copy);
  return `migrated the tables from version ${version} to ${SQLITE_SCHEMA_VERSION}; backup of the previous file: ${copy}`;
}

/** Atomic, because two processes may do it at the same time and either may crash. */
function copyWhole(db: Database, copy: string): void {
  const unfinished = `${copy}.${process.pid}`;
  rmSync(unfinished, { force: true });
  try {
    db.prepare("VACUUM INTO ?").run(unfinished);
    linkSync(unfinished, copy);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Not every file system supports hard links.
    if (/^(EPERM|ENOTSUP|ENOSYS|EOPNOTSUPP)$/.test(code ?? "")) renameSync(unfinished, copy);
    else if (code !== "EEXIST") throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** SQLite opens read-only files without an error, so try a write. */
function assertWritable(db: Database): void {
  db.pragma(`user_version = ${Number(db.pragma("user_version", { simple: true }))}`);
}

/** Adds the file name for the operator. Later errors reach clients and must not contain it. */
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

interface SqliteDriver {
  open: (location: string, options?: Options) => Database;
}

/** First major version built for Node-API 10. A Node.js without it crashes when it loads the package. */
const FIRST_ON_NODE_API_10 = 13;

/**
 * Load better-sqlite3; if it cannot be loaded, the driver of Node.js.
 * @throws StorageUnavailableError if better-sqlite3 is missing or not built for this Node.js, which has no driver of its
 * own (`storage_unavailable`)
 */
export async function loadSqliteDriver(options: Pick<SqliteOptions, "cwd"> = {}): Promise<SqliteDriver> {
  try {
    return await loadBetterSqlite(options);
  } catch (error) {
    if (!hasNodeDriver()) throw error;
    return { open: (location, given) => openNodeSqlite(location, { timeout: BUSY_TIMEOUT, ...given }) };
  }
}

/** @throws StorageUnavailableError (`storage_unavailable`) */
async function loadBetterSqlite({ cwd = process.cwd() }: Pick<SqliteOptions, "cwd">): Promise<SqliteDriver> {
  const unusable = (why: string, command: "add" | "build", version = "", cause?: unknown) =>
    new StorageUnavailableError(`checkpointer_scheme sqlite needs better-sqlite3, which ${why}`, {
      hint: `run: ${MANAGERS[managerOf(cwd)][command]} better-sqlite3${version}`,
      cause,
    });
  const lacksNodeApi10 = Number(process.versions.napi) < 10;
  try {
    if (crashesOlderDrivers() && driverMajor() < FIRST_ON_NODE_API_10)
      throw unusable("crashes this Node.js before version 13", "add", "@13");
    if (lacksNodeApi10 && driverMajor() >= FIRST_ON_NODE_API_10)
      throw unusable("needs Node.js 22.14 as of version 13", "add", "@12");
    const { default: Driver } = await import("better-sqlite3");
    // The import does not load the native module; opening a database does.
    new Driver(":memory:").close();
    return { open: (location, options) => new Driver(location, { timeout: BUSY_TIMEOUT, ...options }) };
  } catch (cause) {
    if (cause instanceof StorageUnavailableError) throw cause;
    const isMissing = /_?MODULE_NOT_FOUND$/.test(String((cause as { code?: unknown }).code));
    if (isMissing) throw unusable("is not installed", "add", lacksNodeApi10 ? "@12" : "", cause);
    throw unusable("was not built for this Node.js", "build", "", cause);
  }
}

/** Node.js 24.19 and later crash when they collect statements of better-sqlite3 12 (nodejs/node#65446). */
function crashesOlderDrivers(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 24 || (major === 24 && minor >= 19);
}

function driverMajor(): number {
  const { version } = createRequire(import.meta.url)("better-sqlite3/package.json") as { version: string };
  return Number.parseInt(version, 10);
}

/** Checks the settings that let several processes share a file: a write-ahead log and a busy timeout. */
function sqliteFindings(db: Database): StorageFinding[] {
  const mode = String(db.pragma("journal_mode", { simple: true }));
  const timeout = Number(db.pragma("busy_timeout", { simple: true }));
  const isSafe = mode === "wal" || mode === "memory";
  return [
    {
      name: "journal_mode",
      ok: isSafe,
      detail: `journal mode ${mode}`,
      ...(!isSafe && {
        fix: "start a server on the file once: it enables WAL, so that readers and the writer do not block each other",
      }),
    },
    {
      name: "busy_timeout",
      ok: timeout > 0,
      detail: `waits ${BUSY_TIMEOUT / 1000} s for locks of other processes`,
      ...(timeout <= 0 && {
        fix: "set a busy timeout: without one, calls on a locked file fail immediately",
      }),
    },
  ];
}

/**
 * Open a database read-only.
 * @throws StorageUnavailableError if it does not exist or belongs to another release (`storage_unavailable`)
 */
function openForReading(location: string, driver: SqliteDriver): Database {
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
 * Open a database that another process may be writing to, without leaving files behind. If its WAL is not empty, because a
 * server runs or crashed, a read-only handle changes nothing. Otherwise SQLite creates a WAL while reading, and only a
 * writable handle deletes it afterwards; `query_only` keeps that handle from changing anything else.
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

/** A WAL created by another reader is empty and does not count. */
function hasWal(location: string): boolean {
  return (statSync(`${location}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function assertOurs(db: Database, location: string): void {
  const hasTable = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  if (!hasTable.get("gs_schema")) {
    throw new StorageUnavailableError(`the database holds no threads of graph-serve: ${location}`, {
      hint: hasTable.get("checkpoints")
        ? `LangGraph's SqliteSaver wrote it: graph-serve migrate copy --from sqlite-saver://${location} --to ./threads.db`
        : "set checkpointer_uri to the database of a graph-serve server",
    });
  }
  const version = db.prepare("SELECT max(version) FROM gs_schema").pluck().get() as number | null;
  if (version === SQLITE_SCHEMA_VERSION) return;
  const isOlder = (version ?? 0) < SQLITE_SCHEMA_VERSION;
  throw new StorageUnavailableError(
    `the database was written by ${isOlder ? "an earlier" : "a later"} graph-serve: ${location}`,
    {
      hint: isOlder
        ? "run graph-serve migrate up on it, or start a server: both migrate the tables"
        : "upgrade graph-serve",
    },
  );
}

function noDatabase(location: string): StorageUnavailableError {
  return new StorageUnavailableError(`there is no database at ${location}`, {
    hint: "starting a server or a run creates it; name another file with --db, or connect to a server with --url",
  });
}

export async function sqliteSchema(options: SqliteOptions): Promise<SchemaState> {
  const location = sqlitePath(options);
  const driver = await loadSqliteDriver(options);
  const state = (version: number): SchemaState => ({
    location,
    parts: [{ name: "tables", version, wanted: SQLITE_SCHEMA_VERSION }],
  });
  if (location === IN_MEMORY || !existsSync(location)) return state(0);
  let db: Database | undefined;
  try {
    db = openUnchanged(location, driver);
    return state(versionOf(db));
  } catch (error) {
    throw openError(location, error);
  } finally {
    db?.close();
  }
}

function versionOf(db: Database): number {
  const hasVersion = db
    .prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'gs_schema'")
    .get();
  if (!hasVersion) return 0;
  return (db.prepare("SELECT max(version) FROM gs_schema").pluck().get() as number | null) ?? 0;
}
