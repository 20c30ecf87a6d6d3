/** Results as a Markdown table. */

/** One result and the target of its goal. */
export interface Row {
  goal: string;
  what: string;
  floor: string;
  ours: string;
  /** The value compared with the target: the ratio, or our value itself. */
  measured: number;
  target: Target;
}

/** Empty for a result that explains another one. */
export type Target = { atLeast?: number; atMost?: number };

const HEAD = ["goal", "what", "floor", "ours", "ratio", "target", "result"];

/** A result compared with a floor. */
export function ratioRow(
  [goal, what]: [string, string],
  { floor, ours, unit, ratio = ours / floor }: { floor: number; ours: number; unit: string; ratio?: number },
  target: Target,
): Row {
  return {
    goal,
    what,
    floor: `${digits(floor)} ${unit}`,
    ours: `${digits(ours)} ${unit}`,
    measured: ratio,
    target,
  };
}

/** A result with its own target. */
export function valueRow([goal, what]: [string, string], ours: number, unit: string, target: Target): Row {
  return { goal, what, floor: "", ours: `${digits(ours)} ${unit}`, measured: ours, target };
}

export const isMet = ({ measured, target: { atLeast = -Infinity, atMost = Infinity } }: Row): boolean =>
  measured >= atLeast && measured <= atMost;

/** Empty without a target. */
export const resultOf = (row: Row): string =>
  Object.keys(row.target).length === 0 ? "" : isMet(row) ? "met" : "missed";

export function table(rows: readonly Row[]): string {
  const cells = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`,
  );
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  return [lines[0], rule, ...lines.slice(1)].join("\n");
}

function cellsOf(row: Row): string[] {
  const { goal, what, floor, ours, measured, target } = row;
  const ratio = floor === "" ? "" : digits(measured);
  const bound = [
    ...(target.atLeast === undefined ? [] : [`>= ${target.atLeast}`]),
    ...(target.atMost === undefined ? [] : [`<= ${target.atMost}`]),
  ].join(", ");
  return [goal, what, floor, ours, ratio, bound, resultOf(row)];
}

/** Rounds to three significant digits; keeps all digits of the integer part. */
export const digits = (value: number): string =>
  Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
