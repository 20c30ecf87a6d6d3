/** Timer rows: crons, delayed runs, pending webhooks, idempotency keys that expire, and assistants, which are never due. */
import type { JsonObject } from "../../models/common.js";

/**
 * What a timer starts: a cron run, a delayed run, a webhook call, or the expiry of an idempotency key. An `assistant` that a
 * client created starts nothing: its `due_at` is null.
 * @example
 * ```ts
 * import type { TimerKind } from "graph-serve";
 * import { storage } from "./storage.js";
 *
 * const kinds: TimerKind[] = ["cron", "webhook"];
 * await storage.timers?.next(kinds); // => undefined
 * ```
 */
export type TimerKind = "cron" | "run" | "webhook" | "key" | "assistant";

/**
 * A stored timer.
 * @example
 * ```ts
 * import type { TimerRow } from "graph-serve";
 * import { timer } from "./rows.js";
 * import { storage } from "./storage.js";
 *
 * const row: TimerRow | undefined = await storage.timers?.get("run", timer.id);
 * row?.due_at; // => "2026-01-01T01:00:00.000Z"
 * ```
 */
export interface TimerRow {
  kind: TimerKind;
  /** Unique within its kind. */
  id: string;
  /** The thread it belongs to, if any. */
  thread_id: string | null;
  /** The scope of the user who created it, as for a thread; null if no user did. */
  scope: string | null;
  /** When the timer is due, ISO 8601 UTC with milliseconds; null if it is inactive. */
  due_at: string | null;
  /** When the timer was created, ISO 8601. */
  created_at: string;
  /** Incremented by each change, for compare-and-set: a change is stored only if the version is still the one that was read. */
  version: number;
  /** What to do when due; its shape depends on the kind. */
  data: JsonObject;
}

/**
 * Filters and page of a list of timers.
 * @example
 * ```ts
 * import type { TimerQuery } from "graph-serve";
 * import { storage } from "./storage.js";
 *
 * const query: TimerQuery = { kind: "run", limit: 10, offset: 0 };
 * const rows = await storage.timers?.list(query);
 * rows?.length; // => 1
 * ```
 */
export interface TimerQuery {
  kind: TimerKind;
  /** Only timers of this thread. */
  threadId?: string;
  /** Only timers of this user. */
  scope?: string;
  /** Maximum number of rows. */
  limit: number;
  /** Number of rows to skip. */
  offset: number;
}

/**
 * The table of timers. Every method is atomic. Returned rows are copies.
 * @example
 * ```ts
 * import type { TimerTable } from "graph-serve";
 * import { timer } from "./rows.js";
 * import { storage } from "./storage.js";
 *
 * const timers: TimerTable | undefined = storage.timers;
 * const due = await timers?.due(["run"], "2026-01-01T02:00:00.000Z", 10);
 * due?.map(({ id }) => id); // => [timer.id]
 * ```
 */
export interface TimerTable {
  /** Insert a row. Returns false, and changes nothing, if the id exists. */
  insert(row: TimerRow): Promise<boolean>;
  get(kind: TimerKind, id: string): Promise<TimerRow | undefined>;
  /**
   * Replace the row of the same version, and increment the version. Returns false, and changes nothing, if the stored
   * version differs or the row does not exist: of several concurrent calls for one version, only one succeeds.
   */
  replace(row: TimerRow): Promise<boolean>;
  /** Delete a row. With a version, only if the row has that version. Returns false if nothing was deleted. */
  delete(kind: TimerKind, id: string, version?: number): Promise<boolean>;
  /**
   * Rows of these kinds that are due at `at` or earlier, the earliest first, at most `limit`. Leaves out the rows of the
   * scopes in `except`; a storage that ignores `except` does not start the timers of users in turn.
   */
  due(
    kinds: readonly TimerKind[],
    at: string,
    limit: number,
    except?: readonly TimerRow["scope"][],
  ): Promise<TimerRow[]>;
  /** The earliest due time of these kinds, which may be in the past; undefined if no row has one. */
  next(kinds: readonly TimerKind[]): Promise<string | undefined>;
  /** One page, oldest first (created_at, then id). */
  list(query: TimerQuery): Promise<TimerRow[]>;
}
