/** Exports a thread's stored checkpoints to files and imports them, so that the thread can continue in another storage. */
import type { Checkpoint, CheckpointTuple, PendingWrite } from "@langchain/langgraph-checkpoint";
import { assertPlainData, coerceValues } from "../graphs/coerce.js";
import { filterAt, INTERRUPT_KEY, type OutputFilter, PASS_ALL } from "../graphs/output-filter.js";
import { fromStored, toStored, visibleCheckpoint } from "../graphs/stored-values.js";
import { previewOfState } from "../graphs/thread-preview.js";
import { byKey, isRecord, type JsonObject } from "../models/common.js";
import { leftoversOf, scopeOf, stampScope } from "./thread-origin.js";
import { maskedKwargs } from "../storage/rows/run-rows.js";
import { countsOf, originOf, withOrigin } from "../context/checkpoint-origin.js";
import type { Run } from "../models/run.js";
import { isFinished } from "../models/run-status.js";
import type { ThreadState, ThreadTask } from "../models/state.js";
import { MAX_TTL_MINUTES, type Thread, type ThreadCreateRequest } from "../models/thread.js";
import type { StoredCheckpoint, ThreadFile } from "../models/thread-file.js";
import { maskSecrets } from "../support/secrets.js";
import { type CheckpointPart, readCheckpoints, writeThread } from "../storage/copy/thread-parts.js";
import { tupleOf } from "../storage/saver/tuple.js";
import type { RunRow } from "../storage/contract/runs.js";
import type { Checkpointer } from "../storage/contract/checkpointer.js";
import type { ThreadRow } from "../storage/contract/threads.js";
import { InvalidRequestError, ThreadExistsError } from "../support/errors.js";
import { newIdLike, requireUuid } from "../support/ids.js";
import { compareTexts, now } from "../storage/rows/rows.js";
import type { OpsContext } from "../context/context.js";
import { assertMetadataKeys } from "../context/request-limits.js";
import { newThreadRow, readerOf } from "./thread-state.js";

/** Checkpoints by namespace, root first, and oldest first in each namespace. Only one is in memory at a time. */
export async function* storedCheckpoints(
  context: OpsContext,
  row: ThreadRow,
): AsyncGenerator<StoredCheckpoint> {
  const filter = await (await readerOf(context, row)).filter();
  // Versions are unique, because another backend may store values by version.
  for await (const { tuple } of readCheckpoints(context.storage.checkpointer, row.thread_id))
    yield await storedOf(tuple, filterAt(filter, String(tuple.config.configurable?.checkpoint_ns ?? "")));
}

async function storedOf(
  { checkpoint, config, metadata, parentConfig, pendingWrites = [] }: CheckpointTuple,
  filter: OutputFilter,
): Promise<StoredCheckpoint> {
  const { id, v, ts, channel_values, channel_versions, versions_seen } = checkpoint;
  // A value without a version is an initial value of the graph, which not every backend stores.
  const values = Object.entries((await toStored(channel_values)) as JsonObject).filter(([channel]) =>
    Object.hasOwn(channel_versions, channel),
  );
  const writes = (await toStored(pendingWrites)) as StoredCheckpoint["writes"];
  const stored = {
    checkpoint_ns: String(config.configurable?.checkpoint_ns ?? ""),
    checkpoint_id: id,
    parent_checkpoint_id: (parentConfig?.configurable?.checkpoint_id as string | undefined) ?? null,
    v,
    ts,
    metadata: byKey((await toStored(metadata ?? {})) as JsonObject),
    channel_values: Object.fromEntries(values.sort(([a], [b]) => compareTexts(a, b))),
    channel_versions: byKey(channel_versions),
    versions_seen: byKey(versions_seen),
    // Tasks end in any order. The sort is stable, so the writes of each task keep their order.
    writes: writes.sort(([a], [b]) => compareTexts(a, b)),
  };
  return visibleCheckpoint(stored, filter);
}

/** @throws InvalidRequestError if its values are invalid (`invalid_request`) */
async function partOfStored(
  threadId: string,
  stored: StoredCheckpoint,
  runIds: ReadonlyMap<unknown, string>,
): Promise<CheckpointPart> {
  const { checkpoint_ns, checkpoint_id: id, v, ts, channel_versions, versions_seen } = stored;
  const loc = ["checkpoints", id];
  const channel_values = (await fromStored(stored.channel_values, loc)) as Checkpoint["channel_values"];
  const pendingWrites = (await fromStored(stored.writes, loc)) as [string, string, unknown][];
  const metadata = ofThread((await fromStored(stored.metadata, loc)) as JsonObject, threadId, runIds);
  const checkpoint = { v, id, ts, channel_values, channel_versions, versions_seen };
  const parts = { id, parent: stored.parent_checkpoint_id, checkpoint, metadata, pendingWrites };
  return { tuple: tupleOf({ thread_id: threadId, checkpoint_ns }, parts), newVersions: channel_versions };
}

