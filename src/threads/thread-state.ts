/** Reads a thread's state through its graph, and creates and deletes threads. */
import { assertPlainData, clientConfigurable } from "../graphs/coerce.js";
import type { ServedGraph, Snapshot } from "../graphs/graph.js";
import { type OutputFilter, UNKEYED } from "../graphs/output-filter.js";
import { toWire } from "../graphs/serialize.js";
import { isSnapshot, openInterrupts, readState } from "../graphs/snapshot.js";
import { thrownMessage } from "../graphs/thrown.js";
import { byKey, isRecord } from "../models/common.js";
import type { Thread, ThreadCreateRequest, TtlRequest } from "../models/thread.js";
import type { ThreadStatus } from "../models/thread-fields.js";
import { maskSecrets } from "../support/secrets.js";
import type { ThreadRow } from "../storage/contract/threads.js";
import {
  GraphServeError,
  InvalidRequestError,
  NotFoundError,
  StorageUnavailableError,
  ThreadExistsError,
} from "../support/errors.js";
import type { Issue } from "../support/errors/codes.js";
import { newId, requireUuid } from "../support/ids.js";
import { now } from "../storage/rows/rows.js";
import type { OpsContext } from "../context/context.js";
import {
  assertNotForeign,
  callerConfigurable,
  belongsToCaller,
  leftoversOf,
  scopeOf,
  stampScope,
  writersOf,
} from "./thread-origin.js";
import { assertMetadataKeys } from "../context/request-limits.js";
import { forgetTimers } from "../context/timers.js";

type ThreadContent = Pick<Thread, "values" | "interrupts">;

/** The graph that reads a thread: `graph_id` of the thread's metadata, which clients can change. */
export interface Reader {
  id: string;
  graph: ServedGraph;
  /**
   * The output filter of all graphs that have written to the thread, independent of the reading graph. Call it after the
   * state was read: a run records its graph before its first write.
   * @throws NotFoundError if the thread was deleted meanwhile (`thread_not_found`)
   */
  filter(): Promise<OutputFilter>;
}

/**
 * Returns the reader of a thread. A graph factory receives the thread's config. Writes require the loaded graph; reads
 * can use a placeholder.
 * @throws GraphNotLoadedError if the graph is required and not loaded (`graph_not_loaded`)
 */
export async function readerOf(
  context: OpsContext,
  row: ThreadRow,
  { writes = false } = {},
): Promise<Reader> {
  const { registry, storage } = context;
  const config = configOf(context, row);
  const graphId = registry.graphIdOf(row.metadata);
  const bound = await (writes
    ? registry.graph(graphId, "threads.update", config)
    : registry.reader(graphId, config));
  const filter = async () => {
    const latest = await storage.threads.get(row.thread_id);
    if (latest?.created_at !== row.created_at) throw new NotFoundError("thread", row.thread_id);
    return registry.filterAmong(bound, await writersOf(context, latest), config);
  };
  return { id: bound.id, graph: bound.graph, filter };
}

/** The config that a graph factory receives to read a thread. */
export const configOf = (context: OpsContext, row: ThreadRow) => ({
  configurable: {
    ...(isRecord(row.config.configurable) ? clientConfigurable(row.config.configurable) : {}),
    ...(context.caller && callerConfigurable(context.caller)),
    thread_id: row.thread_id,
  },
});

/** The latest snapshot of a thread's root graph. */
export function latestSnapshot({ graph }: Pick<Reader, "graph">, threadId: string): Promise<Snapshot> {
  return readState(graph, { configurable: { thread_id: threadId, checkpoint_ns: "" } });
}

/** Latest visible values and pending interrupts of a thread. */
async function threadContent(context: OpsContext, row: ThreadRow): Promise<ThreadContent> {
  // A row learns of the state at the end of a run: during its first run, a thread already has checkpoints.
  if (row.state_updated_at === null && row.status !== "busy") return { values: {}, interrupts: {} };
  const reader = await readerOf(context, row);
  const snapshot = await latestSnapshot(reader, row.thread_id);
  const filter = await reader.filter();
  const values = toWire(filter.values(snapshot.values));
  return {
    values: isRecord(values) ? values : { [UNKEYED]: values },
    interrupts: openInterrupts(snapshot),
  };
}

/**
 * Like `threadContent`, but empty if the state cannot be read. The stored status is kept and the error is logged
 * (docs/specification.md#threads, 7).
 */
export async function readableContent(context: OpsContext, row: ThreadRow): Promise<ThreadContent> {
  try {
    return await threadContent(context, row);
  } catch (error) {
    context.logger.error(
      { err: error, thread_id: row.thread_id },
      "the thread's checkpoint could not be read",
    );
    return { values: {}, interrupts: {} };
  }
}

