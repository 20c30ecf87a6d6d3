import { StorageUnavailableError } from "../../src/support/errors.js";
import type { Storage } from "../../src/storage/contract/storage.js";

/** A refused call was not executed. An unanswered call was executed, but its result was lost. */
export type Failure = "refused" | "unanswered";

type Method = (...args: unknown[]) => unknown;

/** Calls that can fail. Heartbeats are excluded because their timing is not deterministic. */
const COUNTED: ReadonlySet<string> = new Set([
  "threads.insert",
  "threads.get",
  "threads.update",
  "threads.search",
  "threads.count",
  "threads.delete",
  "runs.insert",
  "runs.get",
  "runs.update",
  "runs.settle",
  "runs.delete",
  "runs.list",
  "checkpointer.getTuple",
  "checkpointer.list",
  "checkpointer.put",
  "checkpointer.putWrites",
  "checkpointer.deleteThread",
  "checkpointer.deleteRun",
  "checkpointer.copyLatest",
  "checkpointer.keepLatest",
  "locks.acquire",
]);

/** A storage in which one chosen call fails. Closing it leaves the inner storage open. */
export class FailingStorage {
  readonly storage: Storage;
  #calls = 0;
  #failAt = Infinity;
  #failed: string | undefined;
  readonly #failure: Failure;

  constructor(inner: Storage, failure: Failure) {
    this.#failure = failure;
    this.storage = {
      ...inner,
      threads: this.#watch("threads", inner.threads),
      runs: this.#watch("runs", inner.runs),
      checkpointer: this.#watch("checkpointer", inner.checkpointer),
      locks: this.#watch("locks", inner.locks),
      close: async () => undefined,
    };
  }

  /** Lets the n-th call from now on fail. */
  arm(nth: number): void {
    this.#calls = 0;
    this.#failAt = nth;
    this.#failed = undefined;
  }

  /** Stops failing. Returns the name of the failed call; undefined if there were fewer calls. */
  disarm(): string | undefined {
    this.#failAt = Infinity;
    return this.#failed;
  }

  #watch<T extends object>(part: string, target: T): T {
    return new Proxy(target, {
      get: (object, property) => {
        const value: unknown = Reflect.get(object, property, object);
        if (typeof value !== "function") return value;
        const method = (value as Method).bind(object);
        const name = `${part}.${String(property)}`;
        return COUNTED.has(name) ? this.#counted(name, method) : method;
      },
    });
  }

  #counted(name: string, method: Method): Method {
    return (...args) => {
      this.#calls += 1;
      if (this.#calls !== this.#failAt) return method(...args);
      this.#failed = name;
      // Only the backend could release an acquired lease without a caller, so a failing acquire is never
      // executed.
      const isDone = this.#failure === "unanswered" && name !== "locks.acquire";
      if (name === "checkpointer.list") return failedList();
      return isDone ? Promise.resolve(method(...args)).then(fail) : Promise.reject(away());
    };
  }
}

const away = () => new StorageUnavailableError("the storage is away");

const fail = (): never => {
  throw away();
};

async function* failedList(): AsyncGenerator<never> {
  yield await Promise.reject<never>(away());
}
