/** A storage whose calls are timed. */
import type { Checkpointer, Storage } from "./storage.js";

/** Called when a call settles. */
type OnCall = (operation: string, seconds: number) => void;

type Method = (...args: unknown[]) => unknown;

/** Those that end with their promise: a list goes on as long as its reader likes. */
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

/** Every method of these is timed. */
const TABLES = ["threads", "runs", "owners", "items"] as const satisfies readonly (keyof Storage)[];

/** The same storage; `onCall` hears of the calls of its parts as `threads.get`, `runs.settle`, `checkpoints.put`, ... */
export function observeStorage(storage: Storage, onCall: OnCall): Storage {
  const parts = new Map<string | symbol, object>();
  for (const name of TABLES) {
    const table = storage[name];
    if (table)
      parts.set(
        name,
        timed(table, name, onCall, () => true),
      );
  }
  const isTimed = (name: string) => CHECKPOINTER_CALLS.has(name);
  parts.set("checkpointer", timed(storage.checkpointer, "checkpoints", onCall, isTimed));
  return new Proxy(storage, {
    get: (target, name) => parts.get(name) ?? ownValue(target, name),
  });
}

function timed<T extends object>(
  store: T,
  prefix: string,
  onCall: OnCall,
  isCall: (name: string) => boolean,
): T {
  const methods = new Map<string | symbol, Method>();
  return new Proxy(store, {
    get(target, name) {
      const known = methods.get(name);
      if (known) return known;
      const value = ownValue(target, name);
      if (typeof value !== "function" || name === "constructor") return value;
      const method =
        typeof name === "string" && isCall(name)
          ? timedMethod(value as Method, `${prefix}.${name}`, onCall)
          : (value as Method);
      methods.set(name, method);
      return method;
    },
  });
}

/** Methods belong to the object itself: private fields are not reached through a proxy. */
function ownValue(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === "function" && name !== "constructor" ? (value as Method).bind(target) : value;
}

function timedMethod(method: Method, operation: string, onCall: OnCall): Method {
  return async (...args) => {
    const start = performance.now();
    try {
      return await method(...args);
    } finally {
      onCall(operation, (performance.now() - start) / 1000);
    }
  };
}