export function threadModel(row: ThreadRow, content: ThreadContent): Thread {
  const { thread_id, created_at, updated_at, state_updated_at, metadata, config, status, error } = row;
  return {
    thread_id,
    created_at,
    updated_at,
    state_updated_at,
    metadata: byKey(metadata),
    config: maskSecrets(config),
    status,
    ...content,
    error,
    ttl: ttlModel(row),
  };
}

/** Status of a thread without active runs, derived from its state after a state write or a copy. */
export function restingStatus(snapshot: Snapshot): ThreadStatus {
  return snapshot.next.length > 0 ? "interrupted" : "idle";
}

/**
 * Namespaces that a state depends on: the root, its pending subgraphs, and those of failed tasks, which continue at the
 * node that failed. The latest state by default.
 */
export async function liveNamespaces(
  { storage: { checkpointer } }: OpsContext,
  { graph }: Pick<Reader, "graph">,
  threadId: string,
  checkpointId?: string,
): Promise<string[]> {
  const root = await readState(
    graph,
    {
      configurable: {
        thread_id: threadId,
        checkpoint_ns: "",
        ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
      },
    },
    { subgraphs: true },
  );
  const live = ["", ...nestedNamespaces(root)];
  const failed = failedNamespaces(root);
  if (failed.length === 0) return live;
  const stored = await checkpointer.namespaces(threadId);
  return [...live, ...stored.filter((each) => failed.some((top) => `${each}|`.startsWith(`${top}|`)))];
}

function nestedNamespaces(snapshot: Snapshot): string[] {
  return nestedStates(snapshot).flatMap(([namespace, state]) => [namespace, ...nestedNamespaces(state)]);
}

/** Where subgraphs of failed tasks store: LangGraph does not read their states. */
function failedNamespaces(snapshot: Snapshot, parent = ""): string[] {
  const failed = snapshot.tasks.filter(({ error }) => error != null);
  return [
    ...failed.map(({ name, id }) => `${parent && `${parent}|`}${name}:${id}`),
    ...nestedStates(snapshot).flatMap(([namespace, state]) => failedNamespaces(state, namespace)),
  ];
}

/** The pending subgraphs of a state, with their namespaces. */
function nestedStates(snapshot: Snapshot): [namespace: string, state: Snapshot][] {
  return snapshot.tasks.flatMap(({ state }) => {
    const namespace = isSnapshot(state) ? state.config.configurable?.checkpoint_ns : undefined;
    return isSnapshot(state) && typeof namespace === "string" ? [[namespace, state]] : [];
  });
}

/** Maps an error of the graph to an invalid request. Errors of the service are returned unchanged. */
export function refusedUpdate(error: unknown, loc: Issue["loc"]): GraphServeError {
  if (error instanceof GraphServeError) return error;
  return InvalidRequestError.at(loc, thrownMessage(error), "update_refused", error);
}

/**
 * Stores the row of a new thread, which adopts orphaned checkpoints with its id. Undefined if the caller already has this
 * thread.
 * @throws ThreadExistsError if the thread or its orphaned checkpoints belong to another caller (`thread_exists`)
 */
export async function createThread(
  context: OpsContext,
  request: ThreadCreateRequest,
): Promise<ThreadRow | undefined> {
  const { threads } = context.storage;
  const fresh = newThreadRow(context, request);
  const { thread_id } = fresh;
  if (request.thread_id == null) return (await threads.insert(fresh)) ? fresh : undefined;
  const taken = await threads.get(thread_id);
  if (taken && !belongsToCaller(context, taken)) throw new ThreadExistsError(thread_id);
  if (taken) return undefined;
  const { exist, scope, graphs } = await leftoversOf(context, thread_id);
  if (exist && request.supersteps?.length) throw notEmpty();
  const state_updated_at = exist ? fresh.created_at : null;
  const row = { ...fresh, scope: fresh.scope ?? scope, graphs, state_updated_at };
  if (await threads.insert(row)) return row;
  await assertNotForeign(context, thread_id);
  return undefined;
}

/** Supersteps on existing checkpoints are rejected: a failure could not be rolled back without deleting those. */
const notEmpty = () =>
  InvalidRequestError.at(
    ["body", "supersteps"],
    "this thread_id already has checkpoints: create the thread without supersteps, or use another id",
  );

/** The row of a new thread of the caller, with ids and times. */
export function newThreadRow(context: OpsContext, request: ThreadCreateRequest): ThreadRow {
  const at = now();
  if (request.metadata) assertPlainData(request.metadata, ["body", "metadata"]);
  if (request.metadata) assertMetadataKeys(request.metadata);
  return {
    thread_id: request.thread_id == null ? newId() : requireUuid(request.thread_id, ["body", "thread_id"]),
    created_at: at,
    updated_at: at,
    state_updated_at: null,
    metadata: stampScope(context, request.metadata ?? {}),
    scope: scopeOf(context),
    graphs: [],
    config: {},
    status: "idle",
    error: null,
    ttl: request.ttl == null ? defaultTtl(context) : ttlOf(request.ttl),
  };
}

