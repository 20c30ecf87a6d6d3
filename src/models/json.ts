export type JsonObject = Record<string, unknown>;

/** True for an object that is neither null nor an array. */
export function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sorts the keys of all objects, because databases that index JSON return them in their own order. */
export function byKey<T>(value: T): T {
  if (Array.isArray(value)) return value.map(byKey) as T;
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, byKey(value[key])])) as T;
}
