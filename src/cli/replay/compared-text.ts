/** Two runs side by side, as lines for a terminal. */
import { changeLines } from "../diff/lines.js";
import type { Printer } from "../print.js";
import { clipped } from "../view/text.js";
import type { ComparedStep } from "./compare.js";

export function comparedHeading(print: Printer): string {
  return print.colors.dim(`  ${"OLD".padEnd(halfOf(print))}  NEW`);
}

/**
 * What ran on either side, marked when it differs, and what differs. What `before`, the step before, has shown already
 * is not said again.
 */
export function comparedLines(
  print: Printer,
  { old, new: now, equal, changes }: ComparedStep,
  before: ComparedStep | undefined,
): string[] {
  const told = new Set(before?.changes.map((change) => JSON.stringify(change)));
  const { green, red, yellow, dim } = print.colors;
  const paint = { "+": green, "-": red, "~": yellow };
  const half = halfOf(print);
  const [left = "", right = ""] = [old, now].map((name) => clipped(name ?? "(ended)", half));
  return [
    `${equal ? dim("=") : red("≠")} ${left.padEnd(half)}  ${right}`,
    ...changeLines(changes.filter((change) => !told.has(JSON.stringify(change)))).map(
      ({ mark, place, text }) => `    ${paint[mark](mark)} ${clipped(`${place}: ${text}`, print.width - 6)}`,
    ),
  ];
}

const halfOf = ({ width }: Printer): number => Math.max(8, Math.min(40, Math.floor((width - 4) / 2)));
