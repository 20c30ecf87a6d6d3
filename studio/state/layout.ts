/** Settings of the page that the browser remembers: sizes of panes, the folded sidebar, shortcuts. */
import { type Signal, signal } from "@preact/signals";

const STORED = "graph-serve.layout";

function stored(): Record<string, number> {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? "{}") as Record<string, number>;
  } catch {
    return {};
  }
}

const keep = (name: string, value: number | undefined): void =>
  localStorage.setItem(STORED, JSON.stringify({ ...stored(), [name]: value }));

/** A pane that can be resized, in pixels. */
export interface Pane {
  name: string;
  width: Signal<number>;
  /** Width at the start and after a reset. */
  own: number;
  min: number;
  max: number;
}

function pane(name: string, own: number, min: number, max: number): Pane {
  const width = stored()[name];
  return { name, own, min, max, width: signal(typeof width === "number" ? bounded(width, min, max) : own) };
}

const bounded = (width: number, min: number, max: number): number =>
  Math.round(Math.min(Math.max(width, min), max));

export const sidebar = pane("sidebar", 248, 200, 320);
export const conversation = pane("conversation", 480, 360, 760);
export const stepList = pane("steps", 360, 260, 560);

export function resize({ name, width, min, max }: Pane, to: number): void {
  width.value = bounded(to, min, max);
  keep(name, width.value);
}

export function reset({ name, width, own }: Pane): void {
  width.value = own;
  keep(name, undefined);
}

/** Indexes of the columns of a table that the reader has hidden; stored as a bit mask. */
export function hiddenColumns(table: string): ReadonlySet<number> {
  const mask = stored()[`columns ${table}`] ?? 0;
  return new Set([...Array(16).keys()].filter((index) => (mask & (1 << index)) !== 0));
}

export function hideColumn(table: string, index: number, isHidden: boolean): ReadonlySet<number> {
  const mask = stored()[`columns ${table}`] ?? 0;
  keep(`columns ${table}`, isHidden ? mask | (1 << index) : mask & ~(1 << index));
  return hiddenColumns(table);
}

/** Whether the window is at most so wide, in pixels. */
function isWithin(width: number): Signal<boolean> {
  const query = matchMedia(`(max-width: ${width}px)`);
  const matches = signal(query.matches);
  query.addEventListener("change", () => (matches.value = query.matches));
  return matches;
}

/** Phones: secondary actions are in a menu. */
export const isNarrow = isWithin(720);
/** Panes are shown below or instead of each other, as in the styles. */
export const isStacked = isWithin(899);

/** Below this width, the sidebar starts folded. */
const FOLDED_BELOW = 1360;
export const isFolded = signal(
  stored().folded === undefined ? innerWidth < FOLDED_BELOW : stored().folded === 1,
);

export function fold(to: boolean): void {
  isFolded.value = to;
  keep("folded", to ? 1 : 0);
}

/** Whether shortcuts without a modifier key are active. Speech input can trigger them (WCAG 2.1.4). */
export const hasSingleKeys = signal(stored().single_keys !== 0);

export function allowSingleKeys(to: boolean): void {
  hasSingleKeys.value = to;
  keep("single_keys", to ? 1 : 0);
}
