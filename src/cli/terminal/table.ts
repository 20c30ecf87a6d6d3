import type picocolors from "picocolors";
import { cells as cellsOf, escapeControl, textWidth } from "../../view/text.js";

const GAP = 2;
const NARROWEST = 6;

interface TableOptions {
  width: number;
  colors: Colors;
  /** Width below which a column is not cut, by its place; a few characters when left out. */
  least?: readonly (number | undefined)[];
}

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
    const isFirst = this.#widths === undefined;
    const widths = (this.#widths = this.#widthsFor(cells));
    const heading = isFirst ? [rowLine(this.#head, widths, colors.dim)] : [];
    return [...heading, ...cells.map((row) => rowLine(row, widths))].join("\n");
  }

  #widthsFor(cells: readonly (readonly string[])[]): number[] {
    const { width, least } = this.#options;
    if (!this.#widths) return fittingWidths([this.#head, ...cells], width, least);
    if (width !== Infinity) return this.#widths;
    return this.#widths.map((known, column) => widest(known, cells, column));
  }
}

function rowLine(
  row: readonly string[],
  widths: readonly number[],
  paint: (text: string) => string = (text) => text,
): string {
  const padded = row.map((cell, column) => {
    const width = widths[column] ?? 0;
    const text = fitted(cell, width);
    const isLast = row.slice(column + 1).every((later) => later === "");
    return (text === "" ? "" : paint(text)) + (isLast ? "" : " ".repeat(width - textWidth(text) + GAP));
  });
  return padded.join("");
}

/** The text in at most `width` columns; an ellipsis stands for what is cut off. */
function fitted(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let room = width - 1;
  let kept = "";
  for (const { char, width: taken } of cellsOf(text)) {
    if (taken > room) break;
    room -= taken;
    kept += char;
  }
  return `${kept}…`;
}

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
  rows.reduce((most, row) => Math.max(most, textWidth(row[column] ?? "")), least);

/** Functions that colour text, or leave it as it is. */
export type Colors = ReturnType<typeof picocolors.createColors>;
