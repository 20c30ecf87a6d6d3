/** What a patch makes of a row: the rules that every backend shares. */
import type { RunPatch, RunRow, ThreadPatch, ThreadRow } from "./storage.js";
import type { RunStatus } from "../models/run.js";

export const UNFINISHED: readonly RunStatus[] = ["pending", "running"];

export const isFinished = (run: RunRow): boolean => !UNFINISHED.includes(run.status);

/** The row with the patch applied; neither argument is changed. */
export function patchThread(row: ThreadRow, patch: ThreadPatch): ThreadRow {
  const { mergeMetadata, ...fields } = patch;
  const patched = { ...row, ...defined(fields) };
  if (mergeMetadata) patched.metadata = { ...row.metadata, ...mergeMetadata };
  return patched;
}

/** The row with the patch applied; neither argument is changed. */
export const patchRun = (row: RunRow, patch: RunPatch): RunRow => ({ ...row, ...defined(patch) });

/** When the thread's time to live ends, in milliseconds since 1970; null when it has no end. */
export function expiryOf({ updated_at, ttl }: ThreadRow): number | null {
  return ttl && Date.parse(updated_at) + ttl.ttl_minutes * 60_000;
}

/** Keys set to undefined count as left out. */
function defined<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
