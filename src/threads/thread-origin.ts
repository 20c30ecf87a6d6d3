/**
 * What the server knows of a thread apart from its metadata, of which clients write what they like: whose it is, and
 * which graphs have written to it. Its row says it, and so do its checkpoints. Without a caller every thread may be
 * known of.
 */
import type { Caller } from "../models/caller.js";
import { byKey, type JsonObject } from "../models/common.js";
import { contains } from "../storage/rows/rows.js";
import type { RunRow, ThreadFilter, ThreadPatch, ThreadRow } from "../storage/contract/storage.js";
import type { OpsContext } from "../context/context.js";
import { NotFoundError, ThreadExistsError } from "../support/errors.js";
import { requireUuid } from "../support/ids.js";
import { maskSecrets } from "../support/secrets.js";
import type { Run } from "../models/run.js";
import { originOf } from "../context/run-checkpointer.js";

type Scoped = Pick<OpsContext, "caller">;

/** A scope as rows keep it: equal texts are equal scopes. */
const textOf = ({ scope }: Caller): string => JSON.stringify(byKey(scope));

/** The scope of what the caller makes. */
export const scopeOf = ({ caller }: Scoped): string | null => (caller ? textOf(caller) : null);

/**
 * Whether the caller may know of it: the whole scope counts. What no user made, or release 0.1.0 stored, has none; it is
 * the caller's when its metadata says so, until a user writes to it: see `claim`.
 */
export function belongsToCaller(
  { caller }: Scoped,
  { scope, metadata }: Pick<ThreadRow, "scope" | "metadata">,
): boolean {
  if (!caller) return true;
  return scope == null ? contains(metadata, caller.scope) : scope === textOf(caller);
}

/** A thread that a caller writes to is its own from then on. */
export const claim = ({ caller }: Scoped): Pick<ThreadPatch, "scope"> =>
  caller ? { scope: textOf(caller) } : {};

/** Metadata of something that the caller creates. */
export function stampScope({ caller }: Scoped, metadata: JsonObject): JsonObject {
  return caller ? { ...metadata, ...caller.scope } : metadata;
}

/** Metadata that is merged into a thread's: what it says of the caller stays as it was. */
export function withoutScope({ caller }: Scoped, metadata: JsonObject): JsonObject {
  if (!caller) return metadata;
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !Object.hasOwn(caller.scope, key)));
}

/** The filter, kept to the caller's threads. */
export function scopeFilter({ caller }: Scoped, filter: ThreadFilter): ThreadFilter {
  if (!caller) return filter;
  // Who asks for the threads of another scope gets none, not its own.
  const { metadata = {} } = filter;
  const own = stampScope({ caller }, metadata);
  return contains(own, metadata)
    ? { ...filter, metadata: own, scope: textOf(caller) }
    : { ...filter, ids: [] };
}

/** The caller, under the name that graphs know from LangGraph. */
export function callerConfigurable({ caller }: Scoped): JsonObject {
  return caller ? { langgraph_auth_user: caller.user } : {};
}

/** Where the caller's long-term memory begins. The characters that labels may not have, or that match any, are escaped. */
export function storeRoot({ caller }: Scoped): string[] {
  return caller ? [caller.user.identity.replace(/[%.*]/g, encodeLabel)] : [];
}

