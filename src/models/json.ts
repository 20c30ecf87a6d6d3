/** Plain JSON, known without any schema. */

export type JsonObject = Record<string, unknown>;

/** True for an object that is neither null nor an array. */
export function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The JSON value with the keys of all its objects in one order: databases that index JSON give them back in their own.
 */
export function byKey<T>(value: T): T {
  if (Array.isArray(value)) return value.map(byKey) as T;
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, byKey(value[key])])) as T;
}
