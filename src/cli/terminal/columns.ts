/** Tables whose columns make way on a narrow terminal. */
import type { Printer } from "./print.js";
import type { TableLayout } from "./table.js";
import { clipped } from "./text.js";

export interface Column<T> {
  title: string;
  cell: (row: T) => string;
  /** Left out when there is no room for all, the highest first; never without a number. */
  spare?: number;
  /** Characters below which the column says nothing any more; its longest cell when left out. */
  least?: number;
}

const GAP = 2;
const ROWS_A_PAGE = 100;

/** Print rows as a table; without rows nothing is printed. */
export async function printColumns<T>(
  print: Printer,
  columns: readonly Column<T>[],
  rows: readonly T[],
): Promise<void> {
  if (rows.length === 0) return;
  const shown = fitting(columns, rows, print.width);
  await print.table(
    shown.map(({ title }) => title),
    rows.map((row) => shown.map(({ cell }) => cell(row))),
    shown.map((column) => leastWidth(column, rows)),
  );
}

/**
 * Print rows as they come, as one table; the first page of them sets the columns and their widths. Without rows nothing
 * is printed.
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
    layout ??= await print.tableLayout(
      shown.map(({ title }) => title),
      shown.map((column) => leastWidth(column, page)),
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
  const widest = rows.reduce((most, row) => Math.max(most, cell(row).length), title.length);
  return Math.min(least, widest);
}

export type Field = readonly [name: string, value: string | undefined];

const LABEL_WIDTH = 10;

/** Name and value, a line each; fields without a value are left out. */
export function printFields(print: Printer, fields: readonly Field[]): void {
  for (const [name, value] of fields) {
    if (value === undefined || value === "") continue;
    const room = Math.max(8, print.width - LABEL_WIDTH - 1);
    print.data(`${print.colors.dim(name.padEnd(LABEL_WIDTH))} ${clipped(value, room)}`);
  }
}
