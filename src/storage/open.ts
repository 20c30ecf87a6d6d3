import { ConfigError, type StorageUnavailableError } from "../support/errors.js";
import { type ModuleTarget, storageModule } from "../support/module-target.js";
import { didYouMean } from "../support/nearest.js";
import { isMongodbUri } from "./mongodb/uri.js";
import { isPostgresUri } from "./postgres/options.js";
import { isRedisUri } from "./redis/options.js";
import { isSqliteUri } from "./sqlite/location.js";
import type { SchemaState } from "./contract/schema-state.js";
import type { RowStorage, Storage, StorageOptions } from "./contract/storage.js";

/**
 * Options of `openStorage`.
 * @example
 * ```ts
 * import { openStorage, type OpenOptions } from "graph-serve";
 *
 * const options: OpenOptions = {
 *   checkpointer_scheme: "memory",
 *   checkpointer_options: {},
 *   max_queued_runs: 10,
 * };
 * const storage = await openStorage(options);
 * await storage.close();
 * ```
 */
export interface OpenOptions extends StorageOptions {
  /** Directory that a relative path is resolved against; the working directory if omitted. */
  cwd?: string;
}

interface Backend {
  /** Whether a connection string belongs to this scheme. */
  matches(uri: string): boolean;
  open(options: OpenOptions): Promise<Storage>;
  /** Open only the rows, for reading; if omitted, `open` is used. */
  openRows?(options: OpenOptions): Promise<RowStorage>;
  /** Schema versions of tables and documents, if the backend has any. Changes nothing. */
  schema?(options: OpenOptions): Promise<SchemaState>;
}

const postgres: Backend = {
  matches: isPostgresUri,
  open: async (options) => (await import("./postgres/open.js")).openPostgres(options),
  openRows: async (options) => (await import("./postgres/open.js")).openPostgresRows(options),
  schema: async (options) => (await import("./postgres/open.js")).postgresSchema(options),
};

const mongodb: Backend = {
  matches: isMongodbUri,
  open: async (options) => (await import("./mongodb/open.js")).openMongodb(options),
  schema: async (options) => (await import("./mongodb/open.js")).mongodbSchema(options),
};

const redis: Backend = {
  matches: isRedisUri,
  open: async (options) => {
    const { openMemory } = await import("./memory/open.js");
    return (await import("./redis/open.js")).openRedis(options, openMemory);
  },
};

/** Backends by scheme. Modules and driver packages are loaded on open. */
const BACKENDS: Record<string, Backend> = {
  memory: {
    matches: () => false,
    open: async (options) => (await import("./memory/open.js")).openMemory(options),
  },
  sqlite: {
    matches: isSqliteUri,
    open: async (options) => (await import("./sqlite/open.js")).openSqlite(options),
    openRows: async (options) => (await import("./sqlite/open.js")).openSqliteRows(options),
    schema: async (options) => (await import("./sqlite/open.js")).sqliteSchema(options),
  },
  postgres,
  postgresql: postgres,
  mongodb,
  mongo: mongodb,
  redis,
  rediss: redis,
};

export const STORAGE_SCHEMES: readonly string[] = Object.keys(BACKENDS);

/**
 * Opens the storage of a scheme. The scheme alone selects the backend: a URI that belongs to another
 * scheme is ignored (docs/specification.md#storage, 3). A scheme may also name a custom module; see
 * `OpenCustomStorage`.
 * @param options scheme, URI and options of the backend
 * @returns the open storage; close it with `close()`
 * @throws ConfigError if the scheme is unknown, or a required URI is missing (`config_invalid`)
 * @throws StorageUnavailableError if the storage cannot be reached (`storage_unavailable`)
 * @example
 * ```ts
 * import { openStorage } from "graph-serve";
 *
 * const storage = await openStorage({
 *   checkpointer_scheme: "memory",
 *   checkpointer_options: {},
 *   max_queued_runs: 10,
 * });
 * await storage.threads.count({}); // => 0
 * await storage.close();
 * ```
 */
export async function openStorage(options: OpenOptions): Promise<Storage> {
  const { backend, own } = choose(options);
  return backend.open(own);
}

/** The scheme of files of LangGraph's SqliteSaver, which are only copied. */
export const SQLITE_SAVER = "sqlite-saver";

/**
 * Opens a file of LangGraph's SqliteSaver read-only; `checkpointer_options.graph` is the graph of its threads.
 * @throws as `openStorage`
 */
export async function openSqliteSaver(options: OpenOptions): Promise<Storage> {
  const { openMemory } = await import("./memory/open.js");
  return (await import("./sqlite/official.js")).openOfficialSqlite(options, openMemory);
}

/**
 * Open the rows of threads and runs for reading.
 * @throws as `openStorage`
 */
export async function openRows(options: OpenOptions): Promise<RowStorage> {
  const { backend, own } = choose({ ...options, readOnly: true });
  return backend.openRows ? backend.openRows(own) : backend.open(own);
}

/**
 * The schema versions of a storage; version 0 if it does not exist yet. Changes nothing.
 * @throws as `openStorage`
 */
export async function storageSchemaState(options: OpenOptions): Promise<SchemaState> {
  const { backend, own } = choose(options);
  if (backend.schema) return backend.schema(own);
  const storage = await backend.open({ ...own, readOnly: true });
  await storage.close();
  return { location: storage.location, parts: [] };
}

function choose(options: OpenOptions): { backend: Backend; own: OpenOptions } {
  const { checkpointer_scheme: scheme, checkpointer_uri: uri } = options;
  const backend = backendOf(scheme);
  return {
    backend,
    own: uri && backend.matches(uri) ? options : { ...options, checkpointer_uri: undefined },
  };
}

/** The error that keeps SQLite from being used in this environment; undefined if it works. */
export async function sqliteFault(cwd: string): Promise<StorageUnavailableError | undefined> {
  const { loadSqliteDriver } = await import("./sqlite/open.js");
  return loadSqliteDriver({ cwd }).then(
    () => undefined,
    (error: unknown) => error as StorageUnavailableError,
  );
}

function backendOf(scheme: string): Backend {
  const backend = Object.hasOwn(BACKENDS, scheme) ? BACKENDS[scheme] : undefined;
  if (backend) return backend;
  const module = storageModule(scheme);
  if (module) return customBackend(module);
  const similar = didYouMean(scheme.toLowerCase(), STORAGE_SCHEMES);
  throw new ConfigError(`checkpointer_scheme ${JSON.stringify(scheme)} is not known`, {
    hint: `${similar ? `${similar} ` : ""}The schemes are: ${STORAGE_SCHEMES.join(", ")}`,
  });
}

/** A custom storage accepts any URI. */
const customBackend = (module: ModuleTarget): Backend => ({
  matches: () => true,
  open: async (options) => (await import("./custom.js")).openCustom(module, options),
});