/** Replaces the thread id and run id in metadata by the ids in this storage. */
function ofThread(metadata: JsonObject, threadId: string, runIds: ReadonlyMap<unknown, string>): JsonObject {
  const { thread_id, run_id } = metadata;
  return {
    ...metadata,
    ...(thread_id !== undefined && { thread_id: threadId }),
    ...(run_id !== undefined && { run_id: runIds.get(run_id) ?? run_id }),
  };
}

// Reconstructs a checkpoint from a client's state: a graph can continue from the values and the next nodes.

const START = "__start__";
/** Channel with the result of a functional entrypoint, whose state has no keys. */
const RESULT = "__end__";
/** The channel that triggers a node in LangGraph. */
const triggerOf = (name: string): string => (name === START ? START : `branch:to:${name}`);

/** @throws InvalidRequestError if the state cannot be stored (`invalid_request`) */
function partOfState(
  checkpointer: Checkpointer,
  threadId: string,
  state: ThreadState,
  runIds: ReadonlyMap<unknown, string>,
): CheckpointPart {
  const id = state.checkpoint?.checkpoint_id ?? "";
  const checkpoint_ns = state.checkpoint?.checkpoint_ns ?? "";
  const channel_values = channelsOf(state, ["states", id]);
  const version = checkpointer.getNextVersion(undefined);
  const newVersions = Object.fromEntries(Object.keys(channel_values).map((name) => [name, version]));
  const { run_id, run_attempt: _, ...own } = state.metadata;
  assertPlainData(own, ["states", id, "metadata"]);
  const tuple = tupleOf(
    { thread_id: threadId, checkpoint_ns },
    {
      id,
      parent: state.parent_checkpoint?.checkpoint_id ?? null,
      checkpoint: {
        ...{ v: 4, id, ts: state.created_at ?? now(), channel_values },
        ...{ channel_versions: newVersions, versions_seen: {} },
      },
      metadata: {
        ...{ source: "loop", step: 0, parents: {}, ...own, thread_id: threadId },
        ...(typeof run_id === "string" && { run_id: runIds.get(run_id) ?? run_id }),
      },
      pendingWrites: state.tasks.flatMap((task) =>
        writesOf(task).map(([channel, value]): [string, string, unknown] => [task.id, channel, value]),
      ),
    },
  );
  return { tuple, newVersions };
}

/** State keys, and the channels that trigger the next nodes. */
function channelsOf({ values, next, tasks }: ThreadState, loc: string[]): JsonObject {
  const coerced = coerceValues(values ?? {}, loc, "recognised");
  const channels: JsonObject = isRecord(coerced) ? { ...coerced } : { [RESULT]: coerced };
  for (const name of next) {
    const result = tasks.find((task) => task.name === name)?.result;
    channels[triggerOf(name)] = name === START ? coerceValues(result ?? {}, loc, "recognised") : null;
  }
  return channels;
}

function writesOf({ interrupts, error }: ThreadTask): PendingWrite[] {
  assertPlainData(interrupts, ["interrupts"]);
  return [
    ...interrupts.map((interrupt): PendingWrite => [INTERRUPT_KEY, interrupt]),
    ...(error == null ? [] : [["__error__", errorOf(error)] as PendingWrite]),
  ];
}

function errorOf(text: string): unknown {
  try {
    const error = JSON.parse(text) as unknown;
    assertPlainData(error, ["error"]);
    return error;
  } catch {
    return { name: "Error", message: text };
  }
}

// Imports a thread from a file: from its stored checkpoints if the file contains them, otherwise from client states.

/**
 * Imports a thread, or rolls back on an error.
 * @throws ThreadExistsError if a thread or orphaned checkpoints with the id exist (`thread_exists`)
 * @throws InvalidRequestError if a state cannot be stored (`invalid_request`)
 */
export async function restoreThread(
  context: OpsContext,
  file: ThreadFile,
  threadId: string = file.thread.thread_id,
): Promise<ThreadRow> {
  const { threads, checkpointer } = context.storage;
  const row = rowOf(context, file, requireUuid(threadId, ["thread_id"]));
  const { exist } = await leftoversOf(context, row.thread_id);
  if (exist || !(await threads.insert(row))) throw new ThreadExistsError(row.thread_id);
  const runIds = runIdsOf(file, row.thread_id);
  try {
    const checkpoints = checkpointParts(checkpointer, row.thread_id, withOrigins(file, row), runIds);
    const runs = file.runs.map((run) => runRowOf(row.thread_id, run, runIds)).reverse();
    await writeThread(context.storage, { row, checkpoints, runs }, row);
  } catch (error) {
    await checkpointer.deleteThread(row.thread_id);
    await threads.delete(row.thread_id);
    throw error;
  }
  return row;
}

async function* checkpointParts(
  checkpointer: Checkpointer,
  threadId: string,
  { states, subgraphs = [], checkpoints = [] }: ThreadFile,
  runIds: ReadonlyMap<unknown, string>,
): AsyncGenerator<CheckpointPart> {
  for (const stored of checkpoints) yield await partOfStored(threadId, stored, runIds);
  if (checkpoints.length > 0) return;
  for (const state of [...states, ...subgraphs]) yield partOfState(checkpointer, threadId, state, runIds);
}

