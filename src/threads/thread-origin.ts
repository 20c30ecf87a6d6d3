/**
 * Owner of a thread and the graphs that have written to it. Both are stored in its row and its checkpoints, and not in its
 * metadata, which clients can change. Without a caller every thread is visible.
 */
import type { Caller } from "../models/caller.js";
import { byKey, type JsonObject } from "../models/common.js";
import { contains } from "../storage/rows/rows.js";
import type { RunRow } from "../storage/contract/runs.js";
import type { ThreadFilter, ThreadPatch, ThreadRow } from "../storage/contract/threads.js";
import type { Storage } from "../storage/contract/storage.js";
import { NotFoundError, ThreadExistsError } from "../support/errors.js";
import { requireUuid } from "../support/ids.js";
import { pagesOf } from "../support/read-ahead.js";
import { originOf } from "../context/checkpoint-origin.js";

/** On whose behalf an operation reads or writes. */
interface Scoped {
  readonly caller?: Caller;
}

/** The stored threads and runs, and the caller who may see some of them. */
interface StoredThreads extends Scoped {
  readonly storage: Pick<Storage, "threads" | "runs" | "checkpointer">;
}

/** A scope in the format of rows. Equal strings are equal scopes. */
const textOf = ({ scope, owner }: Caller): string => owner ?? JSON.stringify(byKey(scope));

/** Whether the caller's scope is a filter on metadata, which handlers of LangGraph's `Auth` returned. */
const isFiltered = ({ owner }: Caller): boolean => owner !== undefined;

/** The scope of objects that the caller creates. */
export const scopeOf = ({ caller }: Scoped): string | null => (caller ? textOf(caller) : null);

/**
 * Whether the thread is visible to the caller. The complete scope must match. A thread without a scope, created without a
 * user or by release 0.1.0, is matched by its metadata until a user writes to it: see `claim`.
 */
export function belongsToCaller(
  { caller }: Scoped,
  { scope, metadata }: Pick<ThreadRow, "scope" | "metadata">,
): boolean {
  if (!caller) return true;
  return scope == null || isFiltered(caller) ? contains(metadata, caller.scope) : scope === textOf(caller);
}

/** Assigns a thread to the caller that writes to it. */
export const claim = (caller: Caller): Pick<ThreadPatch, "scope"> =>
  isFiltered(caller) ? {} : { scope: textOf(caller) };

/** Adds the caller's scope to the metadata of a new object. */
export function stampScope({ caller }: Scoped, metadata: JsonObject): JsonObject {
  if (!caller) return metadata;
  const stamped = { ...metadata, ...caller.scope };
  for (const [key, value] of Object.entries(caller.scope))
    if (Array.isArray(value)) stamped[key] = withValues(metadata[key], value);
  return stamped;
}

/** The list with the values that a `$contains` filter requires. */
const withValues = (list: unknown, required: readonly unknown[]): unknown[] =>
  Array.isArray(list) ? [...new Set([...(list as unknown[]), ...required])] : [...required];

/** Removes scope keys from metadata to be merged, so that a caller cannot change them; lists keep the required values. */
export function withoutScope({ caller }: Scoped, metadata: JsonObject): JsonObject {
  if (!caller) return metadata;
  const { scope } = caller;
  return Object.fromEntries(
    Object.entries(metadata).flatMap(([key, value]) => {
      if (!Object.hasOwn(scope, key)) return [[key, value]];
      const required: unknown = scope[key];
      return Array.isArray(required) && Array.isArray(value) ? [[key, withValues(value, required)]] : [];
    }),
  );
}

/** Restricts a filter to the caller's threads. */
export function scopeFilter({ caller }: Scoped, filter: ThreadFilter): ThreadFilter {
  if (!caller) return filter;
  // A filter for another scope matches nothing, rather than the caller's own threads.
  const { metadata = {} } = filter;
  const own = stampScope({ caller }, metadata);
  if (!contains(own, metadata)) return { ...filter, ids: [] };
  return { ...filter, metadata: own, ...(!isFiltered(caller) && { scope: textOf(caller) }) };
}

/** The caller under LangGraph's config keys. */
export function callerConfigurable(caller: Caller): JsonObject {
  const { user } = caller;
  if (!isFiltered(caller)) return { langgraph_auth_user: user };
  return {
    langgraph_auth_user: user,
    langgraph_auth_user_id: user.identity,
    langgraph_auth_permissions: user.permissions,
  };
}

/** Root namespace of the caller's long-term memory. Wildcards and characters that labels must not contain are escaped. */
export function storeRoot({ caller }: Scoped): string[] {
  return caller ? [caller.user.identity.replace(/[%.*]/g, encodeLabel)] : [];
}

