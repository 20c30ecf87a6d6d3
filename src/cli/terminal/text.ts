/** How ids, times and durations are shown: in full in a pipe, short for a reader at a terminal. */
import type { GraphSummary } from "../../service/service.js";
import { escapeControl } from "../../view/text.js";
import type { Printer } from "./print.js";

/** Enough of a time-ordered UUID to be unique, and to look it up. */
const SHORT_ID = 13;

export function shownId(print: Printer, id: string): string {
  return print.isTerminal ? id.slice(0, SHORT_ID) : id;
}

const MINUTE_MS = 60_000;

/** Local time to the second on a terminal, with the zone named once; UTC in all other output. */
export function shownTime(print: Printer, time: string | null | undefined): string {
  const at = new Date(time ?? "");
  if (!time || !print.isTerminal || print.isJson || Number.isNaN(at.getTime())) return time ?? "";
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  print.noteOnce(print.noteColors.dim(`times are those of ${timeZone}`));
  const local = new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS);
  return local.toISOString().slice(0, 19).replace("T", " ");
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

/** Milliseconds between two times; undefined when one is missing. */
export function msBetween(
  start: string | null | undefined,
  end: string | null | undefined,
): number | undefined {
  if (!start || !end) return undefined;
  return Math.max(0, Date.parse(end) - Date.parse(start));
}

/** One line of at most `width` columns, control characters escaped. */
export function clipped(text: string, width: number): string {
  const line = escapeControl(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return line.length > width ? `${line.slice(0, Math.max(1, width - 1))}…` : line;
}

/** Where a node is, by the names of the nodes around it and its own: what is inside stands further in. */
export function indentedPath(path: readonly string[], paint = (text: string) => text): string {
  return "  ".repeat(path.length) + paint(path.map((name) => escapeControl(name)).join(" › "));
}

/** A graph in one line: file, number of nodes, keys of its input. */
export function describeGraph(graph: GraphSummary): string {
  if (graph.fault !== undefined) return "does not load";
  const nodes = counted(graph.nodes.length, "node");
  const input = graph.inputKeys.length > 0 ? `, input {${graph.inputKeys.join(", ")}}` : "";
  return `${graph.source === undefined ? "" : `${graph.source}   `}${nodes}${input}`;
}
