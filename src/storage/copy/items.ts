/** Copies the long-term memory of the graphs. */
import type { ItemRow, ItemTable, StoredItem } from "../items.js";
import { digestOf } from "./digest.js";

const PAGE = 100;

export interface ItemCopy {
  /** Items that both storages hold now. */
  total: number;
  copied: number;
  left: LeftItem[];
}

export interface LeftItem extends Pick<ItemRow, "namespace" | "key"> {
  reason: "exists" | "differs";
}

export interface CopyItemsOptions {
  from: ItemTable;
  to: ItemTable;
  /** Replace an item of the target that is in the way. */
  overwrite: boolean;
  /** Before each page; throws to stop. */
  onPage: () => void;
}

export async function copyItems(options: CopyItemsOptions): Promise<ItemCopy> {
  const copy: ItemCopy = { total: 0, copied: 0, left: [] };
  const at = new Date().toISOString();
  let after: StoredItem | undefined;
  for (;;) {
    options.onPage();
    const page: StoredItem[] = await options.from.page({ after, limit: PAGE, at });
    for (const item of page) {
      const outcome = await copyItem(options, item, at);
      const { namespace, key } = item;
      if (outcome === "exists" || outcome === "differs") copy.left.push({ namespace, key, reason: outcome });
      else copy.total += 1;
      if (outcome === "copied") copy.copied += 1;
    }
    after = page.at(-1);
    if (page.length < PAGE) return copy;
  }
}

async function copyItem(
  { to, overwrite }: CopyItemsOptions,
  item: StoredItem,
  at: string,
): Promise<"copied" | "current" | LeftItem["reason"]> {
  const { namespace, key } = item;
  const held = await to.get(namespace, key, at);
  const isCurrent = held !== undefined && digestOf(held) === digestOf(rowOf(item));
  // Reading an item makes it last longer, and shows in nothing else.
  if (isCurrent && item.expires_at === null) return "current";
  if (held && !overwrite && !isEarlier(held, item)) return "exists";
  await to.restore(item);
  if (isCurrent) return "current";
  return digestOf(await to.get(namespace, key, at)) === digestOf(rowOf(item)) ? "copied" : "differs";
}

function rowOf({ expires_at: _, ...row }: StoredItem): ItemRow {
  return row;
}

/** Whether an earlier copy can have left it. */
const isEarlier = (held: ItemRow, { created_at, updated_at }: ItemRow): boolean =>
  held.created_at === created_at && held.updated_at <= updated_at;
