/** Formats a step for a terminal. */
import { isMessageLike } from "../../models/json.js";
import { changeLines, type Mark } from "../../view/change-lines.js";
import type { Change } from "../../view/changes.js";
import { contentText, escapeControl, wrapped } from "../../view/text.js";
import { failures, sourceText } from "../history/entries.js";
import type { InnerStep } from "../history/subgraphs.js";
import type { Printer } from "../terminal/print.js";
import { clipped, shownId, shownMs, shownTime } from "../terminal/text.js";
import type { HistoryStep } from "./steps.js";

const INDENT = "  ";
const WHO_WIDTH = 7;

/** Whether a step has changes, interrupts or errors. */
export function hasNews({ changes, entry }: HistoryStep): boolean {
  return changes.length > 0 || entry.interrupts > 0 || entry.errors.length > 0;
}

/** The lines of a step; `path` contains the nodes around a step of a subgraph, and `width` is the available width. */
export function stepLines(
  print: Printer,
  step: HistoryStep,
  { path = [], width = print.width }: { path?: readonly string[]; width?: number } = {},
): string[] {
  const { state, entry, changes, isBranch } = step;
  const { dim, yellow, red } = print.colors;
  const room = width - INDENT.length;
  const { messages, others } = sortChanges(changes);
  const branch = isBranch ? [`from ${shownId(print, entry.parent ?? "")}`] : [];
  return [
    heading(print, step, path, width),
    ...branch.map((text) => INDENT + dim(clipped(text, room))),
    ...messages.flatMap(chatLines).flatMap(({ who, text }) => spoken(print, who, text, width)),
    ...changeLines(others).map(({ mark, place, text }) => changed(print, mark, `${place}: ${text}`, width)),
    ...state.interrupts.map(
      ({ value }) => INDENT + yellow(clipped(`waiting for ${JSON.stringify(value) ?? ""}`, room)),
    ),
    ...failures(entry, print.cwd).map((text) => INDENT + red(clipped(text, room))),
    ...(entry.next.length > 0 ? [INDENT + dim(clipped(`next ${entry.next.join(", ")}`, room))] : []),
  ];
}

/** The lines of a step of a subgraph, indented by its depth. */
export function innerLines(print: Printer, { path, step }: InnerStep<HistoryStep>): string[] {
  const indent = INDENT.repeat(path.length);
  return stepLines(print, step, { path, width: print.width - indent.length }).map((line) => indent + line);
}

function heading(print: Printer, { entry }: HistoryStep, path: readonly string[], width: number): string {
  const { bold, dim } = print.colors;
  const nodes = [...path, entry.nodes.join(", ") || sourceText(entry)].join(" › ");
  const title = `step ${entry.step ?? "?"}  ${nodes}`;
  const facts = [shownMs(entry.ms), shownTime(print, entry.created_at), shownId(print, entry.id)];
  const [shownTitle, rest] = [clipped(title, width), facts.filter(Boolean).join("  ")];
  const room = width - shownTitle.length - INDENT.length;
  return room > 8 ? `${bold(shownTitle)}  ${dim(clipped(rest, room))}` : bold(shownTitle);
}

/** Formats a message, with its lines aligned. */
function spoken(print: Printer, who: string, text: string, width: number): string[] {
  const { cyan } = print.colors;
  const name = clipped(who, WHO_WIDTH).padEnd(WHO_WIDTH);
  const lines = wrapped(escapeControl(text), width - INDENT.length - WHO_WIDTH - 1);
  return lines.map((line, index) =>
    `${INDENT}${index === 0 ? cyan(name) : " ".repeat(WHO_WIDTH)} ${line}`.trimEnd(),
  );
}

function changed(print: Printer, mark: Mark, text: string, width: number): string {
  const { green, red, yellow } = print.colors;
  const paint = { "+": green, "-": red, "~": yellow };
  return `${INDENT}${paint[mark](mark)} ${clipped(text, width - INDENT.length - 2)}`;
}

// Messages are shown as a chat, separately from the other changes of a step.

interface ChatLine {
  who: string;
  text: string;
}

/** The text of a message and its tool calls. */
function chatLines(message: { type: string; content: unknown; [field: string]: unknown }): ChatLine[] {
  const calls = Array.isArray(message.tool_calls)
    ? (message.tool_calls as { name?: unknown; args?: unknown }[])
    : [];
  const text = contentText(message.content);
  const who = message.type.replace(/MessageChunk$/, "").toLowerCase();
  const said = text !== "" || calls.length === 0 ? [{ who, text: text || unspoken(message.content) }] : [];
  return [
    ...said,
    ...calls.map(({ name, args }) => ({
      who,
      text: `calls ${String(name)} ${JSON.stringify(args ?? {})}`,
    })),
  ];
}

/** Content other than text, such as an image, as JSON. */
function unspoken(content: unknown): string {
  return Array.isArray(content) && content.length > 0 ? JSON.stringify(content) : "";
}

interface SortedChanges {
  messages: { type: string; content: unknown; [field: string]: unknown }[];
  others: Change[];
}

/** Separates new messages from other changes. */
export function sortChanges(changes: readonly Change[]): SortedChanges {
  const sorted: SortedChanges = { messages: [], others: [] };
  for (const change of changes) {
    const added = change.op === "add" ? change.new : undefined;
    const items = Array.isArray(added) ? (added as unknown[]) : [added];
    if (items.length > 0 && items.every(isMessageLike)) for (const item of items) sorted.messages.push(item);
    else sorted.others.push(change);
  }
  return sorted;
}
