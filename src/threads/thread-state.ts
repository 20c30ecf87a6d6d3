/** Reads a thread's state through the graph that made it. */
import { assertPlainData, clientConfigurable } from "../graphs/coerce.js";
import type { ServedGraph, Snapshot } from "../graphs/graph.js";
import { type OutputFilter, UNKEYED } from "../graphs/output-filter.js";
import { toWire } from "../graphs/serialize.js";
import { openInterrupts, readState } from "../graphs/snapshot.js";
import { thrownMessage } from "../graphs/thrown.js";
import { byKey, isRecord, type JsonObject } from "../models/common.js";
import type { Thread, ThreadCreateRequest, ThreadStatus, TtlRequest } from "../models/thread.js";
import { maskSecrets } from "../support/secrets.js";
import type { ThreadRow } from "../storage/contract/storage.js";
import {
  GraphServeError,
  InvalidRequestError,
  type Issue,
  NotFoundError,
  ThreadExistsError,
} from "../support/errors.js";
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

/** A graph that reads a thread: the one that its metadata names, which clients may change. */
export interface Reader {
  id: string;
  graph: ServedGraph;
  /**
   * What may be shown of the thread, whatever reads it. Ask when its state was read: a run notes its graph before it
   * writes anything.
   * @throws NotFoundError when the thread is gone meanwhile (`thread_not_found`)
   */
  filter(): Promise<OutputFilter>;
}

/**
 * A factory is told the thread. What writes needs the graph itself; what reads gets by without.
 * @throws GraphNotLoadedError (`graph_not_loaded`)
 */
export async function readerOf(
  context: OpsContext,
  row: ThreadRow,
  { writes = false } = {},
): Promise<Reader> {
  const { registry, storage } = context;
  const config = {
    configurable: {
      ...(isRecord(row.config.configurable) ? clientConfigurable(row.config.configurable) : {}),
      ...callerConfigurable(context),
      thread_id: row.thread_id,
    },
  };
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

/** The latest snapshot of a thread's root graph. */
export function latestSnapshot({ graph }: Pick<Reader, "graph">, threadId: string): Promise<Snapshot> {
  return readState(graph, { configurable: { thread_id: threadId, checkpoint_ns: "" } });
}

/** Latest visible values and open interrupts of a thread. */
async function threadContent(context: OpsContext, row: ThreadRow): Promise<ThreadContent> {
  if (row.state_updated_at === null) return { values: {}, interrupts: {} };
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
 * As `threadContent`, but a state that cannot be read is shown empty: the stored status is kept, and the log tells
 * why (docs/specification.md#threads, 7).
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

/** Status of a thread on which nothing runs, by its state (after a state write or a copy). */
export function restingStatus(snapshot: Snapshot): ThreadStatus {
  return snapshot.next.length > 0 ? "interrupted" : "idle";
}

/** Namespaces whose checkpoints the latest state, or the one named, needs: the root, and subgraphs that wait in it. */
export async function liveNamespaces(
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
  return ["", ...nestedNamespaces(root)];
}

function nestedNamespaces(snapshot: Snapshot): string[] {
  return snapshot.tasks.flatMap(({ state }) => {
    const config = state as { config?: { configurable?: JsonObject } } | undefined;
    const namespace = config?.config?.configurable?.checkpoint_ns;
    if (typeof namespace !== "string") return [];
    return [namespace, ...nestedNamespaces(state as Snapshot)];
  });
}

/** A graph's refusal of a state write is the client's to mend; what the service threw itself stays as it is. */
export function refusedUpdate(error: unknown, loc: Issue["loc"]): GraphServeError {
  if (error instanceof GraphServeError) return error;
  return InvalidRequestError.at(loc, thrownMessage(error), "update_refused", error);
}

/**
 * Store the row of a new thread, which takes over the checkpoints that are left under its id. Undefined when the id is
 * taken.
 * @throws ThreadExistsError when the thread, or what is left of one, is another's (`thread_exists`)
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
  const row = { ...fresh, scope: fresh.scope ?? scope, graphs };
  if (await threads.insert(row)) return row;
  await assertNotForeign(context, thread_id);
  return undefined;
}

/** What would have to be taken back when the supersteps fail is more than they made. */
const notEmpty = () =>
  InvalidRequestError.at(
    ["body", "supersteps"],
    "this thread_id has checkpoints already: create the thread without supersteps, or take another id",
  );

/** A row for a new thread of the caller's; ids and times are set here. */
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
    ttl: ttlOf(request.ttl),
  };
}

const MINUTE_MS = 60_000;

/** The stored form of a requested time to live: minutes, strategy `delete` unless said otherwise. */
export function ttlOf(request: TtlRequest | null | undefined): ThreadRow["ttl"] {
  if (request == null) return null;
  if (typeof request === "number") return { strategy: "delete", ttl_minutes: request };
  if (request.ttl == null) return null;
  return { strategy: request.strategy ?? "delete", ttl_minutes: request.ttl };
}

/** A thread's time to live as clients see it: it ends so many minutes after the thread's last update. */
function ttlModel(row: ThreadRow): Thread["ttl"] {
  if (!row.ttl) return null;
  const expiresAt = new Date(Date.parse(row.updated_at) + row.ttl.ttl_minutes * MINUTE_MS);
  return { ...row.ttl, expires_at: expiresAt.toISOString() };
}

/**
 * Delete checkpoints, runs and row of a thread whose lock the caller holds, in an order that lets a delete that was
 * cut off be repeated. False when there was no such thread.
 */
export async function removeThread({ storage, timers }: OpsContext, threadId: string): Promise<boolean> {
  await storage.checkpointer.deleteThread(threadId);
  if (timers) await forgetTimers(timers, threadId);
  return storage.threads.delete(threadId);
}

/** Take back a thread that could not be completed; the first error is the one to report. */
export async function forgetThread(context: OpsContext, threadId: string): Promise<void> {
  try {
    await removeThread(context, threadId);
  } catch (error) {
    const fields = { err: error, thread_id: threadId };
    context.logger.error(fields, "an incomplete thread could not be removed");
  }
}
