/** The steps of a thread as rows, newest first, of which stretches may not be read yet. */
import type { SelectedState } from "../../src/models/state.js";

/** A checkpoint as a row of the list. */
export interface Step {
  id: string;
  parent: string | undefined;
  number: number | null;
  source: string;
  runId: string | undefined;
  createdAt: string | null;
  next: readonly string[];
  /** Null when the checkpoint before is gone. */
  changed: readonly string[] | null;
  asks: number;
}

/** What is asked of a state to make a step of it. */
export const STEP_FIELDS = [
  "checkpoint",
  "parent_checkpoint",
  "metadata",
  "created_at",
  "next",
  "interrupts",
  "changed_keys",
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
    asks: state.interrupts?.length ?? 0,
  };
}

export interface StepList {
  /** Those that are read. */
  steps: readonly Step[];
  /** Estimated rows of an unread range, by the step above it. */
  gaps: ReadonlyMap<string, number>;
}

export const NO_STEPS: StepList = { steps: [], gaps: new Map() };

/** A stretch that is not read, and a row of it. */
export interface GapRow {
  above: Step;
  /** Undefined at the end of the list. */
  below: Step | undefined;
  /** Rows of the stretch before this one. */
  offset: number;
}

/** The number that LangGraph gives to the first step of a thread. */
const FIRST = -1;

/**
 * Steps below one whose number is this, and above the other, where no branch is among them; a stretch is one row at
 * least, since only reading it shows that it is empty.
 */
function rowsBetween(above: Step, below: Step | undefined): number {
  const least = below ? below.number : FIRST - 1;
  if (above.number === null || least === null) return 1;
  return Math.max(1, above.number - least - 1);
}

/** Ids of checkpoints are in the order of their making. */
const isNewer = (one: string, other: string): boolean => one > other;

/** The newest steps of a thread, `isWhole` where there are no others. */
export function withNewest(
  { steps, gaps }: StepList,
  fresh: readonly Step[],
  { isWhole }: { isWhole: boolean },
): StepList {
  const last = fresh.at(-1);
  if (isWhole || !last) return { steps: fresh, gaps: new Map() };
  // What is newer than the last of them and not among them was taken back.
  const older = steps.filter(({ id }) => isNewer(last.id, id));
  const kept = new Map([...gaps].filter(([id]) => older.some((step) => step.id === id)));
  const meets = steps.some(({ id }) => id === last.id);
  const gap = meets ? gaps.get(last.id) : rowsBetween(last, older[0]);
  if (gap !== undefined) kept.set(last.id, gap);
  return { steps: [...fresh, ...older], gaps: kept };
}

interface Read {
  /** Rows of the stretch that were passed over; 0 for a page that begins where it does. */
  skipped: number;
  /** No step comes after the page. */
  isEnd: boolean;
}

/** With a page of the stretch below a step. */
export function withPage(
  list: StepList,
  { id: above }: Step,
  page: readonly Step[],
  { skipped, isEnd }: Read,
): StepList {
  const { steps, gaps } = list;
  const at = steps.findIndex(({ id }) => id === above) + 1;
  // It was taken back meanwhile.
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

/** With a page from a step on that an address names, wherever it stands. */
export function withNamed(list: StepList, page: readonly Step[], isEnd: boolean): StepList {
  const [first] = page;
  const above = first && list.steps.findLast(({ id }) => isNewer(id, first.id));
  if (!above || !list.gaps.has(above.id)) return list;
  return withPage(list, above, page, { skipped: rowsBetween(above, first), isEnd });
}

/** The rows that a list is shown in. */
export class StepRows {
  readonly count: number;
  readonly #list: StepList;
  /** The first row of each stretch that is read, and the place of its first step. */
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

  /** List index of the step in this row; undefined in an unread range. */
  placeAt(row: number): number | undefined {
    const index = this.#parts.findLastIndex((part) => part.row <= row);
    const part = this.#parts[index];
    if (!part || row >= this.count) return undefined;
    const place = part.at + row - part.row;
    return place < (this.#parts[index + 1]?.at ?? this.#list.steps.length) ? place : undefined;
  }

  /** The row of the step at this place of the list; -1 for none. */
  rowOf(place: number): number {
    if (place < 0) return -1;
    const part = this.#parts.findLast(({ at }) => at <= place);
    return part ? part.row + place - part.at : -1;
  }

  /** The first row of these that is not read; as far up as a page of so many rows still comes down to what is read. */
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

/** The number of the step in this row, derived from its neighbours. */
export function numberAt({ above, below, offset }: GapRow): number | undefined {
  if (above.number === null) return undefined;
  const number = above.number - 1 - offset;
  const least = below ? below.number : FIRST - 1;
  return least !== null && number > least ? number : undefined;
}

/** A name between this checkpoint and the next newer one: what stands before it begins with the checkpoint. */
export function justAfter(id: string): string {
  const hex = id.replaceAll("-", "");
  if (!/^[\da-f]{32}$/i.test(hex)) return `${id}~`;
  const next = (BigInt(`0x${hex}`) + 1n).toString(16).padStart(32, "0");
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
