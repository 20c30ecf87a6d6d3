/** Rules for rows that all backends share: patches, filters, expiry. */
import { isRecord, type JsonObject } from "../../models/json.js";
import type { RunSortField } from "../../models/run.js";
import { isFinished } from "../../models/run-status.js";
import { reportedTokens } from "../../models/token-counts.js";
import type { RunHolder, RunLease, RunPatch, RunRow, RunSearch } from "../contract/runs.js";
import type { ThreadPatch, ThreadRow } from "../contract/threads.js";

/** The current time as stored in rows: ISO 8601 UTC with milliseconds. */
export const now = (): string => new Date().toISOString();

/** Compares texts in the order of their UTF-16 code units, in which ids and times sort too. */
export const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Whether a thread has not changed since this `updated_at` and nothing runs or will run on it; see `ThreadTable.delete`. */
export const isUnused = (
  row: ThreadRow,
  runs: readonly Pick<RunRow, "status">[],
  updatedAt: string,
): boolean => row.updated_at === updatedAt && row.status !== "busy" && runs.every(isFinished);

export const isHeldBy = (run: RunLease, { owner, attempt, state = run.state }: RunHolder): boolean =>
  run.owner === owner && run.attempt === attempt && run.state === state;

/**
 * Whether a row matches the scope of a filter. A row without a scope always matches.
 * @param row a thread row
 * @param wanted the scope of the filter; undefined matches every row
 * @returns true if it matches
 * @example
 * ```ts
 * import { inScope } from "graph-serve";
 * import { thread } from "./rows.js";
 *
 * inScope({ ...thread, scope: "ada" }, "ada"); // => true
 * inScope({ ...thread, scope: "ada" }, "grace"); // => false
 * inScope({ ...thread, scope: null }, "grace"); // => true
 * ```
 */
export const inScope = ({ scope }: ThreadRow, wanted: string | undefined): boolean =>
  wanted === undefined || scope == null || scope === wanted;

/** The fields that runs are sorted by. */
type SortedRun = Pick<RunRow, "run_id" | "status" | "created_at" | "updated_at" | "usage">;

/** A run that has not ended counts as the shortest. */
function sortValue(run: SortedRun, field: RunSortField): string | number {
  if (field === "tokens") return reportedTokens(run.usage).total_tokens;
  if (field !== "duration") return run[field];
  return isFinished(run) ? Date.parse(run.updated_at) - Date.parse(run.created_at) : -1;
}

/** Whether a queued run is taken to be executed. */
export const isStart = (from: RunHolder, to: RunLease): boolean =>
  from.state === "queued" && to.state === "running";

/** Sorts runs of a thread in the order in which they were accepted. */
export const acceptanceKey = ({ created_at, run_id }: Pick<RunRow, "created_at" | "run_id">): string =>
  `${created_at} ${run_id}`;

/** Compares runs in the order of a search: by default, newest first. */
export function runOrder({ sortBy = "created_at", sortOrder }: Pick<RunSearch, "sortBy" | "sortOrder">) {
  const sign = sortOrder === "asc" ? 1 : -1;
  const parts = [(run: SortedRun) => sortValue(run, sortBy), acceptanceKey];
  return (a: SortedRun, b: SortedRun): number => {
    for (const part of parts) {
      const [first, second] = [part(a), part(b)];
      if (first !== second) return first < second ? -sign : sign;
    }
    return 0;
  };
}

/** Whether a run matches a search, apart from its thread. */
export const matchesRun = (
  { assistant_id, status, created_at }: RunRow,
  wanted: Pick<RunSearch, "assistantIds" | "status" | "createdAfter" | "createdBefore">,
): boolean =>
  (wanted.assistantIds?.includes(assistant_id) ?? true) &&
  (wanted.status ?? status) === status &&
  created_at >= (wanted.createdAfter ?? created_at) &&
  (wanted.createdBefore === undefined || created_at < wanted.createdBefore);

/**
 * Applies a patch to a thread row. `mergeMetadata` is merged into the metadata, key by key.
 * @param row the stored row, which is not changed
 * @param patch its changes; fields that are undefined keep their values
 * @returns the patched row
 * @example
 * ```ts
 * import { patchThread } from "graph-serve";
 * import { thread } from "./rows.js";
 *
 * const row = { ...thread, metadata: { project: "demo" } };
 * const patch = { updated_at: "2026-01-01T00:00:01.000Z", mergeMetadata: { user: "ada" } };
 * patchThread(row, patch).metadata; // => { project: "demo", user: "ada" }
 * ```
 */
