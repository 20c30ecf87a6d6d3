export type Method = (...args: unknown[]) => unknown;

/** A proxy of `target` with each method replaced by the result of `wrap`. */
export function wrapMethods<T extends object>(target: T, wrap: (method: Method, name: string) => Method): T {
  const methods = new Map<string | symbol, Method>();
  return new Proxy(target, {
    get(_, name) {
      const known = methods.get(name);
      if (known) return known;
      const value = ownValue(target, name);
      if (typeof value !== "function" || typeof name !== "string" || name === "constructor") return value;
      const method = wrap(value as Method, name);
      methods.set(name, method);
      return method;
    },
  });
}

/** The property, with methods bound to `target`: private fields cannot be accessed through a proxy. */
export function ownValue(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === "function" && name !== "constructor" ? (value as Method).bind(target) : value;
}