/** Writers and scope of the thread, from the file's checkpoints, runs and states. */
function originOfFile({ runs, states, checkpoints = [] }: ThreadFile): Pick<ThreadRow, "graphs" | "scope"> {
  const origins = checkpoints.flatMap(({ metadata }) => originOf(metadata) ?? []);
  const named = [...runs, ...states].map(({ metadata }) => metadata?.graph_id);
  const graphs = new Set([...origins.flatMap((origin) => origin.graphs), ...named]);
  const ids = [...graphs].filter((id) => typeof id === "string").sort();
  return {
    graphs: ids.length > 0 ? ids : null,
    scope: origins.find(({ scope }) => scope !== null)?.scope ?? null,
  };
}

/** Adds the thread's origin to all checkpoints of the file. */
function withOrigins(file: ThreadFile, { graphs, scope }: ThreadRow): ThreadFile {
  if (!graphs) return file;
  const addOrigin = <T extends { metadata: JsonObject }>(state: T): T => ({
    ...state,
    metadata: withOrigin(state.metadata, { graphs, scope }, countsOf(state.metadata)),
  });
  const { states, subgraphs = [], checkpoints } = file;
  return {
    ...file,
    states: states.map(addOrigin),
    subgraphs: subgraphs.map(addOrigin),
    ...(checkpoints && { checkpoints: checkpoints.map(addOrigin) }),
  };
}

/** Run ids for the import. They are unique in a storage, so a copy of a thread gets new ones. */
function runIdsOf({ thread, runs }: ThreadFile, threadId: string): ReadonlyMap<unknown, string> {
  const isCopy = threadId !== thread.thread_id.toLowerCase();
  return new Map(runs.map(({ run_id }) => [run_id, isCopy ? newIdLike(run_id.toLowerCase()) : run_id]));
}

function rowOf(context: OpsContext, file: ThreadFile, thread_id: string): ThreadRow {
  const { thread, states } = file;
  const { graphs, scope } = originOfFile(file);
  const last = states.at(-1);
  const isInactive = thread.status !== "busy";
  assertPlainData(thread.metadata, ["thread", "metadata"]);
  assertMetadataKeys(thread.metadata);
  assertPlainData(thread.config, ["thread", "config"]);
  // Every read applies the filter of the graphs that are served here.
  const preview = last && previewOfState(last, PASS_ALL);
  const fresh = newThreadRow(context, { thread_id, ttl: ttlOfFile(thread) });
  return {
    ...fresh,
    created_at: thread.created_at ?? now(),
    // The time to live starts with the import: otherwise, the next sweep would delete an old thread.
    updated_at: fresh.ttl?.ttl_minutes == null ? (thread.updated_at ?? now()) : fresh.updated_at,
    state_updated_at: thread.state_updated_at ?? last?.created_at ?? null,
    metadata: stampScope(context, thread.metadata ?? {}),
    graphs,
    scope: scopeOf(context) ?? scope,
    config: maskSecrets(thread.config ?? {}),
    status: isInactive ? thread.status : last && last.next.length > 0 ? "interrupted" : "idle",
    error: thread.error ?? null,
    ...(preview && { preview }),
  };
}

/**
 * Null is a thread that is kept. A file of another server may have no ttl: the default of this server then applies.
 * @throws InvalidRequestError if it could not be requested (`invalid_request`)
 */
function ttlOfFile({ ttl }: Partial<Thread>): ThreadCreateRequest["ttl"] {
  if (ttl == null) return ttl === null ? { ttl: null } : undefined;
  const { strategy, ttl_minutes } = ttl;
  const isKnown = strategy === "delete" || strategy === "keep_latest";
  if (isKnown && ttl_minutes > 0 && ttl_minutes <= MAX_TTL_MINUTES) return { strategy, ttl: ttl_minutes };
  const detail = `must have a strategy, delete or keep_latest, and ttl_minutes above 0, at most ${MAX_TTL_MINUTES}`;
  throw InvalidRequestError.at(["thread", "ttl"], detail);
}

/** A run that was active at the time of the export is stored as interrupted. */
function runRowOf(thread_id: string, run: Run, runIds: ReadonlyMap<unknown, string>): RunRow {
  return {
    run_id: runIds.get(run.run_id) ?? run.run_id,
    thread_id,
    assistant_id: run.assistant_id,
    created_at: run.created_at,
    updated_at: run.updated_at,
    status: isFinished(run) ? run.status : "interrupted",
    metadata: run.metadata ?? {},
    kwargs: maskedKwargs(run.kwargs ?? {}),
    multitask_strategy: run.multitask_strategy ?? "enqueue",
    error: run.error ?? null,
    usage: run.usage ?? null,
    ...{ state: "ended", owner: null, attempt: run.attempt ?? 1 },
  };
}
