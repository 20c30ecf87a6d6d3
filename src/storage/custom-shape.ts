/** What a storage has to have, by name; the compiler sees to it that no method of the contract is left out. */
import type { ItemTable } from "./items.js";
import type { Checkpointer, MetadataStore, Storage, ThreadLocks } from "./storage.js";

const METADATA = {
  insertThread: 1,
  getThread: 1,
  updateThread: 1,
  searchThreads: 1,
  countThreads: 1,
  deleteThread: 1,
  expiredThreads: 1,
  insertRun: 1,
  getRun: 1,
  updateRun: 1,
  settleRuns: 1,
  deleteRun: 1,
  listRuns: 1,
  beat: 1,
  removeOwner: 1,
  unfinishedRuns: 1,
  requestCancel: 1,
  cancelRequests: 1,
} satisfies Record<keyof MetadataStore, 1>;

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

const LOCKS = { acquire: 1, isHeld: 1, waiting: 1 } satisfies Record<keyof ThreadLocks, 1>;

const ITEMS = {
  get: 1,
  put: 1,
  delete: 1,
  under: 1,
  page: 1,
  restore: 1,
  namespaces: 1,
  touch: 1,
  expire: 1,
} satisfies Record<keyof ItemTable, 1>;

/** Names of what a storage lacks or has of another kind; empty for a whole one. */
export function missingOf(storage: unknown): string[] {
  if (typeof storage !== "object" || storage === null) return ["everything: it is no object"];
  const { scheme, durable, metadata, checkpointer, locks, items, close } = storage as Partial<Storage>;
  return [
    ...(typeof scheme === "string" ? [] : ["scheme (a text)"]),
    ...(typeof durable === "boolean" ? [] : ["durable (true or false)"]),
    ...missingMethods("metadata", metadata, METADATA),
    ...missingMethods("checkpointer", checkpointer, CHECKPOINTER),
    ...missingMethods("locks", locks, LOCKS),
    ...(items === undefined ? [] : missingMethods("items", items, ITEMS)),
    ...(typeof close === "function" ? [] : ["close()"]),
  ];
}

function missingMethods(part: string, value: unknown, methods: object): string[] {
  if (typeof value !== "object" || value === null) return [part];
  const found = value as Record<string, unknown>;
  return Object.keys(methods)
    .filter((name) => typeof found[name] !== "function")
    .map((name) => `${part}.${name}()`);
}
