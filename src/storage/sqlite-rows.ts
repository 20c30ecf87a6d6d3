import type { JsonObject } from "../models/common.js";
import type { TokenUsage } from "../models/run.js";
import { expiryOf } from "./rows.js";
import type { RunRow, ThreadRow } from "./storage.js";

/** Columns of gs_threads, in the order of the table. */
export const THREAD_COLUMNS = [
  "thread_id",
  "created_at",
  "updated_at",
  "state_updated_at",
  "metadata",
  "config",
  "status",
  "error",
  "ttl_strategy",
  "ttl_minutes",
  "expires_at",
] as const;

/** Columns of gs_runs, in the order of the table. */
export const RUN_COLUMNS = [
  "run_id",
  "thread_id",
  "assistant_id",
  "created_at",
  "updated_at",
  "status",
  "metadata",
  "kwargs",
  "multitask_strategy",
  "error",
  "usage",
  "owner",
] as const;

type Ttl = NonNullable<ThreadRow["ttl"]>;

export interface StoredThread extends Omit<ThreadRow, "metadata" | "config" | "ttl"> {
  metadata: string;
  config: string;
  ttl_strategy: Ttl["strategy"] | null;
  ttl_minutes: number | null;
  expires_at: number | null;
}

export interface StoredRun extends Omit<RunRow, "metadata" | "kwargs" | "usage"> {
  metadata: string;
  kwargs: string;
  usage: string | null;
}

export function storeThread(row: ThreadRow): StoredThread {
  const { ttl, ...fields } = row;
  return {
    ...fields,
    metadata: JSON.stringify(row.metadata),
    config: JSON.stringify(row.config),
    ttl_strategy: ttl?.strategy ?? null,
    ttl_minutes: ttl?.ttl_minutes ?? null,
    expires_at: expiryOf(row),
  };
}

export function readThread(stored: StoredThread): ThreadRow {
  const { ttl_strategy, ttl_minutes, expires_at: _derived, ...fields } = stored;
  return {
    ...fields,
    metadata: JSON.parse(stored.metadata) as JsonObject,
    config: JSON.parse(stored.config) as JsonObject,
    ttl: ttl_strategy === null || ttl_minutes === null ? null : { strategy: ttl_strategy, ttl_minutes },
  };
}

export const storeRun = (row: RunRow): StoredRun => ({
  ...row,
  metadata: JSON.stringify(row.metadata),
  kwargs: JSON.stringify(row.kwargs),
  usage: row.usage && JSON.stringify(row.usage),
});

export const readRun = (stored: StoredRun): RunRow => ({
  ...stored,
  metadata: JSON.parse(stored.metadata) as JsonObject,
  kwargs: JSON.parse(stored.kwargs) as JsonObject,
  usage: stored.usage === null ? null : (JSON.parse(stored.usage) as TokenUsage),
});
