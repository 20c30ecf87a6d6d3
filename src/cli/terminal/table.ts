/** Tables and field lists that fit the terminal width. */
import { cells as cellsOf, escapeControl, textWidth } from "../../view/text.js";
import type { Colors, Printer } from "./print.js";
import { clipped } from "./text.js";

const GAP = 2;
const NARROWEST = 6;

interface TableOptions {
  width: number;
  colors: Colors;
  /** Minimum width of each column, by index; a few characters by default. */
  least?: readonly (number | undefined)[];
  /** Colors of each column, by index. */
  paints?: readonly (Paint | undefined)[];
}

type Paint = (text: string) => string;

/**
 * Columns without borders, truncated to fit `width`, and printed page by page. The first page sets the widths; in a pipe,
 * later pages can increase them.
 */
export class TableLayout {
  readonly #head: readonly string[];
  readonly #options: TableOptions;
  #widths: number[] | undefined;

  constructor(head: readonly string[], options: TableOptions) {
    this.#head = head;
    this.#options = options;
  }

  /** The next lines of the table, with the heading before the first page. */
  format(rows: readonly (readonly string[])[]): string {
    const { colors } = this.#options;
    const cells = rows.map((row) => row.map((cell) => escapeControl(cell).replaceAll("\n", "\\n")));
    const isFirst = this.#widths === undefined;
    const widths = (this.#widths = this.#widthsFor(cells));
    const dimmed = Array<typeof colors.dim>(this.#head.length).fill(colors.dim);
    const heading = isFirst ? [rowLine(this.#head, widths, dimmed)] : [];
    return [...heading, ...cells.map((row) => rowLine(row, widths, this.#options.paints))].join("\n");
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
  paints: TableOptions["paints"] = [],
): string {
  const padded = row.map((cell, column) => {
    const width = widths[column] ?? 0;
    const text = fitted(cell, width);
    const isLast = row.slice(column + 1).every((later) => later === "");
    return (
      (text === "" ? "" : (paints[column]?.(text) ?? text)) +
      (isLast ? "" : " ".repeat(width - textWidth(text) + GAP))
    );
  });
  return padded.join("");
}

/** Truncates the text to `width` columns with an ellipsis. */
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

/** The natural width of each column; the widest columns are reduced first. */
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

/** Prints a table. Control characters in values are escaped. */
export function printTable(
  print: Printer,
  head: readonly string[],
  rows: readonly (readonly string[])[],
  options: Pick<TableOptions, "least" | "paints"> = {},
): void {
  print.data(layoutFor(print, head, options).format(rows));
}

const layoutFor = (
  print: Printer,
  head: readonly string[],
  options: Pick<TableOptions, "least" | "paints">,
): TableLayout => new TableLayout(head, { width: print.width, colors: print.colors, ...options });

// Tables that drop columns on a narrow terminal.

export interface Column<T> {
  title: string;
  cell: (row: T) => string;
  /** Columns with the highest number are dropped first if the table does not fit; without a number, never. */
  spare?: number;
  /** Minimum useful width in characters; defaults to the longest cell. */
  least?: number;
  /** Color of a cell's text. */
  paint?: Paint;
}

const ROWS_A_PAGE = 100;

/** Prints rows as a table; prints nothing without rows. */
export function printColumns<T>(print: Printer, columns: readonly Column<T>[], rows: readonly T[]): void {
  if (rows.length === 0) return;
  const shown = fitting(columns, rows, print.width);
  printTable(
    print,
    shown.map(({ title }) => title),
    rows.map((row) => shown.map(({ cell }) => cell(row))),
    { least: shown.map((column) => leastWidth(column, rows)), paints: shown.map(({ paint }) => paint) },
  );
}

/**
 * Prints rows as they are read, as one table; the first page sets the columns and widths. Prints nothing without rows.
 */
export async function printColumnsAsRead<T>(
  print: Printer,
  columns: readonly Column<T>[],
  rows: AsyncIterable<T>,
): Promise<void> {
  let shown: readonly Column<T>[] | undefined;
  let layout: TableLayout | undefined;
  for await (const page of pagesOf(rows)) {
    shown ??= fitting(columns, page, print.width);
    layout ??= layoutFor(
      print,
      shown.map(({ title }) => title),
      { least: shown.map((column) => leastWidth(column, page)), paints: shown.map(({ paint }) => paint) },
    );
    const cells = shown.map(({ cell }) => cell);
    print.data(layout.format(page.map((row) => cells.map((cell) => cell(row)))));
    await print.drained();
  }
}

async function* pagesOf<T>(rows: AsyncIterable<T>): AsyncGenerator<T[]> {
  let page: T[] = [];
  for await (const row of rows) {
    page.push(row);
    if (page.length < ROWS_A_PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

function fitting<T>(columns: readonly Column<T>[], rows: readonly T[], width: number): readonly Column<T>[] {
  const needed = columns.reduce((sum, column) => sum + leastWidth(column, rows) + GAP, 0);
  if (needed <= width) return columns;
  const spare = Math.max(...columns.map((column) => column.spare ?? 0));
  if (spare === 0) return columns;
  return fitting(
    columns.filter((column) => column.spare !== spare),
    rows,
    width,
  );
}

function leastWidth<T>({ title, cell, least = Infinity }: Column<T>, rows: readonly T[]): number {
  const widest = rows.reduce((most, row) => Math.max(most, textWidth(cell(row))), textWidth(title));
  return Math.min(least, widest);
}

export type Field = readonly [name: string, value: string | undefined];

const LABEL_WIDTH = 10;

/** Prints one name and value per line; skips fields without a value. */
export function printFields(print: Printer, fields: readonly Field[]): void {
  for (const [name, value] of fields) {
    if (value === undefined || value === "") continue;
    const room = Math.max(8, print.width - LABEL_WIDTH - 1);
    print.data(`${print.colors.dim(name.padEnd(LABEL_WIDTH))} ${clipped(value, room)}`);
  }
}
