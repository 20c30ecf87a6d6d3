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

/** Rows laid out at once: the time that the layout takes grows with their square. */
const ROWS_AT_ONCE = 100;

/** Columns without borders, shortened until they fit into `width`; in a pipe nothing is shortened. */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): string {
  return new TableLayout(head, options).format(rows);
}

/** A table whose rows come page by page: the first page sets the widths, which in a pipe grow with what comes later. */
export class TableLayout {
  readonly #head: readonly string[];
  readonly #options: TableOptions;
  #widths: number[] | undefined;

  constructor(head: readonly string[], options: TableOptions) {
    this.#head = head;
    this.#options = options;
  }

  /** The next lines of the table, its heading before the first of them. */
  format(rows: readonly (readonly string[])[]): string {
    const { colors } = this.#options;
    const cells = rows.map((row) => row.map((cell) => escapeControl(cell).replaceAll("\n", "\\n")));
    const head = this.#widths ? [] : [this.#head.map((title) => colors.dim(title))];
    const widths = (this.#widths = this.#widthsFor(cells));
    const lines: string[] = [];
    for (let start = 0; start === 0 || start < cells.length; start += ROWS_AT_ONCE)
      lines.push(
        laidOut([...(start === 0 ? head : []), ...cells.slice(start, start + ROWS_AT_ONCE)], widths),
      );
    return lines.join("\n");
  }

  #widthsFor(cells: readonly (readonly string[])[]): number[] {
    const { width, least } = this.#options;
    if (!this.#widths) return fittingWidths([this.#head, ...cells], width, least);
    if (width !== Infinity) return this.#widths;
    return this.#widths.map((known, column) => widest(known, cells, column));
  }
}

function laidOut(rows: readonly (readonly string[])[], widths: readonly number[]): string {
  const table = new Table({
    chars: NO_BORDERS,
    style: { "padding-left": 0, "padding-right": GAP, head: [], border: [] },
    colWidths: widths.map((columnWidth) => columnWidth + GAP),
  });
  table.push(...rows.map((row) => [...row]));
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
  const widths = Array.from({ length: columns }, (_, column) => widest(1, rows, column));
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

const widest = (least: number, rows: readonly (readonly string[])[], column: number): number =>
  rows.reduce((most, row) => Math.max(most, (row[column] ?? "").length), least);
