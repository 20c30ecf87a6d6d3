/** Rows of threads, and their table. */
import type { JsonObject, SortOrder } from "../../models/common.js";
import type {
  StoredPreview,
  ThreadSortField,
  ThreadStatus,
  TtlStrategy,
} from "../../models/thread-fields.js";

/**
 * A stored thread.
 * @example
 * ```ts
 * import type { ThreadRow } from "graph-serve";
 * import { thread } from "./rows.js";
 * import { storage } from "./storage.js";
 *
 * const row: ThreadRow | undefined = await storage.threads.get(thread.thread_id);
 * row?.scope; // => "owner:ada"
 * ```
 */
export interface ThreadRow {
  /** Canonical lower-case UUID. */
  thread_id: string;
  /** ISO 8601 UTC with milliseconds, as all times in rows. */
  created_at: string;
  /** When the thread last changed. */
  updated_at: string;
  /** When the state of the thread last changed; null for a thread without state. */
  state_updated_at: string | null;
  metadata: JsonObject;
  /** The scope of the user who owns it. Null if no user created it; its metadata may then name an owner. */
  scope: string | null;
  /** Ids of the graphs that have written to it. Null if unknown, as for threads of release 0.1.0. */
  graphs: readonly string[] | null;
  /** Config of the last run, with secrets masked. */
  config: JsonObject;
  status: ThreadStatus;
  /** Message of the error that ended the last run. */
  error: string | null;
  /**
   * The thread expires `ttl_minutes` after `updated_at`, so every update renews it. Without minutes it never expires, and
   * gets no default ttl either.
   */
  ttl: { strategy: TtlStrategy; ttl_minutes: number | null } | null;
  /** What lists show of the thread, so that they need no state. Missing until a run or a state write. Optional for a storage. */
  preview?: StoredPreview;
}

/**
 * Changes to a thread row. Missing keys are left unchanged.
 * @example
 * ```ts
 * import type { ThreadPatch } from "graph-serve";
 * import { thread } from "./rows.js";
 * import { storage } from "./storage.js";
 *
 * const patch: ThreadPatch = { updated_at: new Date().toISOString(), mergeMetadata: { user: "ada" } };
 * const row = await storage.threads.update(thread.thread_id, patch);
 * row?.metadata; // => { project: "demo", user: "ada" }
 * ```
 */
export interface ThreadPatch {
  /** ISO 8601 UTC with milliseconds. */
  updated_at: string;
  state_updated_at?: string | null;
  /** Merged into the row's metadata, one top-level key at a time, in the same atomic step. */
  mergeMetadata?: JsonObject;
  scope?: ThreadRow["scope"];
  graphs?: ThreadRow["graphs"];
  config?: JsonObject;
  status?: ThreadStatus;
  error?: string | null;
  ttl?: ThreadRow["ttl"];
  preview?: StoredPreview;
}

/**
 * Selects threads that match all given fields.
 * @example
 * ```ts
 * import type { ThreadFilter } from "graph-serve";
 * import { storage } from "./storage.js";
 *
 * const filter: ThreadFilter = { metadata: { project: "demo" }, status: "idle" };
 * await storage.threads.count(filter); // => 1
 * ```
 */
export interface ThreadFilter {
  ids?: readonly string[];
  /** Containment, as defined by `contains()`. Keys are data, never operators. */
  metadata?: JsonObject;
  /** Leaves out threads with another scope. Threads without a scope match. */
  scope?: string;
  status?: ThreadStatus;
}

/**
 * Filter, order and page of a thread search.
 * @example
 * ```ts
 * import type { ThreadQuery } from "graph-serve";
 * import { thread } from "./rows.js";
 * import { storage } from "./storage.js";
 *
 * const query: ThreadQuery = { sortBy: "created_at", sortOrder: "desc", limit: 10, offset: 0 };
 * const { rows } = await storage.threads.search(query);
 * rows.map(({ thread_id }) => thread_id); // => [thread.thread_id]
 * ```
 */
export interface ThreadQuery extends ThreadFilter {
  /** Ties are broken by thread_id in the same direction. A null state_updated_at sorts as the oldest. */
  sortBy: ThreadSortField;
  sortOrder: SortOrder;
  /** Maximum number of rows. */
  limit: number;
  /** Number of rows to skip. */
  offset: number;
}

/**
 * A page of threads.
 * @example
 * ```ts
 * import type { ThreadPage } from "graph-serve";
 * import { storage } from "./storage.js";
 *
 * const query = { sortBy: "updated_at", sortOrder: "desc", limit: 1, offset: 0 } as const;
 * const page: ThreadPage = await storage.threads.search(query);
 * page.total; // => 1
 * ```
 */
export interface ThreadPage {
  rows: ThreadRow[];
  /** Number of matching rows on all pages. */
  total: number;
}

/**
 * The table of threads.
 * @example
 * ```ts
 * import type { ThreadTable } from "graph-serve";
 * import { thread } from "./rows.js";
 * import { storage } from "./storage.js";
 *
 * const threads: ThreadTable = storage.threads;
 * const thread_id = crypto.randomUUID();
 * await threads.insert({ ...thread, thread_id }); // => true
 * await threads.delete(thread_id); // => true
 * ```
 */
export interface ThreadTable {
  /** Insert a row. Returns false, and changes nothing, if the id exists. */
  insert(row: ThreadRow): Promise<boolean>;
  get(threadId: string): Promise<ThreadRow | undefined>;
  /**
   * Apply a patch and return the changed row; undefined if the thread does not exist. With `updatedAt`, only if this is
   * still the `updated_at` of the thread; undefined otherwise.
   */
  update(threadId: string, patch: ThreadPatch, updatedAt?: string): Promise<ThreadRow | undefined>;
  /**
   * A metadata filter without an index may be tested row by row during concurrent writes: each row counts in the state
   * in which it is read.
   */
  search(query: ThreadQuery): Promise<ThreadPage>;
  count(filter: ThreadFilter): Promise<number>;
  /**
   * Delete a thread and its runs. Returns false if the thread does not exist. The caller deletes the checkpoints.
   *
   * With `updatedAt`, only if this is still the `updated_at` of the thread, which is not busy and has no pending or running
   * run; otherwise returns false and changes nothing. Check and deletion are one atomic step: a run that is inserted, or a
   * change of the thread, either comes first and prevents the deletion, or finds no thread.
   */
  delete(threadId: string, updatedAt?: string): Promise<boolean>;
  /** Threads that expired before `now` and are not busy, the earliest expiry first, at most `limit`. */
  expired(now: string, limit: number): Promise<ThreadRow[]>;
}
