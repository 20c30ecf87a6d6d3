/** Items of the long-term memory that graphs share across threads (LangGraph's "store"). */
import type { JsonObject } from "../../models/common.js";

/**
 * An item of the long-term memory.
 * @example
 * ```ts
 * import type { ItemRow } from "graph-serve";
 * import { storage } from "./storage.js";
 *
 * const now = new Date().toISOString();
 * const item: ItemRow | undefined = await storage.items?.get("users.ada", "theme", now);
 * item?.value; // => { dark: true }
 * ```
 */
export interface ItemRow {
  /** Labels joined by full stops; a label cannot contain a full stop. */
  namespace: string;
  /** Unique within its namespace. */
  key: string;
  /** The stored JSON object. */
  value: JsonObject;
  /** When it was first stored, ISO 8601. */
  created_at: string;
  /** When it was last stored, ISO 8601. */
  updated_at: string;
  /** Time to live in minutes; null for no expiry. */
  ttl_minutes: number | null;
}

/**
 * An item to insert or to replace.
 * @example
 * ```ts
 * import type { ItemWrite } from "graph-serve";
 * import { storage } from "./storage.js";
 *
 * const item: ItemWrite = {
 *   namespace: "users.ada",
 *   key: "theme",
 *   value: { dark: true },
 *   updated_at: new Date().toISOString(),
 *   ttl_minutes: null,
 *   expires_at: null,
 * };
 * await storage.items?.put(item);
 * ```
 */
export interface ItemWrite extends Omit<ItemRow, "created_at"> {
  /** When the item expires, ISO 8601; null for never. */
  expires_at: string | null;
  /** Its embeddings, which replace those of the item before; null or undefined for none. */
  vectors?: Uint8Array | null;
}

/**
 * An item with its expiry.
 * @example
 * ```ts
 * import type { StoredItem } from "graph-serve";
 * import { storage } from "./storage.js";
 *
 * const at = new Date().toISOString();
 * const items: StoredItem[] | undefined = await storage.items?.page({ under: "users", limit: 10, at });
 * items?.map(({ key, expires_at }) => [key, expires_at]); // => [["theme", null]]
 * ```
 */
export interface StoredItem extends ItemRow {
  /** When the item expires, ISO 8601; null for never. */
  expires_at: string | null;
  /** Its embeddings, if the page has requested them and there are any. */
  vectors?: Uint8Array;
}

/**
 * A page of items, ordered by namespace, then key: at most `limit` items after `after`.
 * @example
 * ```ts
 * import type { ItemPage } from "graph-serve";
 * import { storage } from "./storage.js";
 *
 * const page: ItemPage = { under: "users", limit: 10, at: new Date().toISOString() };
 * const items = await storage.items?.page(page);
 * items?.length; // => 1
 * ```
 */
export interface ItemPage {
  /** Only items of this namespace and the namespaces below it; all items if "" or undefined. */
  under?: string;
  /** The last item of the previous page. */
  after?: Pick<ItemRow, "namespace" | "key">;
  /** Maximum number of items. */
  limit: number;
  /** The current time, ISO 8601: expired items are left out. */
  at: string;
  /** Whether to read the embeddings too. */
  vectors?: boolean;
}

/** How the embeddings of items are stored: a mark, then the numbers of each vector as 32-bit floats. Vectors have length 1 or 0. */
export interface VectorFormat {
  /** The first 4 bytes. Embeddings with another mark are of another embedding function. */
  mark: Uint8Array;
  /** Numbers per vector. */
  dims: number;
}

/** Selects the items that are most similar to a vector. */
export interface NearestQuery extends Pick<ItemPage, "under" | "at" | "limit"> {
  /** Of length 1 or 0. */
  vector: Float32Array;
  /** Number of items to skip. */
  offset: number;
  /** Whether an item counts. Default: all items count. */
  passes?: (value: JsonObject) => boolean;
}

/** An item and its similarity to a vector, from -1 to 1; undefined without embeddings of the format. */
export interface RankedItem extends Pick<ItemRow, "namespace" | "key"> {
  score: number | undefined;
}

/** Compares embeddings inside the database. */
export interface VectorSearch {
  /** What compares them, such as `pgvector 0.8.1`. */
  readonly name: string;
  /** Most similar items first, then items without a score, each in the order of pages. Undefined if the database can no longer compare. */
  nearest(query: NearestQuery): Promise<RankedItem[] | undefined>;
}

/**
 * The table of items. Every method is atomic. An item that has expired at `at` is not returned.
 * @example
 * ```ts
 * import type { ItemTable } from "graph-serve";
 * import { storage } from "./storage.js";
 *
 * const items: ItemTable | undefined = storage.items;
 * await items?.namespaces(new Date().toISOString()); // => ["users.ada"]
 * ```
 */
export interface ItemTable {
  /** Whether `put` and `restore` store `vectors`, and `page` returns them. The setting store_index needs it. */
  readonly keepsVectors?: boolean;
  get(namespace: string, key: string, at: string): Promise<ItemRow | undefined>;
  /** Insert or replace; an existing item keeps its `created_at`. */
  put(item: ItemWrite): Promise<void>;
  delete(namespace: string, key: string): Promise<void>;
  page(page: ItemPage): Promise<StoredItem[]>;
  /** Store an item copied from another storage, including its times. Overwrites an existing item. */
  restore(item: StoredItem): Promise<void>;
  /** Namespaces that contain items, sorted. */
  namespaces(at: string): Promise<string[]>;
  /** Set a new expiry, ISO 8601. Does nothing if the item does not exist. */
  touch(namespace: string, key: string, expiresAt: string): Promise<void>;
  /** Delete all items that have expired at `at`. */
  expire(at: string): Promise<void>;
  /** Prepare searches by similarity. Returns the reason if the database has nothing for it. @internal */
  openVectorSearch?(format: VectorFormat): Promise<VectorSearch | { reason: string }>;
}
