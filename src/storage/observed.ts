import { type Method, ownValue, wrapMethods } from "./driver/methods.js";
import type { Storage } from "./contract/storage.js";
import type { Checkpointer } from "./contract/checkpointer.js";

/** Called when a storage call settles, with its duration in seconds. */
type OnCall = (operation: string, seconds: number) => void;

/** Parts with all methods timed. */
const TABLES = [
  "threads",
  "runs",
  "deadRuns",
  "owners",
  "items",
  "timers",
  "usage",
  "recordings",
] as const satisfies readonly (keyof Storage)[];

/** `list` is not timed: its duration depends on how fast the caller reads. */
const CHECKPOINTER_CALLS: ReadonlySet<string> = new Set<keyof Checkpointer>([
  "getTuple",
  "put",
  "putWrites",
  "deleteThread",
  "getDeltaChannelHistory",
  "copyLatest",
  "namespaces",
  "deleteRun",
  "keepLatest",
  "store",
]);

/** Wrap a storage so that `onCall` is called for each operation: `threads.get`, `runs.settle`, `checkpoints.put`, ... */
export function observeStorage(storage: Storage, onCall: OnCall): Storage {
  const parts = new Map<string | symbol, object>();
  for (const part of TABLES) {
    const table = storage[part];
    if (table)
      parts.set(
        part,
        wrapMethods(table, (method, name) => timed(method, `${part}.${name}`, onCall)),
      );
  }
  const checkpointer = wrapMethods(storage.checkpointer, (method, name) =>
    CHECKPOINTER_CALLS.has(name) ? timed(method, `checkpoints.${name}`, onCall) : method,
  );
  parts.set("checkpointer", checkpointer);
  return new Proxy(storage, {
    get: (target, name) => parts.get(name) ?? ownValue(target, name),
  });
}

function timed(method: Method, operation: string, onCall: OnCall): Method {
  return async (...args) => {
    const start = performance.now();
    try {
      return await method(...args);
    } finally {
      onCall(operation, (performance.now() - start) / 1000);
    }
  };
}
