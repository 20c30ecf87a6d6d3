import Table from "cli-table3";
import { escapeControl } from "./escape.js";
import type { Colors } from "./colors.js";

const GAP = 2;
const NARROWEST = 6;

export interface TableOptions {
  width: number;
  colors: Colors;
  /** Width below which a column is not cut, by its place; a few characters when left out. */
  least?: readonly (number | undefined)[];
}

/** Columns without borders, shortened until they fit into `width`; in a pipe nothing is shortened. */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { width, colors, least = [] }: TableOptions,
): string {
  const cells = rows.map((row) => row.map((cell) => escapeControl(cell).replaceAll("\n", "\\n")));
  const widths = fittingWidths([head, ...cells], width, least);
  const table = new Table({
    chars: NO_BORDERS,
    style: { "padding-left": 0, "padding-right": GAP, head: [], border: [] },
    colWidths: widths.map((columnWidth) => columnWidth + GAP),
  });
  table.push(
    head.map((title) => colors.dim(title)),
    ...cells,
  );
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

// prettier-ignore
const NO_BORDERS = {
  top: "", "top-mid": "", "top-left": "", "top-right": "", bottom: "", "bottom-mid": "", "bottom-left": "",
  "bottom-right": "", left: "", "left-mid": "", mid: "", "mid-mid": "", right: "", "right-mid": "", middle: "",
};

/** The natural width of each column, the widest ones cut down first. */
function fittingWidths(
  rows: readonly (readonly string[])[],
  width: number,
  least: TableOptions["least"] = [],
): number[] {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(1, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const total = () => widths.reduce((sum, columnWidth) => sum + columnWidth + GAP, 0);
  while (total() > width) {
    const spare = widths.map((columnWidth, column) =>
      columnWidth > (least[column] ?? NARROWEST) ? columnWidth : 0,
    );
    const widest = spare.indexOf(Math.max(...spare));
    if (!spare[widest]) break;
    widths[widest] = spare[widest] - 1;
  }
  return widths;
}
