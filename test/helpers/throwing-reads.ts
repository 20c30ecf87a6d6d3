export interface ThrowingReads {
  value: object;
  hasThrown(): boolean;
  /** The path of the property whose read threw, such as `config.configurable`. */
  path(): string;
}

/** A copy of data whose n-th property read throws a stack overflow error. Later reads succeed. */
export function throwingAt(nth: number, data: object): ThrowingReads {
  let reads = 0;
  let thrownAt = "";
  const count = (path: string) => {
    reads += 1;
    if (reads !== nth) return;
    thrownAt = path;
    throw new RangeError("Maximum call stack size exceeded");
  };
  const watched = <T extends object>(target: T, path: string): T =>
    new Proxy(target, {
      get(object, property, receiver) {
        const value: unknown = Reflect.get(object, property, receiver);
        if (typeof property === "symbol") return value;
        const place = `${path}.${property}`;
        count(place);
        return typeof value === "object" && value !== null ? watched(value, place) : value;
      },
      ownKeys(object) {
        count(`keys of ${path}`);
        return Reflect.ownKeys(object);
      },
    });
  return { value: watched(data, "request"), hasThrown: () => thrownAt !== "", path: () => thrownAt };
}
