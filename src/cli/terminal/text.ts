/** Formats ids, times and durations: in full in a pipe, shortened on a terminal. */
import type { GraphSummary } from "../../service/info.js";
import { escapeControl } from "../../view/text.js";
import type { Printer } from "./print.js";

/** Characters of a time-ordered UUID that are usually unique and can be used as an abbreviated id. */
const SHORT_ID = 13;

export function shownId(print: Printer, id: string): string {
  return print.isTerminal ? id.slice(0, SHORT_ID) : id;
}

const MINUTE_MS = 60_000;

/** On a terminal, local time in seconds, with one note about the time zone; otherwise UTC. */
export function shownTime(print: Printer, time: string | null | undefined): string {
  const at = new Date(time ?? "");
  if (!time || !print.isTerminal || print.isJson || Number.isNaN(at.getTime())) return time ?? "";
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  print.noteOnce(print.noteColors.dim(`times are in ${timeZone}`));
  const local = new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS);
  return local.toISOString().slice(0, 19).replace("T", " ");
}

const AGO: readonly [unit: string, ms: number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", MINUTE_MS],
];
/** Age from which a date is easier to read than a number of days. */
const MOST_DAYS = 14;

/** On a terminal, the time before now, such as `5 min ago`; otherwise UTC. */
export function shownAgo(print: Printer, time: string | null | undefined): string {
  const age = Date.now() - Date.parse(time ?? "");
  if (!print.isTerminal || print.isJson || !(age < MOST_DAYS * 86_400_000)) return shownTime(print, time);
  const [unit, ms] = AGO.find(([, length]) => age >= length) ?? [];
  return ms === undefined ? "just now" : `${Math.floor(age / ms)} ${unit} ago`;
}

/** `1 error`, `2 errors`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

export function shownMs(ms: number | null | undefined): string {
  if (ms == null) return "";
  if (ms < 10_000) return `${ms} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** Milliseconds between two times; undefined if one is missing. */
export function msBetween(
  start: string | null | undefined,
  end: string | null | undefined,
): number | undefined {
  if (!start || !end) return undefined;
  return Math.max(0, Date.parse(end) - Date.parse(start));
}

/** One line of at most `width` columns, with control characters escaped. */
export function clipped(text: string, width: number): string {
  const line = escapeControl(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return line.length > width ? `${line.slice(0, Math.max(1, width - 1))}…` : line;
}

/** The path of a nested node, indented by its depth. */
export function indentedPath(path: readonly string[], paint = (text: string) => text): string {
  return "  ".repeat(path.length) + paint(path.map((name) => escapeControl(name)).join(" › "));
}

/** One-line summary of a graph: file, number of nodes, input keys. */
export function describeGraph(graph: GraphSummary): string {
  if (graph.fault !== undefined) return "does not load";
  const nodes = counted(graph.nodes.length, "node");
  const input = graph.inputKeys.length > 0 ? `, input {${graph.inputKeys.join(", ")}}` : "";
  return `${graph.source === undefined ? "" : `${graph.source}   `}${nodes}${input}`;
}
