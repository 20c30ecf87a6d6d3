/** One page of a list, as the `list` commands print it. */
import type { Printer } from "./print.js";
import { type Column, printColumns } from "./table.js";

export interface ListPage<Item> {
  items: readonly Item[];
  /** Where the next page begins; null at the end. */
  next: number | null;
}

/** The page of `limit` items from `offset` on, of the items found there; one extra item shows whether there are more. */
export const slicePage = <Item>(
  found: readonly Item[],
  { limit, offset }: { limit: number; offset: number },
): ListPage<Item> => ({
  items: found.slice(0, limit),
  next: found.length > limit ? offset + limit : null,
});

interface TableForm<Item> {
  columns: readonly Column<Item>[];
  /** What is said where there are none. */
  none: string;
}

/** As a table, with a word where there are none, or more. */
export function printPageTable<Item>(
  print: Printer,
  { items, next }: ListPage<Item>,
  { columns, none }: TableForm<Item>,
): void {
  if (items.length === 0) print.note(none);
  printColumns(print, columns, items);
  if (next !== null) print.note(`there are more: --offset ${next}`);
}

/** In the form that was asked for: items a line each, the page as JSON, or a table. */
export function printPage<Item>(print: Printer, page: ListPage<Item>, form: TableForm<Item>): void {
  if (print.flags.jsonl) page.items.forEach((item) => print.json(item));
  else if (print.flags.json) print.json(page);
  else printPageTable(print, page, form);
}
