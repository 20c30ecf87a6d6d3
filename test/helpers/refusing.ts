/** A part of a storage that is away now and then. */
import { StorageUnavailableError } from "../../src/support/errors.js";

/** The part, but for calls of which `isRefused` says so: the storage does not carry them out. */
export function refusing<T extends object>(part: T, isRefused: (name: string) => boolean): T {
  return new Proxy(part, {
    get: (table, name) => {
      const method: unknown = Reflect.get(table, name, table);
      if (typeof method !== "function") return method;
      return (...args: unknown[]): unknown =>
        isRefused(String(name))
          ? Promise.reject(new StorageUnavailableError("the database is away"))
          : Reflect.apply(method, table, args);
    },
  });
}
