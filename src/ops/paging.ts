import type { Page } from "../models/common.js";

/** One page, with the offset of the next one when there are more items. */
export function pageOf<T>(items: T[], total: number, offset: number): Page<T> {
  const end = offset + items.length;
  return { items, total, next: items.length > 0 && end < total ? end : null };
}

/** A copy that holds only the fields asked for. */
export function selectFields<T extends object>(item: T, fields: readonly string[]): Partial<T> {
  const selected: Partial<T> = {};
  for (const field of fields) {
    if (field in item) selected[field as keyof T] = item[field as keyof T];
  }
  return selected;
}
