import type { ItemRow, ItemTable, ItemWrite, StoredItem } from "./items.js";

const isBelow = (namespace: string, prefix: string) =>
  prefix === "" || namespace === prefix || namespace.startsWith(`${prefix}.`);
const lives = ({ expires_at }: StoredItem, at: string) => expires_at === null || expires_at > at;
type ItemPlace = Pick<ItemRow, "namespace" | "key">;
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const byPlace = (a: ItemPlace, b: ItemPlace) => compare(a.namespace, b.namespace) || compare(a.key, b.key);

/** Items in this process's memory. */
export function createMemoryItems(): ItemTable {
  const items = new Map<string, StoredItem>();
  const placeOf = (namespace: string, key: string) => JSON.stringify([namespace, key]);
  const shown = ({ expires_at: _, ...item }: StoredItem): ItemRow => structuredClone(item);
  const living = (at: string) => [...items.values()].filter((item) => lives(item, at));
  return {
    async get(namespace, key, at) {
      const item = items.get(placeOf(namespace, key));
      return item && lives(item, at) ? shown(item) : undefined;
    },
    async put(item: ItemWrite) {
      const place = placeOf(item.namespace, item.key);
      const before = items.get(place);
      const kept = before && lives(before, item.updated_at);
      items.set(place, { ...structuredClone(item), created_at: kept ? before.created_at : item.updated_at });
    },
    async delete(namespace, key) {
      items.delete(placeOf(namespace, key));
    },
    async under(namespace, at) {
      return living(at)
        .filter((item) => isBelow(item.namespace, namespace))
        .sort(byPlace)
        .map(shown);
    },
    async page({ after, limit, at }) {
      return living(at)
        .filter((item) => after === undefined || byPlace(item, after) > 0)
        .sort(byPlace)
        .slice(0, limit)
        .map((item) => structuredClone(item));
    },
    async restore(item) {
      items.set(placeOf(item.namespace, item.key), structuredClone(item));
    },
    async namespaces(at) {
      return [...new Set(living(at).map(({ namespace }) => namespace))].sort();
    },
    async touch(namespace, key, expiresAt) {
      const item = items.get(placeOf(namespace, key));
      if (item) item.expires_at = expiresAt;
    },
    async expire(at) {
      for (const [place, item] of items) if (!lives(item, at)) items.delete(place);
    },
  };
}
