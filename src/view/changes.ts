/** Differences between two values, as changes to apply in order. */
import { isRecord } from "../models/json.js";
import type { PathStep } from "../models/value-path.js";

export interface Change {
  op: "add" | "remove" | "replace";
  /** Location after the preceding changes have been applied. */
  path: PathStep[];
  /** Omitted for `add`. */
  old?: unknown;
  /** Omitted for `remove`. */
  new?: unknown;
}

/** Empty if the values are equal as JSON. */
export function changesBetween(before: unknown, after: unknown, path: PathStep[] = []): Change[] {
  const work = changesInSteps(before, after, path);
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Like `changesBetween`, but yields regularly so that the caller can do other work. */
export function* changesInSteps(
  before: unknown,
  after: unknown,
  path: PathStep[] = [],
): Generator<void, Change[]> {
  if (before === after) return [];
  if (Array.isArray(before) && Array.isArray(after)) return yield* listChanges(before, after, path);
  if (isRecord(before) && isRecord(after)) return yield* keyChanges(before, after, path);
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [{ op: "replace", path, old: before, new: after }];
}

function* keyChanges(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  path: PathStep[],
): Generator<void, Change[]> {
  const changes: Change[] = Object.keys(before)
    .filter((key) => !isKept(after, key) && before[key] !== undefined)
    .map((key) => ({ op: "remove", path: [...path, key], old: before[key] }));
  for (const key of Object.keys(after)) {
    if (!isKept(after, key)) continue;
    if (!isKept(before, key)) changes.push({ op: "add", path: [...path, key], new: after[key] });
    else if (before[key] !== after[key])
      addTo(changes, yield* changesInSteps(before[key], after[key], [...path, key]));
  }
  return changes;
}

/** Avoids spread arguments: a long list would exceed the argument limit. */
function addTo(changes: Change[], more: readonly Change[]): void {
  for (const change of more) changes.push(change);
}

/** JSON drops undefined values. */
const isKept = (record: Record<string, unknown>, key: string): boolean =>
  Object.hasOwn(record, key) && record[key] !== undefined;

/** List items between two yields. */
const AT_ONCE = 64;

/** Removals from the end, additions from the start, then differences within matching items. */
function* listChanges(
  before: readonly unknown[],
  after: readonly unknown[],
  path: PathStep[],
): Generator<void, Change[]> {
  const { pairs, removed, added } = yield* alignLists(before, after);
  const changes = [
    ...removed
      .reverse()
      .map((index): Change => ({ op: "remove", path: [...path, index], old: before[index] })),
    ...added.map((index): Change => ({ op: "add", path: [...path, index], new: after[index] })),
  ];
  for (const [count, [old, now]] of pairs.entries()) {
    if (count % AT_ONCE === AT_ONCE - 1) yield;
    if (before[old] !== after[now])
      addTo(changes, yield* changesInSteps(before[old], after[now], [...path, now]));
  }
  return changes;
}

// Matches the items of two lists: messages by id, or by content if they got new ids; other items by value.

interface Alignment {
  /** Index before and index after of matching items, which may differ inside. */
  pairs: [number, number][];
  /** Ascending. */
  removed: number[];
  added: number[];
}

/** Maximum size of the longest-common-subsequence table; larger lists are matched by position. */
const MOST_CELLS = 4_000_000;

function* alignLists(before: readonly unknown[], after: readonly unknown[]): Generator<void, Alignment> {
  const [oldKeys, newKeys] = [yield* keysOf(before, keyOf), yield* keysOf(after, keyOf)];
  const anchors = commonItems(oldKeys, newKeys);
  const alignment: Alignment = { pairs: [], removed: [], added: [] };
  let [old, now] = [0, 0];
  for (const [nextOld, nextNow] of [...anchors, [before.length, after.length] as const]) {
    yield* fillByContent(alignment, { before, after }, [old, nextOld], [now, nextNow]);
    if (nextOld < before.length) alignment.pairs.push([nextOld, nextNow]);
    [old, now] = [nextOld + 1, nextNow + 1];
  }
  return alignment;
}

interface Lists {
  before: readonly unknown[];
  after: readonly unknown[];
}

/** Between two matches, items with the same content under other ids are paired. */
function* fillByContent(
  alignment: Alignment,
  lists: Lists,
  [old, oldEnd]: [number, number],
  [now, nowEnd]: [number, number],
): Generator<void, void> {
  let from: [number, number] = [old, now];
  if (old < oldEnd && now < nowEnd) {
    const oldKeys = yield* keysOf(lists.before.slice(old, oldEnd), contentOf);
    const newKeys = yield* keysOf(lists.after.slice(now, nowEnd), contentOf);
    for (const [oldOffset, newOffset] of commonItems(oldKeys, newKeys)) {
      const pair: [number, number] = [old + oldOffset, now + newOffset];
      fillGap(alignment, lists, [from[0], pair[0]], [from[1], pair[1]]);
      alignment.pairs.push(pair);
      from = [pair[0] + 1, pair[1] + 1];
    }
  }
  fillGap(alignment, lists, [from[0], oldEnd], [from[1], nowEnd]);
}

/** Between two matches, items without an id are paired by position; the others were removed or added. */
function fillGap(
  { pairs, removed, added }: Alignment,
  { before, after }: Lists,
  [old, oldEnd]: [number, number],
  [now, nowEnd]: [number, number],
): void {
  while (old < oldEnd && now < nowEnd && !idOf(before[old]) && !idOf(after[now])) pairs.push([old++, now++]);
  while (old < oldEnd) removed.push(old++);
  while (now < nowEnd) added.push(now++);
}

/** Ascending indexes of the longest common subsequence. */
function commonItems(before: readonly string[], after: readonly string[]): [number, number][] {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let [oldEnd, newEnd] = [before.length, after.length];
  while (oldEnd > start && newEnd > start && before[oldEnd - 1] === after[newEnd - 1]) {
    oldEnd -= 1;
    newEnd -= 1;
  }
  const head = Array.from({ length: Math.min(start, after.length) }, (_, index): [number, number] => [
    index,
    index,
  ]);
  const tail = Array.from({ length: before.length - oldEnd }, (_, index): [number, number] => [
    oldEnd + index,
    newEnd + index,
  ]);
  return [...head, ...middle(before, after, start, [oldEnd, newEnd]), ...tail];
}

function middle(
  before: readonly string[],
  after: readonly string[],
  start: number,
  [oldEnd, newEnd]: [number, number],
): [number, number][] {
  const [rows, columns] = [oldEnd - start, newEnd - start];
  if (rows === 0 || columns === 0 || rows * columns > MOST_CELLS) return [];
  const width = columns + 1;
  const lengths = new Uint16Array((rows + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const same = before[start + row] === after[start + column];
      lengths[row * width + column] = same
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const found: [number, number][] = [];
  for (let [row, column] = [0, 0]; row < rows && column < columns;) {
    if (before[start + row] === after[start + column]) found.push([start + row++, start + column++]);
    else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return found;
}

function idOf(item: unknown): string | undefined {
  return isRecord(item) && typeof item.id === "string" ? item.id : undefined;
}

function* keysOf(items: readonly unknown[], key: (item: unknown) => string): Generator<void, string[]> {
  const keys: string[] = [];
  for (const item of items) {
    if (keys.length % AT_ONCE === AT_ONCE - 1) yield;
    keys.push(key(item));
  }
  return keys;
}

/** A rewritten message keeps its id. */
function keyOf(item: unknown): string {
  const id = idOf(item);
  return id === undefined ? `value ${JSON.stringify(item)}` : `id ${id}`;
}

function contentOf(item: unknown): string {
  if (!isRecord(item) || idOf(item) === undefined) return keyOf(item);
  return `content ${JSON.stringify({ ...item, id: undefined })}`;
}

/** Returns a changed copy; the arguments stay unchanged. */
export function withChanges(values: unknown, changes: readonly Change[]): unknown {
  return changes.reduce(changed, structuredClone(values));
}

function changed(values: unknown, { op, path, new: value }: Change): unknown {
  const key = path.at(-1);
  if (key === undefined) return op === "remove" ? undefined : structuredClone(value);
  const holder = path.slice(0, -1).reduce(own, values);
  if (Array.isArray(holder) && op === "add") holder.splice(Number(key), 0, structuredClone(value));
  else if (Array.isArray(holder) && op === "remove") holder.splice(Number(key), 1);
  else if (op === "remove") Reflect.deleteProperty(holder as object, key);
  else define(holder as object, key, structuredClone(value));
  return values;
}

/** Treats keys such as `__proto__` as data. */
const own = (holder: unknown, key: PathStep): unknown =>
  Object.getOwnPropertyDescriptor(Object(holder), key)?.value;

const define = (holder: object, key: PathStep, value: unknown) =>
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });

export interface PatchOperation {
  op: "add" | "remove" | "replace";
  path: string;
  value?: unknown;
}

/** Converts the changes to a JSON Patch (RFC 6902). */
export function jsonPatch(changes: readonly Change[]): PatchOperation[] {
  return changes.map(({ op, path, ...change }) => ({
    op,
    path: pointerOf(path),
    ...(op !== "remove" && { value: change.new ?? null }),
  }));
}

/** Converts a path to a JSON Pointer (RFC 6901). */
export function pointerOf(path: readonly PathStep[]): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
