/** Pages of the `list` commands. */
import type { Printer } from "./print.js";
import { type Column, printColumns } from "./table.js";

export interface ListPage<Item> {
  items: readonly Item[];
  /** Offset of the next page; null at the end. */
  next: number | null;
}

/** The page of `limit` items; one extra item in `found` shows that there are more. */
export const slicePage = <Item>(
  found: readonly Item[],
  { limit, offset }: { limit: number; offset: number },
): ListPage<Item> => ({
  items: found.slice(0, limit),
  next: found.length > limit ? offset + limit : null,
});

interface TableForm<Item> {
  columns: readonly Column<Item>[];
  /** Message for an empty list. */
  none: string;
}

/** Prints a table, or the message for an empty list, and a hint if there are more items. */
export function printPageTable<Item>(
  print: Printer,
  { items, next }: ListPage<Item>,
  { columns, none }: TableForm<Item>,
): void {
  if (items.length === 0) print.note(none);
  printColumns(print, columns, items);
  if (next !== null) print.note(`more items: --offset ${next}`);
}

/** Prints the page in the requested format: JSON lines, JSON or a table. */
export function printPage<Item>(print: Printer, page: ListPage<Item>, form: TableForm<Item>): void {
  if (print.flags.jsonl) page.items.forEach((item) => print.json(item));
  else if (print.flags.json) print.json(page);
  else printPageTable(print, page, form);
}
