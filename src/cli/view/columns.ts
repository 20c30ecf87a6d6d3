/** Tables whose columns make way on a narrow terminal. */
import type { Printer } from "../print.js";

export interface Column<T> {
  title: string;
  cell: (row: T) => string;
  /** Left out when there is no room for all, the highest first; never without a number. */
  spare?: number;
  /** Characters below which the column says nothing any more; its longest cell when left out. */
  least?: number;
}

const GAP = 2;

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
  return Math.min(least, Math.max(title.length, ...rows.map((row) => cell(row).length)));
}