export const patchThread: (row: ThreadRow, patch: ThreadPatch) => ThreadRow = patchRow;

/**
 * Applies a patch to a run row.
 * @param row the stored row, which is not changed
 * @param patch its changes; fields that are undefined keep their values
 * @returns the patched row
 * @example
 * ```ts
 * import { patchRun } from "graph-serve";
 * import { run } from "./rows.js";
 *
 * const patch = { status: "running", updated_at: "2026-01-01T00:00:01.000Z" } as const;
 * patchRun(run, patch); // => { ...run, ...patch }
 * ```
 */
export const patchRun: (row: RunRow, patch: RunPatch) => RunRow = patchRow;

/**
 * When a thread expires.
 * @param row a thread row with its time to live, in minutes
 * @returns milliseconds since 1970; null for never
 * @example
 * ```ts
 * import { expiryOf } from "graph-serve";
 * import { thread } from "./rows.js";
 *
 * const ttl = { strategy: "delete", ttl_minutes: 60 } as const;
 * expiryOf({ ...thread, updated_at: "2026-01-01T00:00:00.000Z", ttl }); // => Date.UTC(2026, 0, 1, 1)
 * expiryOf({ ...thread, ttl: null }); // => null
 * ```
 */
export function expiryOf({ updated_at, ttl }: ThreadRow): number | null {
  return ttl?.ttl_minutes == null ? null : Date.parse(updated_at) + ttl.ttl_minutes * 60_000;
}

function patchRow<Row extends Pick<ThreadRow, "metadata">>(
  row: Row,
  patch: Partial<Row> & Pick<ThreadPatch, "mergeMetadata">,
): Row {
  const { mergeMetadata, ...fields } = patch;
  const patched: JsonObject = { ...row };
  for (const [field, value] of Object.entries(fields)) if (value !== undefined) patched[field] = value;
  if (mergeMetadata) patched.metadata = { ...row.metadata, ...mergeMetadata };
  return patched as Row;
}

/**
 * Whether `value` contains `filter`, with the semantics of PostgreSQL's `@>`: an object contains every
 * key of the filter, with a value that contains the filter's value; an array contains every element of
 * the filter in some element; a scalar is equal.
 * @param value a JSON value, such as the metadata of a row
 * @param filter the JSON value to look for
 * @returns true if it is contained
 * @example
 * ```ts
 * import { contains } from "graph-serve";
 *
 * contains({ project: "demo", tags: ["a", "b"] }, { tags: ["b"] }); // => true
 * contains({ project: "demo" }, { project: "other" }); // => false
 * ```
 */
export function contains(value: unknown, filter: unknown): boolean {
  return containing(filter)(value);
}

/**
 * `contains` for one filter and many values: prepares the filter once. Filters are bounded (src/context/request-limits.ts),
 * so each part is compared with each part of the value.
 */
export function containing(filter: unknown): (value: unknown) => boolean {
  if (Array.isArray(filter)) {
    const parts = filter.map(containing);
    return (value) => Array.isArray(value) && parts.every((part) => value.some(part));
  }
  if (!isRecord(filter)) return (value) => value === filter;
  const tests = Object.keys(filter).map((key) => [key, containing(filter[key])] as const);
  return (value) =>
    isRecord(value) && tests.every(([key, test]) => Object.hasOwn(value, key) && test(value[key]));
}

// Labels ("facts" in tables and documents) are the indexed part of metadata. Each top-level metadata entry with a scalar
// value is a label, stored as the JSON text `["key",value]`, so that keys and values need no escaping.

/** Longer labels, in characters, are not indexed: they are content, not search terms. */
const MAX_LABEL_LENGTH = 512;

/** The labels of a thread's metadata. */
export const labelsOf = (metadata: JsonObject): string[] => splitFilter(metadata).facts;

/** Splits a filter into the labels to look up and the rest, which `contains()` must test; undefined if nothing remains. */
export function splitFilter(filter: JsonObject): { facts: string[]; rest: JsonObject | undefined } {
  const facts: string[] = [];
  const rest: [string, unknown][] = [];
  for (const [key, value] of Object.entries(filter)) {
    const isScalar = value === null || (value !== undefined && typeof value !== "object");
    const label = isScalar ? JSON.stringify([key, value]) : undefined;
    if (label !== undefined && label.length <= MAX_LABEL_LENGTH) facts.push(label);
    else rest.push([key, value]);
  }
  return { facts, rest: rest.length > 0 ? Object.fromEntries(rest) : undefined };
}
