/** Wraps a part of a storage so that chosen calls fail. */
import { StorageUnavailableError } from "../../src/support/errors.js";

/** Rejects the calls for which `isRefused` returns true, without executing them. */
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

/** The same part with some methods replaced. */
export function replacing<T extends object>(part: T, methods: Partial<T>): T {
  return new Proxy(part, {
    get: (table, name) => {
      const method: unknown = Reflect.get(methods, name) ?? Reflect.get(table, name, table);
      return typeof method === "function" ? (method.bind(table) as unknown) : method;
    },
  });
}
