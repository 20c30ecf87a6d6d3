/** Items of the long-term memory in this process's memory. */
import type { ItemPage, ItemRow, ItemTable, StoredItem } from "../contract/storage.js";

type Place = Pick<ItemRow, "namespace" | "key">;

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const byPlace = (a: Place, b: Place) => compare(a.namespace, b.namespace) || compare(a.key, b.key);
const idOf = ({ namespace, key }: Place) => JSON.stringify([namespace, key]);

const isBelow = (namespace: string, prefix: string) =>
  prefix === "" || namespace === prefix || namespace.startsWith(`${prefix}.`);
const lives = ({ expires_at }: StoredItem, at: string) => expires_at === null || expires_at > at;
const shown = ({ expires_at: _, ...item }: StoredItem): ItemRow => structuredClone(item);

export function createMemoryItems(): ItemTable {
  const items = new Places();
  return {
    async get(namespace, key, at) {
      const item = items.get({ namespace, key });
      return item && lives(item, at) ? shown(item) : undefined;
    },
    async put(item) {
      const before = items.get(item);
      const kept = before && lives(before, item.updated_at);
      items.set({ ...structuredClone(item), created_at: kept ? before.created_at : item.updated_at });
    },
    async delete(namespace, key) {
      items.delete({ namespace, key });
    },
    async page(page) {
      return items.page(page).map((item) => structuredClone(item));
    },
    async restore(item) {
      items.set(structuredClone(item));
    },
    async namespaces(at) {
      const living = [...items].filter((item) => lives(item, at));
      return [...new Set(living.map(({ namespace }) => namespace))].sort();
    },
    async touch(namespace, key, expiresAt) {
      const item = items.get({ namespace, key });
      if (item) item.expires_at = expiresAt;
    },
    async expire(at) {
      for (const item of items) if (!lives(item, at)) items.delete(item);
    },
  };
}

/** Items by their place, in its order: a page of them costs no more than what it holds. */
class Places {
  readonly #items = new Map<string, StoredItem>();
  /** Made when it is asked for; undefined when places have come or gone since. */
  #order: Place[] | undefined;

  get(place: Place): StoredItem | undefined {
    return this.#items.get(idOf(place));
  }

  set(item: StoredItem): void {
    const id = idOf(item);
    if (!this.#items.has(id)) this.#order = undefined;
    this.#items.set(id, item);
  }

  delete(place: Place): void {
    if (this.#items.delete(idOf(place))) this.#order = undefined;
  }

  [Symbol.iterator](): Iterator<StoredItem> {
    return this.#items.values();
  }

  page({ under = "", after, limit, at }: ItemPage): StoredItem[] {
    const order = (this.#order ??= Array.from(this, ({ namespace, key }) => ({ namespace, key })).sort(
      byPlace,
    ));
    const first = { namespace: under, key: "" };
    const found: StoredItem[] = [];
    const isBefore = (place: Place) => byPlace(place, first) < 0 || (after && byPlace(place, after) <= 0);
    for (let index = countWhile(order, isBefore); found.length < limit; index += 1) {
      const place = order[index];
      // What begins with the namespace comes together, though not all of it is below.
      if (!place?.namespace.startsWith(under)) break;
      const item = this.get(place);
      if (item && isBelow(place.namespace, under) && lives(item, at)) found.push(item);
    }
    return found;
  }
}

/** How many items of an ordered list pass: the first ones do, and no others. */
function countWhile<Item>(items: readonly Item[], passes: (item: Item) => boolean | undefined): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (passes(items[middle] as Item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
