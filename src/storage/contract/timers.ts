/** Rows of what is to be done at a time: crons, runs that begin later, webhooks that are to be sent, keys that are to be forgotten. */
import type { JsonObject } from "../../models/common.js";

export type TimerKind = "cron" | "run" | "webhook" | "key";

/** The owner of runs that wait for their time: alive for ever, so that nobody takes them for cut off. */
export const DELAYED_OWNER = {
  id: "waits for its time",
  host: "",
  pid: 0,
  seen_at: "9999-12-31T23:59:59.999Z",
} as const;

export interface TimerRow {
  kind: TimerKind;
  /** Unique within its kind. */
  id: string;
  /** The thread that it is of, where it is of one. */
  thread_id: string | null;
  /** Whose it is, as the scope of a thread; null when no user made it. */
  scope: string | null;
  /** When there is something to do, ISO 8601 UTC with milliseconds; null for nothing. */
  due_at: string | null;
  created_at: string;
  /** Goes up with each change: a change is written over the version that it was made from, or not at all. */
  version: number;
  data: JsonObject;
}

export interface TimerQuery {
  kind: TimerKind;
  threadId?: string;
  /** Only those of this user. */
  scope?: string;
  limit: number;
  offset: number;
}

/** Every method is atomic. Rows handed out are copies. */
export interface TimerTable {
  /** Insert a row; false when its id is taken, and then nothing is changed. */
  insert(row: TimerRow): Promise<boolean>;
  get(kind: TimerKind, id: string): Promise<TimerRow | undefined>;
  /**
   * Write a row over the one of its version, which is then one higher. False, and nothing changed, when another version
   * is there, or none: of several who write over the same one, one alone succeeds.
   */
  replace(row: TimerRow): Promise<boolean>;
  /** Delete a row, of this version where one is named; false when it is not there. */
  delete(kind: TimerKind, id: string, version?: number): Promise<boolean>;
  /** Rows of these kinds that are due at `at` or before, those due longest first. */
  due(kinds: readonly TimerKind[], at: string, limit: number): Promise<TimerRow[]>;
  /** When the next row of these kinds is due, or was. */
  next(kinds: readonly TimerKind[]): Promise<string | undefined>;
  /** In the order of their making (created_at, then id), one page. */
  list(query: TimerQuery): Promise<TimerRow[]>;
}
