/** What differs between two values, as steps that lead from the first to the second when taken in order. */
import { isRecord } from "../../models/common.js";
import type { PathStep } from "../../models/value-path.js";
import { alignLists } from "./align.js";

export interface Change {
  op: "add" | "remove" | "replace";
  /** Where it stands when the changes before it have been made. */
  path: PathStep[];
  /** Left out for `add`. */
  old?: unknown;
  /** Left out for `remove`. */
  new?: unknown;
}

/** The changes; none when the values are equal as JSON. */
export function changesBetween(before: unknown, after: unknown, path: PathStep[] = []): Change[] {
  if (before === after) return [];
  if (Array.isArray(before) && Array.isArray(after)) return listChanges(before, after, path);
  if (isRecord(before) && isRecord(after)) return keyChanges(before, after, path);
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [{ op: "replace", path, old: before, new: after }];
}

function keyChanges(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  path: PathStep[],
): Change[] {
  const removed = Object.keys(before).filter((key) => !isKept(after, key));
  const removals = removed
    .filter((key) => before[key] !== undefined)
    .map((key): Change => ({ op: "remove", path: [...path, key], old: before[key] }));
  const others = Object.keys(after).flatMap((key): Change[] => {
    if (!isKept(after, key)) return [];
    if (isKept(before, key)) return changesBetween(before[key], after[key], [...path, key]);
    return [{ op: "add", path: [...path, key], new: after[key] }];
  });
  return [...removals, ...others];
}

/** A key that JSON keeps. */
const isKept = (record: Record<string, unknown>, key: string): boolean =>
  Object.hasOwn(record, key) && record[key] !== undefined;

/** Removals from the end, additions from the start, then what differs inside of items that are the same. */
function listChanges(before: readonly unknown[], after: readonly unknown[], path: PathStep[]): Change[] {
  const { pairs, removed, added } = alignLists(before, after);
  return [
    ...removed
      .reverse()
      .map((index): Change => ({ op: "remove", path: [...path, index], old: before[index] })),
    ...added.map((index): Change => ({ op: "add", path: [...path, index], new: after[index] })),
    ...pairs.flatMap(([old, now]) => changesBetween(before[old], after[now], [...path, now])),
  ];
}
