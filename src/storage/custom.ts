/** Custom storage backends: loads the module that `checkpointer_scheme` names and validates the storage it returns. */
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Jiti } from "jiti";
import { ConfigError, GraphServeError, StorageUnavailableError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import type { ModuleTarget } from "../support/module-target.js";
import type { ItemTable } from "./contract/items.js";
import type { ThreadLocks } from "./contract/locks.js";
import type { OwnerTable } from "./contract/owners.js";
import type { RunTable } from "./contract/runs.js";
import type { Storage, StorageOptions } from "./contract/storage.js";
import type { Checkpointer } from "./contract/checkpointer.js";
import type { ThreadTable } from "./contract/threads.js";
import type { TimerTable } from "./contract/timers.js";
import type { UsageTable } from "./contract/usage.js";
import type { RecordingTable } from "./contract/recordings.js";

/**
 * Options passed to the function that opens a custom backend.
 * @example
 * ```ts
 * import { ConfigError, type CustomStorageOptions } from "graph-serve";
 *
 * function regionOf({ checkpointer_options: { region } }: CustomStorageOptions): string {
 *   if (typeof region === "string") return region;
 *   throw new ConfigError("checkpointer_options.region is missing");
 * }
 * const options = { checkpointer_options: { region: "eu" }, max_queued_runs: 10, cwd: "." };
 * regionOf({ ...options, checkpointer_scheme: "./my-storage.ts" }); // => "eu"
 * ```
 */
export interface CustomStorageOptions extends StorageOptions {
  /** Directory that relative paths of the configuration are resolved against. */
  cwd: string;
}

/**
 * The function that a custom storage module exports, as `openStorage` or under the name after the
 * colon in `checkpointer_scheme`: `./my-storage.ts`, `./my-storage.ts:open`, `my-package:openStorage`.
 * It is called once, at startup, and returns a storage that is ready to use: tables created, server
 * connected. `checkpointer_uri` and `checkpointer_options` are passed as configured. Use
 * `createThreadLocks` for in-process locks and `wrapCheckpointer` for the checkpointer. Throw a
 * ConfigError for invalid options and a StorageUnavailableError for an unreachable server.
 * @example
 * ```ts
 * import { createThreadLocks, wrapCheckpointer, type OpenCustomStorage } from "graph-serve";
 * import { owners, runs, saver, threads } from "./tables.js";
 *
 * export const openStorage: OpenCustomStorage = async ({ max_queued_runs }) => ({
 *   scheme: "maps",
 *   durable: false,
 *   threads,
 *   runs,
 *   owners,
 *   checkpointer: wrapCheckpointer(saver, {
 *     keepOnly: async (threadId, keep, newest) => saver.keepOnly(threadId, keep, newest),
 *   }),
 *   locks: createThreadLocks({ maxWaiting: max_queued_runs }),
 *   close: async () => undefined,
 * });
 * ```
 */
export type OpenCustomStorage = (options: CustomStorageOptions) => Storage | Promise<Storage>;

const EXPORT_NAME = "openStorage";

/**
 * Open the storage of a custom module.
 * @throws ConfigError if the module, its export or the returned storage is invalid (`config_invalid`)
 * @throws StorageUnavailableError if the module's function throws (`storage_unavailable`)
 */
export async function openCustom(
  target: ModuleTarget,
  { cwd = process.cwd(), ...options }: StorageOptions & { cwd?: string },
): Promise<Storage> {
  const name = target.exportName ?? EXPORT_NAME;
  const source = `${target.path}:${name}`;
  const exports = await load(target.path, cwd);
  const open = exports[name];
  if (typeof open !== "function") throw noSuchFunction(target.path, name, exports);
  const storage = await call(open as OpenCustomStorage, { ...options, cwd }, source);
  const missing = missingOf(storage);
  if (missing.length === 0) return storage;
  throw new ConfigError(`checkpointer_scheme ${source}: its storage lacks ${missing.join(", ")}`, {
    hint: isOfFirstRelease(storage)
      ? "the `metadata` part of 0.1.0 was split into threads, runs and owners: insertThread is now threads.insert, and so on"
      : "see the type Storage of graph-serve; wrapCheckpointer and createThreadLocks create two of its parts",
  });
}

async function call(
  open: OpenCustomStorage,
  options: CustomStorageOptions,
  source: string,
): Promise<Storage> {
  try {
    return await open(options);
  } catch (cause) {
    if (cause instanceof GraphServeError) throw cause;
    throw new StorageUnavailableError(`checkpointer_scheme ${source} failed: ${withoutUri(cause, options)}`, {
      hint: "check checkpointer_uri and checkpointer_options, which were passed to it",
      cause,
    });
  }
}

type Exports = Record<string, unknown>;

/** Load a module. File paths, including TypeScript, and packages are resolved from `cwd`. */
async function load(specifier: string, cwd: string): Promise<Exports> {
  const { createJiti } = await import("jiti");
  const jiti = createJiti(path.join(cwd, "graph-serve.js"));
  const isFile = /^\.{0,2}[\\/]|^[a-z]:[\\/]|\.[cm]?[jt]sx?$/i.test(specifier);
  const file = isFile ? path.resolve(cwd, specifier) : resolvePackage(jiti, specifier, cwd);
  if (file === undefined || !existsSync(file)) throw notFound(specifier, isFile ? file : undefined);
  try {
    if (/\.([cm]?ts|[jt]sx)$/.test(file)) return await jiti.import<Exports>(file);
    return (await import(pathToFileURL(file).href)) as Exports;
  } catch (cause) {
    throw new ConfigError(`checkpointer_scheme ${specifier} does not load: ${errorMessage(cause)}`, {
      cause,
    });
  }
}

function resolvePackage(jiti: Jiti, specifier: string, cwd: string): string | undefined {
  const url: string | undefined = jiti.esmResolve(specifier, {
    parentURL: pathToFileURL(`${cwd}${path.sep}`).href,
    try: true,
  });
  return url?.startsWith("file:") ? fileURLToPath(url) : undefined;
}

const notFound = (specifier: string, file: string | undefined) =>
  new ConfigError(`checkpointer_scheme ${specifier} not found${file ? `: ${file}` : ""}`, {
    hint: file ? "paths are relative to the configuration file" : `run: npm install ${specifier}`,
  });

function noSuchFunction(specifier: string, name: string, exports: Exports): ConfigError {
  const functions = Object.keys(exports).filter((key) => typeof exports[key] === "function");
  return new ConfigError(`checkpointer_scheme ${specifier} exports no function ${name}`, {
    hint:
      functions.length > 0
        ? `write one of: ${functions.map((key) => `${specifier}:${key}`).join(", ")}`
        : `export it: export async function ${name}(options) { ... }`,
  });
}

/** The error message with the connection string and its password masked. */
function withoutUri(error: unknown, { checkpointer_uri: uri }: StorageOptions): string {
  const [, password] = /:\/\/[^/@]*:([^/@]+)@/.exec(uri ?? "") ?? [];
  const masked = uri ? errorMessage(error).replaceAll(uri, "checkpointer_uri") : errorMessage(error);
  return password ? masked.replaceAll(password, "***") : masked;
}

// Methods that a storage must implement. `satisfies` makes the compiler check that the lists are complete.

const THREADS = {
  insert: 1,
  get: 1,
  update: 1,
  search: 1,
  count: 1,
  delete: 1,
  expired: 1,
} satisfies Record<keyof ThreadTable, 1>;

const RUNS = {
  insert: 1,
  get: 1,
  update: 1,
  settle: 1,
  delete: 1,
  list: 1,
  unfinished: 1,
  requestCancel: 1,
  cancelRequests: 1,
} satisfies Record<Exclude<keyof RunTable, "take" | "tasks" | "search">, 1>;

const OWNERS = { beat: 1, remove: 1 } satisfies Record<keyof OwnerTable, 1>;

const CHECKPOINTER = {
  getTuple: 1,
  list: 1,
  put: 1,
  putWrites: 1,
  deleteThread: 1,
  getNextVersion: 1,
  getDeltaChannelHistory: 1,
  fence: 1,
  unfence: 1,
  store: 1,
  copyLatest: 1,
  namespaces: 1,
  deleteRun: 1,
  keepLatest: 1,
} satisfies Partial<Record<keyof Checkpointer, 1>>;

const LOCKS = { acquire: 1, waiting: 1 } satisfies Record<keyof ThreadLocks, 1>;

const ITEMS = {
  get: 1,
  put: 1,
  delete: 1,
  page: 1,
  restore: 1,
  namespaces: 1,
  touch: 1,
  expire: 1,
} satisfies Record<Exclude<keyof ItemTable, "keepsVectors" | "openVectorSearch">, 1>;

const TIMERS = {
  insert: 1,
  get: 1,
  replace: 1,
  delete: 1,
  due: 1,
  next: 1,
  list: 1,
} satisfies Record<keyof TimerTable, 1>;

const RECORDINGS = { add: 1, list: 1, forget: 1, page: 1 } satisfies Record<keyof RecordingTable, 1>;
const USAGE = { store: 1, sum: 1, forget: 1, page: 1 } satisfies Record<keyof UsageTable, 1>;

/** Names of the parts and methods that are missing or have the wrong type; empty for a complete storage. */
function missingOf(storage: unknown): string[] {
  if (typeof storage !== "object" || storage === null) return ["all parts: it is not an object"];
  const {
    scheme,
    durable,
    threads,
    runs,
    owners,
    checkpointer,
    locks,
    items,
    timers,
    usage,
    recordings,
    close,
  } = storage as Partial<Storage>;
  return [
    ...(typeof scheme === "string" ? [] : ["scheme (a string)"]),
    ...(typeof durable === "boolean" ? [] : ["durable (true or false)"]),
    ...missingMethods("threads", threads, THREADS),
    ...missingMethods("runs", runs, RUNS),
    ...missingMethods("owners", owners, OWNERS),
    ...missingMethods("checkpointer", checkpointer, CHECKPOINTER),
    ...missingMethods("locks", locks, LOCKS),
    ...(items === undefined ? [] : missingMethods("items", items, ITEMS)),
    ...(timers === undefined ? [] : missingMethods("timers", timers, TIMERS)),
    ...(usage === undefined ? [] : missingMethods("usage", usage, USAGE)),
    ...(recordings === undefined ? [] : missingMethods("recordings", recordings, RECORDINGS)),
    ...(typeof close === "function" ? [] : ["close()"]),
  ];
}

/** Whether the storage was written for 0.1.0, which kept all rows in one part named `metadata`. */
const isOfFirstRelease = (storage: unknown): boolean =>
  typeof storage === "object" && storage !== null && "metadata" in storage;

function missingMethods(part: string, value: unknown, methods: object): string[] {
  if (typeof value !== "object" || value === null) return [part];
  const found = value as Record<string, unknown>;
  return Object.keys(methods)
    .filter((name) => typeof found[name] !== "function")
    .map((name) => `${part}.${name}()`);
}