const encodeLabel = (char: string): string =>
  `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

// Threads that the caller may know of.

/**
 * The row of the thread that a path names, in any letter case.
 * @throws InvalidRequestError when it is no UUID (`invalid_request`)
 * @throws NotFoundError (`thread_not_found`), for a thread of another caller too
 */
export async function visibleThread(context: OpsContext, threadId: string): Promise<ThreadRow> {
  const id = requireUuid(threadId, ["path", "thread_id"]);
  const row = await ownThread(context, id);
  if (!row) throw new NotFoundError("thread", id);
  return row;
}

/** The row of a thread; undefined when there is none, or it is none of the caller's. */
export async function ownThread(context: OpsContext, threadId: string): Promise<ThreadRow | undefined> {
  const row = await context.storage.threads.get(threadId);
  return row && belongsToCaller(context, row) ? row : undefined;
}

/**
 * An id that is taken cannot be created; of whose thread it is, and what is on it, the caller learns nothing.
 * @throws ThreadExistsError when the thread, or what is left of one, is another's (`thread_exists`)
 */
export async function assertNotForeign(context: OpsContext, threadId: string): Promise<void> {
  if (!context.caller) return;
  const row = await context.storage.threads.get(threadId);
  if (!row) await leftoversOf(context, threadId);
  else if (!belongsToCaller(context, row)) throw new ThreadExistsError(threadId);
}

// Which graphs have written to a thread: the server notes it in the row.

/** Runs that are read at once. */
const PAGE = 100;

/**
 * Ids of the graphs; null when nobody knows them. A row of release 0.1.0 does not say it, but its runs do. Checkpoints
 * that no run of this server is known to have written were brought here from elsewhere.
 */
export async function writersOf(context: OpsContext, row: ThreadRow): Promise<readonly string[] | null> {
  if (row.graphs != null) return row.graphs;
  const ids = await graphsOfRuns(context, row.thread_id);
  if (ids.length > 0) return ids;
  const { checkpointer } = context.storage;
  return (await checkpointer.namespaces(row.thread_id)).length === 0 ? [] : null;
}

/** The graphs once this one will write too. Where nobody knows the others, each that is served may be one. */
export async function writersWith(
  context: OpsContext,
  row: ThreadRow,
  graphId: string,
): Promise<readonly string[]> {
  if (row.graphs?.includes(graphId)) return row.graphs;
  const writers = (await writersOf(context, row)) ?? context.registry.ids;
  return [...new Set([...writers, graphId])].sort();
}

/** Note a graph before it writes to the thread; the caller holds the thread's lease. Returns all of its writers. */
export async function noteWriter(
  context: OpsContext,
  row: ThreadRow,
  graphId: string,
): Promise<readonly string[]> {
  const graphs = await writersWith(context, row, graphId);
  await noteWriters(context, row, graphs);
  return graphs;
}

/** Keep what is known, before that goes from which it is known. */
export async function keepWriters(context: OpsContext, row: ThreadRow): Promise<void> {
  if (row.graphs == null) await noteWriters(context, row, await writersOf(context, row));
}

async function noteWriters({ storage }: OpsContext, row: ThreadRow, graphs: ThreadRow["graphs"]) {
  if (graphs === row.graphs) return;
  await storage.threads.update(row.thread_id, { updated_at: row.updated_at, graphs });
}

async function graphsOfRuns({ storage }: OpsContext, threadId: string): Promise<string[]> {
  const ids = new Set<string>();
  for (let offset = 0; ; offset += PAGE) {
    const runs = await storage.runs.list({ threadId, limit: PAGE, offset });
    for (const { metadata } of runs) if (typeof metadata.graph_id === "string") ids.add(metadata.graph_id);
    if (runs.length < PAGE) return [...ids].sort();
  }
}

/*
 * Checkpoints that no thread's row belongs to: rows may end with the process (Redis), a delete may have been cut off, an
 * application may have written them. The thread that is created under their id takes them over.
 */

interface Leftovers extends Pick<ThreadRow, "scope" | "graphs"> {
  /** False for an id with nothing under it. */
  exist: boolean;
}

/**
 * What such checkpoints say of the thread that they are of; what is true of a new one when there are none.
 * @throws ThreadExistsError when they are not the caller's (`thread_exists`)
 */
export async function leftoversOf(context: OpsContext, threadId: string): Promise<Leftovers> {
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
    if (!belongsToCaller(context, owner)) throw new ThreadExistsError(threadId);
    scope ??= owner.scope;
    // What waits to become a checkpoint may be of a graph that has none here yet.
    if (!origin || (tuple.pendingWrites ?? []).length > 0) isKnown = false;
    for (const id of origin?.graphs ?? []) graphs.add(id);
  }
  return { exist, scope, graphs: isKnown ? [...graphs].sort() : null };
}

// Runs of such threads.

/**
 * The row of the run that a path names.
 * @throws InvalidRequestError when an id is no UUID (`invalid_request`)
 * @throws NotFoundError (`run_not_found`), also for a run of another thread, and on a thread of another caller
 */
export async function runRow(context: OpsContext, threadId: string, runId: string): Promise<RunRow> {
  const id = requireUuid(runId, ["path", "run_id"]);
  const thread = requireUuid(threadId, ["path", "thread_id"]);
  const isVisible = !context.caller || (await ownThread(context, thread)) !== undefined;
  const row = isVisible ? await context.storage.runs.get(thread, id) : undefined;
  if (!row) throw new NotFoundError("run", id);
  return row;
}

/** The run as clients see it: what it threw is told by its message alone. */
export function runModel({
  owner: _1,
  fault: _2,
  tasks: _3,
  resumption: _4,
  attempt = 1,
  ...run
}: RunRow): Run {
  return { ...run, attempt, kwargs: maskedKwargs(run.kwargs) };
}

/** The kwargs of a row that was not made here, such as one of a file or of an earlier release. */
export function maskedKwargs({ config, context, ...others }: JsonObject): JsonObject {
  return {
    ...others,
    ...(config !== undefined && { config: maskSecrets(config) }),
    ...(context !== undefined && { context: maskSecrets(context) }),
  };
}
