/** Columns and rows that SQLite and PostgreSQL share. */
import type { SortOrder } from "../../models/common.js";
import type { RunSortField } from "../../models/run.js";
import { UNFINISHED } from "../../models/run-status.js";
import type { Owner } from "../contract/owners.js";
import type { UnfinishedRun } from "../contract/runs.js";
import type { ThreadRow } from "../contract/threads.js";

/** Columns of gs_threads. */
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
  "scope",
  "graphs",
  "preview",
] as const;

/** The condition of a run that has not ended. Must match the condition of the index gs_runs_unfinished. */
export const IS_UNFINISHED = `status IN (${UNFINISHED.map((status) => `'${status}'`).join(", ")})`;

/** Columns of gs_runs. */
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
  "state",
  "owner",
  "fault",
  "attempt",
  "resumption",
] as const;
/** All stored columns: `tasks` is read only by `RunTable.tasks`. */
export const STORED_RUN_COLUMNS = [...RUN_COLUMNS, "tasks"] as const;

/** Columns of gs_timers. */
export const TIMER_COLUMNS = [
  "kind",
  "id",
  "thread_id",
  "scope",
  "due_at",
  "created_at",
  "version",
  "data",
] as const;

type Ttl = NonNullable<ThreadRow["ttl"]>;

/** The time to live of a thread, as columns. */
export interface TtlColumns {
  ttl_strategy: Ttl["strategy"] | null;
  ttl_minutes: number | null;
}

/** A run joined with its owner. The owner's columns are null if the owner is unknown. */
export type OwnedRun = Omit<UnfinishedRun, "owner"> & { [Column in keyof Owner]: Owner[Column] | null };

export function unfinishedRun({ run_id, thread_id, id, host, pid, seen_at }: OwnedRun): UnfinishedRun {
  const isKnown = id !== null && host !== null && pid !== null && seen_at !== null;
  return { run_id, thread_id, owner: isKnown ? { id, host, pid, seen_at } : undefined };
}

/**
 * The ORDER BY of a search for runs.
 * @param computed expressions of the fields that are not columns
 */
export function runOrderSql(
  computed: Readonly<Record<"duration" | "tokens", string>>,
  sortBy: RunSortField = "created_at",
  sortOrder: SortOrder = "desc",
): string {
  const field = sortBy === "duration" || sortBy === "tokens" ? computed[sortBy] : sortBy;
  const fields = [...(sortBy === "created_at" ? [] : [field]), "created_at", "run_id"];
  return fields.map((each) => `${each} ${sortOrder === "asc" ? "ASC" : "DESC"}`).join(", ");
}
