/** Steps of a thread as rows, newest first. Some ranges may not be loaded. */
import type { ChangedMessages, SelectedState } from "../../src/models/state.js";

/** A checkpoint as a row of the list. */
export interface Step {
  id: string;
  parent: string | undefined;
  number: number | null;
  source: string;
  runId: string | undefined;
  createdAt: string | null;
  next: readonly string[];
  /** Changed state keys; null if the previous checkpoint no longer exists. */
  changed: readonly string[] | null;
  /** Numbers of added, removed and replaced messages, by state key. */
  messages: ChangedMessages;
  asks: number;
}

/** State fields needed for a step. */
export const STEP_FIELDS = [
  "checkpoint",
  "parent_checkpoint",
  "metadata",
  "created_at",
  "next",
  "interrupts",
  "changed_keys",
  "changed_messages",
] as const;
const textOr = <T>(value: unknown, fallback: T): string | T => (typeof value === "string" ? value : fallback);

export function stepOf(state: SelectedState): Step {
  const { checkpoint, parent_checkpoint, metadata = {}, created_at = null, next = [] } = state;
  return {
    id: checkpoint?.checkpoint_id ?? "",
    parent: parent_checkpoint?.checkpoint_id ?? undefined,
    number: typeof metadata.step === "number" ? metadata.step : null,
    source: textOr(metadata.source, ""),
    runId: textOr(metadata.run_id, undefined),
    createdAt: created_at,
    next,
    changed: state.changed_keys ?? null,
    messages: state.changed_messages ?? {},
    asks: state.interrupts?.length ?? 0,
  };
}

export interface StepList {
  /** Loaded steps. */
  steps: readonly Step[];
  /** Estimated rows of an unloaded range, by the id of the step above it. */
  gaps: ReadonlyMap<string, number>;
}

export const NO_STEPS: StepList = { steps: [], gaps: new Map() };

/** A row in an unloaded range. */
export interface GapRow {
  above: Step;
  /** Undefined at the end of the list. */
  below: Step | undefined;
  /** Rows of the range above this one. */
  offset: number;
}

/** LangGraph's number of the first step of a thread. */
const FIRST = -1;

/**
 * Number of steps between two steps, assuming that there are no branches. At least 1, because only loading
 * can show that a range is empty.
 */
function rowsBetween(above: Step, below: Step | undefined): number {
  const least = below ? below.number : FIRST - 1;
  if (above.number === null || least === null) return 1;
  return Math.max(1, above.number - least - 1);
}

/** Checkpoint ids sort by creation time. */
const isNewer = (one: string, other: string): boolean => one > other;

/** Merges the newest steps; `isWhole` means that there are no others. */
export function withNewest(
  { steps, gaps }: StepList,
  fresh: readonly Step[],
  { isWhole }: { isWhole: boolean },
): StepList {
  const last = fresh.at(-1);
  if (isWhole || !last) return { steps: fresh, gaps: new Map() };
  // Loaded steps newer than `last` but missing from `fresh` were rolled back.
  const older = steps.filter(({ id }) => isNewer(last.id, id));
  const kept = new Map([...gaps].filter(([id]) => older.some((step) => step.id === id)));
  const meets = steps.some(({ id }) => id === last.id);
  const gap = meets ? gaps.get(last.id) : rowsBetween(last, older[0]);
  if (gap !== undefined) kept.set(last.id, gap);
  return { steps: [...fresh, ...older], gaps: kept };
}

interface Read {
  /** Rows skipped at the start of the range; 0 for a page at its start. */
  skipped: number;
  /** True if no step follows the page. */
  isEnd: boolean;
}

/** Inserts a page into the unloaded range below a step. */
export function withPage(
  list: StepList,
  { id: above }: Step,
  page: readonly Step[],
  { skipped, isEnd }: Read,
): StepList {
  const { steps, gaps } = list;
  const at = steps.findIndex(({ id }) => id === above) + 1;
  // The step was rolled back in the meantime.
  if (at === 0) return list;
  const below = steps[at];
  const fresh = below ? page.filter(({ id }) => isNewer(id, below.id)) : page;
  const rows = gaps.get(above) ?? 0;
  const next = new Map(gaps);
  next.delete(above);
  if (skipped > 0) next.set(above, skipped);
  const meets = fresh.length < page.length;
  const last = fresh.at(-1);
  if (last && !meets && !isEnd) next.set(last.id, Math.max(1, rows - skipped - fresh.length));
  return { steps: [...steps.slice(0, at), ...fresh, ...steps.slice(at)], gaps: next };
}

/** Inserts a page that starts with the step of the address, at any position. */
export function withNamed(list: StepList, page: readonly Step[], isEnd: boolean): StepList {
  const [first] = page;
  const above = first && list.steps.findLast(({ id }) => isNewer(id, first.id));
  if (!above || !list.gaps.has(above.id)) return list;
  return withPage(list, above, page, { skipped: rowsBetween(above, first), isEnd });
}

/** Maps list indexes to rows. */
export class StepRows {
  readonly count: number;
  readonly #list: StepList;
  /** First row of each loaded range, and the list index of its first step. */
  readonly #parts: { row: number; at: number }[] = [{ row: 0, at: 0 }];

  constructor(list: StepList) {
    this.#list = list;
    let row = 0;
    list.steps.forEach(({ id }, at) => {
      row += 1;
      const gap = list.gaps.get(id);
      if (gap === undefined) return;
      row += gap;
      this.#parts.push({ row, at: at + 1 });
    });
    this.count = row;
  }

  /** List index of the step in this row; undefined in an unloaded range. */
  placeAt(row: number): number | undefined {
    const index = this.#parts.findLastIndex((part) => part.row <= row);
    const part = this.#parts[index];
    if (!part || row >= this.count) return undefined;
    const place = part.at + row - part.row;
    return place < (this.#parts[index + 1]?.at ?? this.#list.steps.length) ? place : undefined;
  }

  /** Row of the step at this list index; -1 for a negative index. */
  rowOf(place: number): number {
    if (place < 0) return -1;
    const part = this.#parts.findLast(({ at }) => at <= place);
    return part ? part.row + place - part.at : -1;
  }

  /**
   * First unloaded row in the range. Moved up if needed, so that a page of this size reaches the next loaded
   * row.
   */
  gapIn(from: number, to: number, page: number): GapRow | undefined {
    for (let row = Math.max(0, from); row < Math.min(to, this.count); row += 1) {
      if (this.placeAt(row) !== undefined) continue;
      const next = this.#parts.findIndex((part) => part.row > row);
      const at = this.#parts[next]?.at ?? this.#list.steps.length;
      const above = this.#list.steps[at - 1];
      if (!above) return undefined;
      const last = (this.#list.gaps.get(above.id) ?? 0) - page;
      const offset = Math.max(0, Math.min(row - this.rowOf(at - 1) - 1, last));
      return { above, below: this.#list.steps[at], offset };
    }
    return undefined;
  }
}

/** The number of the step in this row, derived from its neighbors. */
export function numberAt({ above, below, offset }: GapRow): number | undefined {
  if (above.number === null) return undefined;
  const number = above.number - 1 - offset;
  const least = below ? below.number : FIRST - 1;
  return least !== null && number > least ? number : undefined;
}

/** An id that sorts directly after this one, so that a page before it starts with this checkpoint. */
export function justAfter(id: string): string {
  const hex = id.replaceAll("-", "");
  if (!/^[\da-f]{32}$/i.test(hex)) return `${id}~`;
  const next = (BigInt(`0x${hex}`) + 1n).toString(16).padStart(32, "0");
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
