/** Rows of the long-term memory that graphs share across threads (LangGraph's "store"). */
import type { JsonObject } from "../../models/common.js";

export interface ItemRow {
  /** Labels joined by full stops, which no label holds. */
  namespace: string;
  key: string;
  value: JsonObject;
  created_at: string;
  updated_at: string;
  ttl_minutes: number | null;
}

export interface ItemWrite extends Omit<ItemRow, "created_at"> {
  /** When the item ends, ISO 8601; null for never. */
  expires_at: string | null;
}

/** An item as it is kept. */
export interface StoredItem extends ItemRow {
  expires_at: string | null;
}

/** Which items to read: `limit` of those after a place, in the order of namespaces and keys; from the first without one. */
export interface ItemPage {
  /** Only items of this namespace and of all below it; every item for "", or without one. */
  under?: string;
  after?: Pick<ItemRow, "namespace" | "key">;
  limit: number;
  at: string;
}

/** Every method is atomic, and shows no item that has expired at `at`. */
export interface ItemTable {
  get(namespace: string, key: string, at: string): Promise<ItemRow | undefined>;
  /** Insert or replace; an item that is there already keeps its `created_at`. */
  put(item: ItemWrite): Promise<void>;
  delete(namespace: string, key: string): Promise<void>;
  page(page: ItemPage): Promise<StoredItem[]>;
  /** Store an item of another storage as it stands, its times included, in the place of what is there. */
  restore(item: StoredItem): Promise<void>;
  /** Namespaces that hold items, sorted. */
  namespaces(at: string): Promise<string[]>;
  /** Count the time to live of an item anew. */
  touch(namespace: string, key: string, expiresAt: string): Promise<void>;
  /** Delete what has expired. */
  expire(at: string): Promise<void>;
}