const encodeLabel = (char: string): string =>
  `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

// Threads that are visible to the caller.

/**
 * The row of the thread in a path. The id is not case-sensitive.
 * @throws InvalidRequestError if the id is not a UUID (`invalid_request`)
 * @throws NotFoundError (`thread_not_found`), also for a thread of another caller
 */
export async function visibleThread(context: StoredThreads, threadId: string): Promise<ThreadRow> {
  const id = requireUuid(threadId, ["path", "thread_id"]);
  const row = await ownThread(context, id);
  if (!row) throw new NotFoundError("thread", id);
  return row;
}

/** The row of a thread; undefined if it does not exist or belongs to another caller. */
export async function ownThread(context: StoredThreads, threadId: string): Promise<ThreadRow | undefined> {
  const row = await context.storage.threads.get(threadId);
  return row && belongsToCaller(context, row) ? row : undefined;
}

/**
 * Checks that a thread id does not belong to another caller. The error reveals nothing about that thread.
 * @throws ThreadExistsError if the thread or its orphaned checkpoints belong to another caller (`thread_exists`)
 */
export async function assertNotForeign(context: StoredThreads, threadId: string): Promise<void> {
  if (!context.caller) return;
  const row = await context.storage.threads.get(threadId);
  if (!row) await leftoversOf(context, threadId);
  else if (!belongsToCaller(context, row)) throw new ThreadExistsError(threadId);
}

// Graphs that have written to a thread, recorded in its row.

/**
 * Ids of the graphs that have written to a thread; null if unknown. For rows of release 0.1.0 they are derived from the
 * runs. They are unknown if the thread has checkpoints but no runs, because the checkpoints were imported.
 */
export async function writersOf(context: StoredThreads, row: ThreadRow): Promise<readonly string[] | null> {
  if (row.graphs != null) return row.graphs;
  const ids = await graphsOfRuns(context, row.thread_id);
  if (ids.length > 0) return ids;
  const { checkpointer } = context.storage;
  return (await checkpointer.namespaces(row.thread_id)).length === 0 ? [] : null;
}

interface ServedGraphs {
  readonly registry: { readonly ids: readonly string[] };
}

/** The writers including `graphId`. If the others are unknown, all served graphs are assumed. */
export async function writersWith(
  context: StoredThreads & ServedGraphs,
  row: ThreadRow,
  graphId: string,
): Promise<readonly string[]> {
  if (row.graphs?.includes(graphId)) return row.graphs;
  const writers = row.graphs ?? (await writersOf(context, row)) ?? context.registry.ids;
  return [...new Set([...writers, graphId])].sort();
}

/**
 * Records a graph before it writes to the thread. Call under the thread's lease.
 * @returns all writers of the thread
 */
export async function noteWriter(
  context: StoredThreads & ServedGraphs,
  row: ThreadRow,
  graphId: string,
): Promise<readonly string[]> {
  const graphs = await writersWith(context, row, graphId);
  await noteWriters(context, row, graphs);
  return graphs;
}

/** Stores the writers in the row before the runs that they are derived from are deleted. */
export async function keepWriters(context: StoredThreads, row: ThreadRow): Promise<void> {
  if (row.graphs == null) await noteWriters(context, row, await writersOf(context, row));
}

async function noteWriters({ storage }: StoredThreads, row: ThreadRow, graphs: ThreadRow["graphs"]) {
  if (graphs === row.graphs) return;
  await storage.threads.update(row.thread_id, { updated_at: row.updated_at, graphs });
}

async function graphsOfRuns({ storage }: StoredThreads, threadId: string): Promise<string[]> {
  const ids = new Set<string>();
  for await (const runs of pagesOf((page) => storage.runs.list({ threadId, ...page })))
    for (const { metadata } of runs) if (typeof metadata.graph_id === "string") ids.add(metadata.graph_id);
  return [...ids].sort();
}

/*
 * Orphaned checkpoints, without a thread row: the row was lost with the process (Redis), a delete was interrupted, or an
 * application wrote them. A thread that is created with their id adopts them.
 */

interface Leftovers extends Pick<ThreadRow, "scope" | "graphs"> {
  /** Whether there are orphaned checkpoints. */
  exist: boolean;
}

/**
 * Scope and writers from orphaned checkpoints; the values of a new thread if there are none.
 * @throws ThreadExistsError if the checkpoints belong to another caller (`thread_exists`)
 */
export async function leftoversOf(context: StoredThreads, threadId: string): Promise<Leftovers> {
  const { checkpointer } = context.storage;
  const graphs = new Set<string>();
  let exist = false;
  let isKnown = true;
  let scope: string | null = null;
  for (const checkpoint_ns of await checkpointer.namespaces(threadId)) {
    const tuple = await checkpointer.getTuple({ configurable: { thread_id: threadId, checkpoint_ns } });
    if (!tuple) continue;
    exist = true;
    const origin = originOf(tuple.metadata);
    const owner = { scope: origin?.scope ?? null, metadata: { ...tuple.metadata } };
    if (!ownsLeftovers(context, owner)) throw new ThreadExistsError(threadId);
    scope ??= owner.scope;
    // Pending writes may come from a graph that has no checkpoint here yet.
    if (!origin || (tuple.pendingWrites ?? []).length > 0) isKnown = false;
    for (const id of origin?.graphs ?? []) graphs.add(id);
  }
  return { exist, scope, graphs: isKnown ? [...graphs].sort() : null };
}

/** Checkpoints have no metadata of their thread, so a filter cannot match them: their owner is compared. */
const ownsLeftovers = (context: Scoped, owner: Pick<ThreadRow, "scope" | "metadata">): boolean =>
  belongsToCaller(context, owner) || (owner.scope !== null && owner.scope === scopeOf(context));

// Runs of visible threads.

/**
 * The row of the run in a path.
 * @throws InvalidRequestError if an id is not a UUID (`invalid_request`)
 * @throws NotFoundError (`run_not_found`), also for a run of another thread or another caller
 */
export async function runRow(context: StoredThreads, threadId: string, runId: string): Promise<RunRow> {
  const id = requireUuid(runId, ["path", "run_id"]);
  const thread = requireUuid(threadId, ["path", "thread_id"]);
  const isVisible = !context.caller || (await ownThread(context, thread)) !== undefined;
  const row = isVisible ? await context.storage.runs.get(thread, id) : undefined;
  if (!row) throw new NotFoundError("run", id);
  return row;
}
