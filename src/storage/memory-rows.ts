import type { JsonObject } from "../models/common.js";
import type { RunRow, ThreadRow } from "./storage.js";

/** A deep copy of JSON-like data: own keys only, whatever their names, and those set to undefined left out. */
export function copyJson<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((element: unknown) => copyJson(element)) as T;
  const copy: JsonObject = {};
  for (const [key, entry] of Object.entries(value)) {
    if (entry === undefined) continue;
    if (key === "__proto__")
      Object.defineProperty(copy, key, { value: copyJson(entry as unknown), ...PLAIN });
    else copy[key] = copyJson(entry as unknown);
  }
  return copy as T;
}

const PLAIN = { enumerable: true, configurable: true, writable: true };

export const byUpdate = (a: ThreadRow, b: ThreadRow): number =>
  compareTexts(a.updated_at, b.updated_at) || compareTexts(a.thread_id, b.thread_id);

export const byCreation = (a: RunRow, b: RunRow): number =>
  compareTexts(a.created_at, b.created_at) || compareTexts(a.run_id, b.run_id);

export const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
