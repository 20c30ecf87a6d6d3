/** Long-term memory, kept in process memory. */
import type { ItemPage, ItemRow, ItemTable, ItemWrite, StoredItem } from "../contract/items.js";
import { compareTexts } from "./rows.js";

type ItemKey = Pick<ItemRow, "namespace" | "key">;

const byKey = (a: ItemKey, b: ItemKey) =>
  compareTexts(a.namespace, b.namespace) || compareTexts(a.key, b.key);
const idOf = ({ namespace, key }: ItemKey) => JSON.stringify([namespace, key]);

const isBelow = (namespace: string, prefix: string) =>
  prefix === "" || namespace === prefix || namespace.startsWith(`${prefix}.`);
const isLive = ({ expires_at }: StoredItem, at: string) => expires_at === null || expires_at > at;
const shown = ({ expires_at: _, vectors: _vectors, ...item }: StoredItem): ItemRow => structuredClone(item);
/** Vectors are shared, not copied: nothing changes them. */
const stored = ({ vectors, ...item }: ItemWrite): Omit<StoredItem, "created_at"> => ({
  ...structuredClone(item),
  ...(vectors && { vectors }),
});

export function createMemoryItems(): ItemTable {
  const items = new SortedItems();
  return {
    keepsVectors: true,
    async get(namespace, key, at) {
      const item = items.get({ namespace, key });
      return item && isLive(item, at) ? shown(item) : undefined;
    },
    async put(item) {
      const before = items.get(item);
      const kept = before && isLive(before, item.updated_at);
      items.set({ ...stored(item), created_at: kept ? before.created_at : item.updated_at });
    },
    async delete(namespace, key) {
      items.delete({ namespace, key });
    },
    async page(page) {
      return items.page(page).map(({ vectors, ...item }) => ({
        ...structuredClone(item),
        ...(page.vectors && vectors && { vectors }),
      }));
    },
    async restore(item) {
      items.set({ ...stored(item), created_at: item.created_at });
    },
    async namespaces(at) {
      const live = [...items].filter((item) => isLive(item, at));
      return [...new Set(live.map(({ namespace }) => namespace))].sort();
    },
    async touch(namespace, key, expiresAt) {
      const item = items.get({ namespace, key });
      if (item) item.expires_at = expiresAt;
    },
    async expire(at) {
      for (const item of items) if (!isLive(item, at)) items.delete(item);
    },
  };
}

/** Items by namespace and key, with a sorted index: reading a page costs no more than the size of the page. */
class SortedItems {
  readonly #items = new Map<string, StoredItem>();
  /** Built on first use; undefined after an item was added or deleted. */
  #order: ItemKey[] | undefined;

  get(id: ItemKey): StoredItem | undefined {
    return this.#items.get(idOf(id));
  }

  set(item: StoredItem): void {
    const id = idOf(item);
    if (!this.#items.has(id)) this.#order = undefined;
    this.#items.set(id, item);
  }

  delete(id: ItemKey): void {
    if (this.#items.delete(idOf(id))) this.#order = undefined;
  }

  [Symbol.iterator](): Iterator<StoredItem> {
    return this.#items.values();
  }

  page({ under = "", after, limit, at }: ItemPage): StoredItem[] {
    const order = (this.#order ??= Array.from(this, ({ namespace, key }) => ({ namespace, key })).sort(
      byKey,
    ));
    const first = { namespace: under, key: "" };
    const found: StoredItem[] = [];
    const isBefore = (id: ItemKey) => byKey(id, first) < 0 || (after && byKey(id, after) <= 0);
    for (let index = countWhile(order, isBefore); found.length < limit; index += 1) {
      const id = order[index];
      // Names with this prefix are adjacent, but not all of them are below the namespace: "a" is also a prefix of "ab".
      if (!id?.namespace.startsWith(under)) break;
      const item = this.get(id);
      if (item && isBelow(id.namespace, under) && isLive(item, at)) found.push(item);
    }
    return found;
  }
}

/** Binary search: the number of leading items that pass. Items that pass must precede all others. */
function countWhile<Item>(items: readonly Item[], passes: (item: Item) => boolean | undefined): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (passes(items[middle] as Item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
