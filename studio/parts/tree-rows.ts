/** A value as the rows of a tree: only what is open has rows. */
import { isRecord } from "../../src/models/json.js";
import type { PathStep } from "../../src/models/value-path.js";

export interface TreeRow {
  path: readonly PathStep[];
  /** Identifies the row, also for its open state. */
  key: string;
  depth: number;
  value: unknown;
  /** Entries inside; undefined for what has none. */
  size: number | undefined;
  isOpen: boolean;
}

/** Deeper values are shown as one row. */
const DEEPEST = 200;
const MOST_FOUND = 1000;

export const pathKey = (path: readonly PathStep[]): string => JSON.stringify(path);

/** The path that a key names; undefined where it is none. */
export function pathOfKey(key: string): PathStep[] | undefined {
  try {
    const steps: unknown = JSON.parse(key);
    const isStep = (step: unknown) => typeof step === "string" || typeof step === "number";
    return Array.isArray(steps) && steps.every(isStep) ? steps : undefined;
  } catch {
    return undefined;
  }
}

/** The entries of an object or a list, in their order; undefined for anything else. */
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

/** Paths whose key or text holds `text`, in the order of the tree; a thousand at most. */
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

/** Keys of all that has to be open for this path to be seen. */
export const ancestorKeys = (path: readonly PathStep[]): string[] =>
  path.slice(0, -1).map((_, index) => pathKey(path.slice(0, index + 1)));

/** `messages[2].content`, as the interface takes it; keys that are no plain names in quotes. */
export function pathText(path: readonly PathStep[]): string {
  return path
    .map((step) => {
      if (typeof step === "number") return `[${step}]`;
      return /^[\w-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
    })
    .join("")
    .replace(/^\./, "");
}
