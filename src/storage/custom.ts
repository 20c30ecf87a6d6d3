/** Backends of one's own: `checkpointer_scheme` names a module, and this loads it and checks what it gives. */
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Jiti } from "jiti";
import { ConfigError, errorMessage, GraphServeError, StorageUnavailableError } from "../support/errors.js";
import type { ModuleTarget } from "../support/module-target.js";
import type {
  Checkpointer,
  ItemTable,
  OwnerTable,
  RunTable,
  Storage,
  StorageOptions,
  ThreadLocks,
  ThreadTable,
  TimerTable,
} from "./contract/storage.js";

/** What a custom backend is opened with. */
export interface CustomStorageOptions extends StorageOptions {
  /** Folder that a relative path of the configuration starts from. */
  cwd: string;
}

/**
 * What a module exports as `openStorage`, or under the name that follows the colon of `checkpointer_scheme`:
 * `./my-storage.ts`, `./my-storage.ts:open`, `my-package:openStorage`. It is called once, at the start, and gives a
 * storage that works: tables made, server reached. `checkpointer_uri` and `checkpointer_options` are handed over as
 * they are configured. Take `createThreadLocks` for the locks of one process, and `wrapCheckpointer` for the
 * checkpointer. Throw a ConfigError for options that are wrong, a StorageUnavailableError for a server that is away.
 */
export type OpenCustomStorage = (options: CustomStorageOptions) => Storage | Promise<Storage>;

const EXPORT_NAME = "openStorage";

/**
 * The storage that the module opens.
 * @throws ConfigError when the module, its export or what that gives is not as it should be (`config_invalid`)
 * @throws StorageUnavailableError when the module's function fails (`storage_unavailable`)
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
      ? "what 0.1.0 had as metadata is now threads, runs and owners: insertThread is threads.insert, and so on"
      : "see the type Storage of graph-serve; wrapCheckpointer and createThreadLocks make two of its parts",
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
      hint: "checkpointer_uri and checkpointer_options are what it was given",
      cause,
    });
  }
}

type Exports = Record<string, unknown>;

/** Files from `cwd`, TypeScript included; packages as they would be found from there. */
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
  new ConfigError(`checkpointer_scheme ${specifier} is not there${file ? `: ${file}` : ""}`, {
    hint: file ? "paths start from the folder of the configuration" : `run: npm install ${specifier}`,
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

/** The text of an error, without the connection string and its password. */
function withoutUri(error: unknown, { checkpointer_uri: uri }: StorageOptions): string {
  const [, password] = /:\/\/[^/@]*:([^/@]+)@/.exec(uri ?? "") ?? [];
  const masked = uri ? errorMessage(error).replaceAll(uri, "checkpointer_uri") : errorMessage(error);
  return password ? masked.replaceAll(password, "***") : masked;
}

// What a storage has to have, by name; the compiler sees to it that no method of the contract is left out.

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
} satisfies Record<keyof ItemTable, 1>;

const TIMERS = {
  insert: 1,
  get: 1,
  replace: 1,
  delete: 1,
  due: 1,
  next: 1,
  list: 1,
} satisfies Record<keyof TimerTable, 1>;

/** Names of what a storage lacks or has of another kind; empty for a whole one. */
function missingOf(storage: unknown): string[] {
  if (typeof storage !== "object" || storage === null) return ["everything: it is not an object"];
  const { scheme, durable, threads, runs, owners, checkpointer, locks, items, timers, close } =
    storage as Partial<Storage>;
  return [
    ...(typeof scheme === "string" ? [] : ["scheme (a text)"]),
    ...(typeof durable === "boolean" ? [] : ["durable (true or false)"]),
    ...missingMethods("threads", threads, THREADS),
    ...missingMethods("runs", runs, RUNS),
    ...missingMethods("owners", owners, OWNERS),
    ...missingMethods("checkpointer", checkpointer, CHECKPOINTER),
    ...missingMethods("locks", locks, LOCKS),
    ...(items === undefined ? [] : missingMethods("items", items, ITEMS)),
    ...(timers === undefined ? [] : missingMethods("timers", timers, TIMERS)),
    ...(typeof close === "function" ? [] : ["close()"]),
  ];
}

/** Whether its rows are in one part, `metadata`, as a storage for 0.1.0 had them. */
const isOfFirstRelease = (storage: unknown): boolean =>
  typeof storage === "object" && storage !== null && "metadata" in storage;

function missingMethods(part: string, value: unknown, methods: object): string[] {
  if (typeof value !== "object" || value === null) return [part];
  const found = value as Record<string, unknown>;
  return Object.keys(methods)
    .filter((name) => typeof found[name] !== "function")
    .map((name) => `${part}.${name}()`);
}
