/** Copies of the JSON in rows. */

/**
 * A deep copy of JSON-like data: own keys only, including `__proto__`, without keys set to undefined. A spread copies an
 * object in one step, so that only nested objects cost more.
 */
export function copyJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson) as T;
  const copy = { ...value } as Record<string, unknown>;
  for (const key of Object.keys(copy)) {
    const entry = copy[key];
    if (entry === undefined) return withoutUndefined(copy) as T;
    // The key is the copy's own, so that this sets no prototype even if it is `__proto__`.
    if (typeof entry === "object" && entry !== null) copy[key] = copyJson(entry);
  }
  return copy as T;
}

/** A new object: deleting keys would make every later access to the object slower. */
function withoutUndefined(value: Record<string, unknown>): unknown {
  return copyJson(Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)));
}
