/** How an entry of a history reads. */
import { errorLine } from "../inspect/task-error.js";
import type { Printer } from "../print.js";
import { clipped, shownId, shownMs, shownTime } from "../view/text.js";
import { ownNodes, type HistoryEntry } from "./entries.js";

/** `1f1e57f6-9d32  step 2  loop` and so on; in one line with `oneline`. */
export function entryLines(
  print: Printer,
  entry: HistoryEntry,
  { oneline }: { oneline: boolean },
  room: number,
): string[] {
  const { yellow, dim } = print.colors;
  const id = shownId(print, entry.id);
  const step = `step ${entry.step ?? "?"}`;
  if (oneline) {
    const text = [step, entry.source, ...facts(entry)].filter(Boolean).join("  ");
    return [`${yellow(id)} ${clipped(text, room - id.length - 1)}`];
  }
  const [head] = grouped([step, entry.source, shownTime(print, entry.created_at)], room - id.length - 2);
  const details = facts(entry).map((fact) => clipped(fact, room - INDENT.length));
  return [
    `${yellow(id)}  ${clipped(head ?? "", room - id.length - 2)}`,
    ...grouped(details, room - INDENT.length).map((line) => INDENT + dim(line)),
  ];
}

const INDENT = "  ";

function facts({ nodes, next, changed, ms, interrupts, errors }: HistoryEntry): string[] {
  return [
    listed("ran", ownNodes(nodes)),
    listed("changed", changed),
    shownMs(ms),
    listed("next", ownNodes(next)),
    interrupts > 0 ? asked(interrupts) : "",
    ...errors.map((error) => `failed: ${errorLine(error)}`),
  ].filter(Boolean);
}

const listed = (what: string, names: readonly string[]): string =>
  names.length > 0 ? `${what} ${names.join(", ")}` : "";

/** Whether they were answered since, the checkpoints after this one tell. */
export const asked = (questions: number): string =>
  questions === 1 ? "asked a question" : `asked ${questions} questions`;

/** As many facts a line as there is room for. */
function grouped(facts: readonly string[], room: number): string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const last = lines.at(-1);
    const longer = `${last ?? ""}  ${fact}`;
    if (last !== undefined && longer.length <= Math.min(room, MOST_WIDE)) lines[lines.length - 1] = longer;
    else lines.push(fact);
  }
  return lines;
}

/** A pipe has no width: still one fact after another, not all in one line. */
const MOST_WIDE = 100;
