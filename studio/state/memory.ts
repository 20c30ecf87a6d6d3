/** Long-term memory: namespaces around the selected one, and its items, paginated. */
import { batch, computed, signal } from "@preact/signals";
import type { StoreItem } from "../../src/models/store.js";
import { ask } from "../api.js";
import { href, place } from "../router.js";
import { type Action, args } from "./copy-as.js";
import { load, loading } from "./loading.js";
import { parseMeta } from "./threads.js";
import { isLeaving, removeLater } from "./undo.js";

const PAGE = 50;
/** Maximum number of namespaces that are shown of a level. */
export const MOST_BRANCHES = 500;

/** Namespaces directly below one level of the selected namespace. */
export type Level = readonly (readonly string[])[];

/** Selected namespace: `#/store/users/ada`. */
export const namespace = computed(() => place.value.path.slice(1));
export const levels = loading<readonly Level[]>();
export const items = signal<readonly StoreItem[]>([]);
export const itemPage = loading<void>();
/** True if there may be more items than are loaded. */
export const hasMoreItems = signal(true);
let generation = 0;

/** Reload namespaces and items for the address. */
export async function reloadMemory(): Promise<void> {
  const mine = ++generation;
  itemPage.busy.value = false;
  hasMoreItems.value = true;
  await Promise.all([
    load(
      levels,
      () => readLevels(namespace.value),
      () => mine !== generation,
    ),
    loadMoreItems(mine, true),
  ]);
}

/** Namespaces below the root and below each label. */
const readLevels = (labels: readonly string[]): Promise<Level[]> =>
  Promise.all([...labels, ""].map((_, depth) => readLevel(labels.slice(0, depth))));

async function readLevel(prefix: readonly string[]): Promise<Level> {
  // The namespace itself is among them if it has items. One more shows that the level is cut.
  const body = { prefix, max_depth: prefix.length + 1, limit: MOST_BRANCHES + 2 };
  const answer = await ask<{ namespaces: string[][] }>("POST", "/store/namespaces", { body });
  return answer.body.namespaces.filter((labels) => labels.length > prefix.length);
}

export async function loadMoreItems(mine = generation, isReload = false): Promise<void> {
  if (!hasMoreItems.value || itemPage.busy.value) return;
  const isStale = () => mine !== generation;
  const filter = parseMeta(place.value.query.value ?? "");
  const body = {
    namespace_prefix: namespace.value,
    limit: PAGE,
    offset: isReload ? 0 : items.value.length,
    // Viewing must not extend the time to live.
    refresh_ttl: false,
    ...(filter && { filter }),
  };
  const read = async () => {
    const found = (await ask<{ items: StoreItem[] }>("POST", "/store/items/search", { body })).body.items;
    if (isStale()) return;
    batch(() => {
      items.value = isReload ? found : [...items.value, ...found];
      hasMoreItems.value = found.length === PAGE;
    });
  };
  await load(itemPage, read, isStale);
}

/** Loaded items that match the filter text, without pending deletions. */
export const shownItems = computed(() => {
  const text = (place.value.query.q ?? "").trim().toLowerCase();
  return items.value.filter((item) => !isLeaving(idOf(item)) && (text === "" || textOf(item).includes(text)));
});

const textOf = ({ namespace: labels, key, value }: StoreItem): string =>
  `${labels.join(".")} ${key} ${JSON.stringify(value)}`.toLowerCase();

export const idOf = ({ namespace: labels, key }: Pick<StoreItem, "namespace" | "key">): string =>
  JSON.stringify([...labels, key]);

export const storeHref = (labels: readonly string[], query: Readonly<Record<string, string>> = {}): string =>
  href(["store", ...labels], query);

/** An item by its key, whether or not the list contains it. */
export async function readItem(labels: readonly string[], key: string): Promise<StoreItem | null> {
  const query = new URLSearchParams({ namespace: labels.join("."), key, refresh_ttl: "false" });
  return (await ask<StoreItem | null>("GET", `/store/items?${query.toString()}`)).body;
}

export interface Written {
  namespace: readonly string[];
  key: string;
  value: Record<string, unknown>;
  ttl: number | null;
}

export async function writeItem(item: Written): Promise<void> {
  await ask("PUT", "/store/items", { body: item });
  await reloadMemory();
}

export const writeAction = (item: Written): Action => ({
  method: "PUT",
  path: "/store/items",
  body: item,
  sdk: `await client.store.putItem(${args(item.namespace, item.key, item.value, { ttl: item.ttl })});`,
});

export function removeItem({ namespace: labels, key }: StoreItem, text: string): void {
  const send = async () => {
    await ask("DELETE", "/store/items", { body: { namespace: labels, key } });
    await reloadMemory();
  };
  const action = {
    method: "DELETE",
    path: "/store/items",
    body: { namespace: labels, key },
    sdk: `await client.store.deleteItem(${args(labels, key)});`,
  };
  removeLater({ id: idOf({ namespace: labels, key }), text, send, action });
}