/** The ttl of a thread that is created without one. */
const defaultTtl = ({ settings: { ttl } }: OpsContext): ThreadRow["ttl"] =>
  ttl?.threads ? { strategy: ttl.threads.strategy ?? "delete", ttl_minutes: ttl.threads.minutes } : null;

/** A sweep that keeps the latest checkpoint removes the ttl. A run that adds checkpoints sets the default again. */
export function renewedTtl(context: OpsContext, row: ThreadRow): Pick<ThreadRow, "ttl"> | undefined {
  return context.settings.ttl?.threads?.strategy === "keep_latest" && !row.ttl
    ? { ttl: defaultTtl(context) }
    : undefined;
}

const MINUTE_MS = 60_000;

/** The stored form of a requested time to live, in minutes. The default strategy is `delete`. Null if none is requested. */
export function ttlOf(request: TtlRequest | null | undefined): ThreadRow["ttl"] {
  if (request == null) return null;
  if (typeof request === "number") return { strategy: "delete", ttl_minutes: request };
  return { strategy: request.strategy ?? "delete", ttl_minutes: request.ttl ?? null };
}

/** A thread's time to live for clients. It expires `ttl_minutes` after the thread's last update. */
function ttlModel(row: ThreadRow): Thread["ttl"] {
  if (row.ttl?.ttl_minutes == null) return null;
  const { strategy, ttl_minutes } = row.ttl;
  const expiresAt = new Date(Date.parse(row.updated_at) + ttl_minutes * MINUTE_MS);
  return { strategy, ttl_minutes, expires_at: expiresAt.toISOString() };
}

/**
 * Deletes checkpoints, timers, runs and row of a thread. Call under the thread's lock. The row is deleted last, so that an
 * interrupted delete can be repeated. False if the thread did not exist.
 * @param updatedAt if set, the row is kept if it has changed since then, or if a run has been accepted (false)
 */
export async function removeThread(
  { storage, timers, onThreadRemoved }: OpsContext,
  threadId: string,
  updatedAt?: string,
): Promise<boolean> {
  await storage.checkpointer.deleteThread(threadId);
  if (timers) await forgetTimers(timers, threadId);
  const isRemoved = await storage.threads.delete(threadId, updatedAt);
  if (isRemoved || updatedAt === undefined) onThreadRemoved?.(threadId);
  return isRemoved;
}

/**
 * Deletes a thread unless it has changed since its row was read, or something runs or will run on it: nothing that was
 * accepted meanwhile is lost. Call under the thread's lock. False if the thread is kept.
 */
export async function removeUnchanged(
  { storage, timers, onThreadRemoved }: OpsContext,
  { thread_id, updated_at }: ThreadRow,
): Promise<boolean> {
  // The row first: what finds it afterwards is refused, and nothing is lost for what came before.
  if (!(await storage.threads.delete(thread_id, updated_at))) return false;
  await storage.checkpointer.deleteThread(thread_id);
  if (timers) await forgetTimers(timers, thread_id);
  onThreadRemoved?.(thread_id);
  return true;
}

/** Rolls back an incomplete thread. Errors are only logged: the caller reports the first one. */
export async function forgetThread(context: OpsContext, threadId: string): Promise<void> {
  try {
    await removeThread(context, threadId);
  } catch (error) {
    const fields = { err: error, thread_id: threadId };
    context.logger.error(fields, "an incomplete thread could not be removed");
  }
}

/** The status of a thread whose run was interrupted, from the thread's state. */
function statusOf(snapshot: Snapshot | undefined): ThreadStatus {
  if (!snapshot) return "error";
  if (snapshot.tasks.some((task) => task.error != null)) return "error";
  if (snapshot.tasks.some((task) => (task.interrupts ?? []).length > 0)) return "interrupted";
  return "idle";
}

/**
 * The status of a thread without a run, from its state; `error` if the state cannot be read.
 * @throws StorageUnavailableError (`storage_unavailable`)
 */
export async function statusByState(context: OpsContext, threadId: string): Promise<ThreadStatus> {
  const { storage, logger } = context;
  try {
    const row = await storage.threads.get(threadId);
    return statusOf(row && (await latestSnapshot(await readerOf(context, row), threadId)));
  } catch (error) {
    if (error instanceof StorageUnavailableError) throw error;
    logger.warn(
      { err: error, thread_id: threadId },
      "the state of a thread whose run was interrupted cannot be read",
    );
    return "error";
  }
}
