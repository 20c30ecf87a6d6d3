/** Normalizes and compares values: removes ids, times and durations, which differ in every run, and sorts keys. */
import { isDeepStrictEqual } from "node:util";
import { isRecord, type JsonObject } from "../../models/common.js";

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
const TIME = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?\b/g;
const ID_KEY = /^id$|_id$|[a-z]Id$|^checkpoint_(ns|map)$/;
const TIME_KEY = /(^|_)(created|updated)(_at)?$|At$|_at$|duration|elapsed|latency|(^|_)ms$|Ms$|^timestamp$/;

/** Removes keys with names of ids, times and durations, and masks them in strings. */
export function normalized(value: unknown): unknown {
  if (typeof value === "string") return masked(value);
  if (Array.isArray(value)) return value.map(normalized);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([key, inner]) => inner !== undefined && !isOfTheRun(key, inner));
  return Object.fromEntries(kept.map(([key, inner]) => [masked(key), normalized(inner)]));
}

const masked = (text: string): string => text.replace(UUID, "<id>").replace(TIME, "<time>");

/** Only primitive values are removed by key name: an object under such a key contains other data. */
function isOfTheRun(key: string, value: unknown): boolean {
  if (typeof value === "object" && value !== null) return false;
  return ID_KEY.test(key) || TIME_KEY.test(key);
}

/** Sorts keys recursively. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

interface Difference {
  path: (string | number)[];
  expected: unknown;
  actual: unknown;
}

/** The first path at which two values differ. */
export function firstDifference(
  expected: unknown,
  actual: unknown,
  path: (string | number)[],
): Difference | undefined {
  if (isDeepStrictEqual(expected, actual)) return undefined;
  const lists = Array.isArray(expected) && Array.isArray(actual);
  if (lists && expected.length !== actual.length) return { path, expected, actual };
  if (!lists && !(isRecord(expected) && isRecord(actual))) return { path, expected, actual };
  const [before, now] = [expected as JsonObject, actual as JsonObject];
  for (const key of new Set([...Object.keys(before), ...Object.keys(now)])) {
    const found = firstDifference(before[key], now[key], [...path, lists ? Number(key) : key]);
    if (found) return found;
  }
  return undefined;
}
