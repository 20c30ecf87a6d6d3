/** Flattens a value into tree rows; collapsed entries have none. */
import { isRecord } from "../../src/models/json.js";
import type { PathStep } from "../../src/models/value-path.js";

export interface TreeRow {
  path: readonly PathStep[];
  /** Identifies the row, also for its open state. */
  key: string;
  depth: number;
  value: unknown;
  /** Number of entries; undefined for scalar values. */
  size: number | undefined;
  isOpen: boolean;
}

/** Deeper values are shown as one row. */
const DEEPEST = 200;
const MOST_FOUND = 1000;

export const pathKey = (path: readonly PathStep[]): string => JSON.stringify(path);

/** Path of a row key; undefined if the key is invalid. */
export function pathOfKey(key: string): PathStep[] | undefined {
  try {
    const steps: unknown = JSON.parse(key);
    const isStep = (step: unknown) => typeof step === "string" || typeof step === "number";
    return Array.isArray(steps) && steps.every(isStep) ? steps : undefined;
  } catch {
    return undefined;
  }
}

/** Entries of an object or a list in order; undefined for other values. */
export function entriesOf(value: unknown): [PathStep, unknown][] | undefined {
  if (Array.isArray(value)) return value.map((item: unknown, index): [PathStep, unknown] => [index, item]);
  return isRecord(value) ? Object.entries(value) : undefined;
}

export function treeRows(root: unknown, open: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = [];
  const walk = (value: unknown, path: readonly PathStep[]): void => {
    for (const [step, inner] of entriesOf(value) ?? []) {
      const here = [...path, step];
      const key = pathKey(here);
      const entries = here.length < DEEPEST ? entriesOf(inner) : undefined;
      const isOpen = entries !== undefined && entries.length > 0 && open.has(key);
      rows.push({ path: here, key, depth: here.length, value: inner, size: entries?.length, isOpen });
      if (isOpen) walk(inner, here);
    }
  };
  walk(root, []);
  return rows;
}

const isHolder = (value: unknown): boolean => typeof value === "object" && value !== null;

/** Paths whose key or text contains `text`, in tree order; at most 1000. */
export function findInTree(root: unknown, text: string): PathStep[][] {
  const wanted = text.toLowerCase();
  const found: PathStep[][] = [];
  const walk = (value: unknown, path: PathStep[]): void => {
    for (const [step, inner] of entriesOf(value) ?? []) {
      if (found.length >= MOST_FOUND) return;
      const here = [...path, step];
      const entries = here.length < DEEPEST ? entriesOf(inner) : undefined;
      const isMatch =
        String(step).toLowerCase().includes(wanted) ||
        (!isHolder(inner) && String(inner).toLowerCase().includes(wanted));
      if (isMatch) found.push(here);
      if (entries) walk(inner, here);
    }
  };
  if (wanted !== "") walk(root, []);
  return found;
}

/** Keys of the rows that must be open to show this path. */
export const ancestorKeys = (path: readonly PathStep[]): string[] =>
  path.slice(0, -1).map((_, index) => pathKey(path.slice(0, index + 1)));

/** Path in API notation, such as `messages[2].content`; other keys are quoted. */
export function pathText(path: readonly PathStep[]): string {
  return path
    .map((step) => {
      if (typeof step === "number") return `[${step}]`;
      return /^[\w-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
    })
    .join("")
    .replace(/^\./, "");
}
