/** Conversion of rows to and from columns of PostgreSQL. */
import { storableJson } from "../../models/json.js";
import type { StoredPreview } from "../../models/thread-fields.js";
import { expiryOf } from "../rows/rows.js";
import type { TtlColumns } from "../rows/sql-rows.js";
import type { RunRow } from "../contract/runs.js";
import type { ThreadRow } from "../contract/threads.js";

/** A thread as columns. pg parses JSON columns itself. */
export interface ThreadColumns extends Omit<ThreadRow, "ttl" | "preview">, TtlColumns {
  preview: StoredPreview | null;
}

/** In the order of `THREAD_COLUMNS`. */
export const toThreadColumns = (row: ThreadRow): unknown[] => [
  row.thread_id,
  row.created_at,
  row.updated_at,
  row.state_updated_at,
  toJsonColumn(row.metadata),
  toJsonColumn(row.config),
  row.status,
  row.error === null ? null : storable(row.error),
  row.ttl?.strategy ?? null,
  row.ttl?.ttl_minutes ?? null,
  expiryOf(row),
  row.scope,
  row.graphs && toJsonColumn(row.graphs),
  row.preview ? toJsonColumn(row.preview) : null,
];

export function fromThreadColumns(stored: ThreadColumns): ThreadRow {
  const { thread_id, created_at, updated_at, state_updated_at, metadata, config, status, error } = stored;
  const { scope, graphs, ttl_strategy: strategy, ttl_minutes, preview } = stored;
  return {
    thread_id,
    created_at,
    updated_at,
    state_updated_at,
    metadata,
    scope,
    graphs,
    config,
    status,
    error,
    ttl: strategy && { strategy, ttl_minutes },
    ...(preview && { preview }),
  };
}

/** In the order of `RUN_COLUMNS`. */
export const toRunColumns = (row: RunRow): unknown[] => [
  row.run_id,
  row.thread_id,
  row.assistant_id,
  row.created_at,
  row.updated_at,
  row.status,
  toJsonColumn(row.metadata),
  toJsonColumn(row.kwargs),
  row.multitask_strategy,
  row.error === null ? null : storable(row.error),
  row.usage && toJsonColumn(row.usage),
  row.state,
  row.owner,
  row.fault ? toJsonColumn(row.fault) : null,
  row.attempt,
  row.resumption ? toJsonColumn(row.resumption) : null,
  row.tasks ? toJsonColumn(row.tasks) : null,
];

/**
 * SQL assignments that patch a thread; `patch` is an expression of type json. The expiry is computed from the new
 * `updated_at` and the new time to live.
 */
export function threadAssignments(patch: string): string {
  const given = (key: string) => `(${patch} -> '${key}') IS NOT NULL`;
  const ttl = (column: string, key: string, cast = "") =>
    `CASE WHEN ${given("ttl")} THEN (${patch} -> 'ttl' ->> '${key}')${cast} ELSE t.${column} END`;
  const minutes = ttl("ttl_minutes", "ttl_minutes", "::float8");
  return `updated_at = ${patch} ->> 'updated_at',
    state_updated_at = CASE WHEN ${given("state_updated_at")} THEN ${patch} ->> 'state_updated_at' ELSE t.state_updated_at END,
    metadata = CASE WHEN ${given("mergeMetadata")} THEN t.metadata || (${patch} -> 'mergeMetadata')::jsonb ELSE t.metadata END,
    scope = coalesce(${patch} ->> 'scope', t.scope),
    graphs = coalesce(${patch} -> 'graphs', t.graphs),
    preview = coalesce(${patch} -> 'preview', t.preview),
    config = coalesce(${patch} -> 'config', t.config),
    status = coalesce(${patch} ->> 'status', t.status),
    error = CASE WHEN ${given("error")} THEN ${patch} ->> 'error' ELSE t.error END,
    ttl_strategy = ${ttl("ttl_strategy", "strategy")},
    ttl_minutes = ${minutes},
    expires_at = 1000 * extract(epoch FROM (${patch} ->> 'updated_at')::timestamptz) + 60000 * (${minutes})`;
}

/** SQL assignments that patch a run; `patch` is an expression of type json. */
export function runAssignments(patch: string): string {
  const given = (key: string) => `(${patch} -> '${key}') IS NOT NULL`;
  const json = (key: string) =>
    `${key} = CASE WHEN (${patch} -> '${key}') IS NULL THEN r.${key}
      WHEN json_typeof(${patch} -> '${key}') = 'null' THEN NULL ELSE ${patch} -> '${key}' END`;
  return `updated_at = ${patch} ->> 'updated_at',
    status = coalesce(${patch} ->> 'status', r.status),
    error = CASE WHEN ${given("error")} THEN ${patch} ->> 'error' ELSE r.error END,
    ${json("usage")},
    ${json("fault")},
    state = coalesce(${patch} ->> 'state', r.state),
    owner = CASE WHEN ${given("owner")} THEN ${patch} ->> 'owner' ELSE r.owner END,
    attempt = coalesce((${patch} ->> 'attempt')::integer, r.attempt),
    ${json("resumption")},
    ${json("tasks")}`;
}

export const toJsonColumn = (value: unknown): string => storableJson(JSON.stringify(value));

const storable = (text: string): string => text.replaceAll("\0", "\uFFFD");
