/** Stores a thread of a file. Values are what clients saw of them: a graph goes on from these. */
import type { Checkpoint, PendingWrite } from "@langchain/langgraph-checkpoint";
import { ThreadExistsError } from "../errors.js";
import { assertPlainData, coerceValues } from "../graphs/coerce.js";
import { newId, requireUuid } from "../ids.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { Run } from "../models/run.js";
import type { ThreadState, ThreadTask } from "../models/state.js";
import type { ThreadFile } from "../models/thread-file.js";
import type { ThreadRow } from "../storage/storage.js";
import { now, type OpsContext } from "./context.js";
import { stampScope } from "./scope.js";
import { newThreadRow } from "./thread-rows.js";

const START = "__start__";
/** The answer of a functional entrypoint, whose state has no keys. */
const ANSWER = "__end__";
/** The channel by which LangGraph calls a node. */
const toNode = (name: string): string => (name === START ? START : `branch:to:${name}`);

/**
 * @throws ThreadExistsError when the id is taken (`thread_exists`)
 * @throws InvalidRequestError when a state cannot be stored; then nothing is left behind (`invalid_request`)
 */
export async function restoreThread(
  context: OpsContext,
  file: ThreadFile,
  threadId: string = file.thread.thread_id,
): Promise<ThreadRow> {
  const { metadata, checkpointer } = context.storage;
  const row = rowOf(context, file, requireUuid(threadId, ["thread_id"]));
  if (!(await metadata.insertThread(row))) throw new ThreadExistsError(row.thread_id);
  const runIds = runIdsOf(file, row.thread_id);
  try {
    for (const state of file.states) await putState(context, row.thread_id, state, runIds);
    for (const run of [...file.runs].reverse()) await putRun(context, row, run, runIds);
  } catch (error) {
    await checkpointer.deleteThread(row.thread_id);
    await metadata.deleteThread(row.thread_id);
    throw error;
  }
  return row;
}

/** Ids of runs are unique in a storage: a second copy of a thread gets others. */
function runIdsOf({ thread, runs }: ThreadFile, threadId: string): ReadonlyMap<unknown, string> {
  const isCopy = threadId !== thread.thread_id.toLowerCase();
  return new Map(runs.map(({ run_id }) => [run_id, isCopy ? newId() : run_id]));
}

function rowOf(context: OpsContext, { thread, states }: ThreadFile, thread_id: string): ThreadRow {
  const last = states.at(-1);
  const isResting = thread.status !== "busy";
  assertPlainData(thread.metadata, ["thread", "metadata"]);
  assertPlainData(thread.config, ["thread", "config"]);
  return {
    ...newThreadRow(context, { thread_id }),
    created_at: thread.created_at ?? now(),
    updated_at: thread.updated_at ?? now(),
    state_updated_at: thread.state_updated_at ?? last?.created_at ?? null,
    metadata: stampScope(context, thread.metadata ?? {}),
    config: thread.config ?? {},
    status: isResting ? thread.status : last && last.next.length > 0 ? "interrupted" : "idle",
    error: thread.error ?? null,
  };
}

async function putState(
  { storage }: OpsContext,
  threadId: string,
  state: ThreadState,
  runIds: ReadonlyMap<unknown, string>,
): Promise<void> {
  const { checkpointer } = storage;
  const id = state.checkpoint?.checkpoint_id ?? "";
  const channels = channelsOf(state, ["states", id]);
  const version = checkpointer.getNextVersion(undefined);
  const versions = Object.fromEntries(Object.keys(channels).map((name) => [name, version]));
  const checkpoint: Checkpoint = {
    v: 4,
    id,
    ts: state.created_at ?? now(),
    channel_values: channels,
    channel_versions: versions,
    versions_seen: {},
  };
  const { run_id, thread_id: _, ...metadata } = state.metadata;
  assertPlainData(metadata, ["states", id, "metadata"]);
  const written = await checkpointer.put(
    {
      configurable: {
        thread_id: threadId,
        checkpoint_ns: "",
        ...(state.parent_checkpoint?.checkpoint_id && {
          checkpoint_id: state.parent_checkpoint.checkpoint_id,
        }),
        ...(typeof run_id === "string" && { run_id: runIds.get(run_id) ?? run_id }),
      },
    },
    checkpoint,
    { source: "loop", step: 0, parents: {}, ...metadata },
    versions,
  );
  for (const task of state.tasks) {
    const writes = writesOf(task);
    if (writes.length > 0) await checkpointer.putWrites(written, writes, task.id);
  }
}

/** Keys of the state, and the calls of the nodes that come next. */
function channelsOf({ values, next, tasks }: ThreadState, loc: string[]): JsonObject {
  const coerced = coerceValues(values ?? {}, loc);
  const channels: JsonObject = isRecord(coerced) ? { ...coerced } : { [ANSWER]: coerced };
  for (const name of next) {
    const result = tasks.find((task) => task.name === name)?.result;
    channels[toNode(name)] = name === START ? coerceValues(result ?? {}, loc) : null;
  }
  return channels;
}

function writesOf({ interrupts, error }: ThreadTask): PendingWrite[] {
  assertPlainData(interrupts, ["interrupts"]);
  return [
    ...interrupts.map((interrupt): PendingWrite => ["__interrupt__", interrupt]),
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

/** A run that was in flight when the file was made is not in flight here. */
async function putRun(
  { storage }: OpsContext,
  { thread_id, updated_at }: ThreadRow,
  run: Run,
  runIds: ReadonlyMap<unknown, string>,
): Promise<void> {
  const isOver = run.status !== "pending" && run.status !== "running";
  await storage.metadata.insertRun(
    {
      run_id: runIds.get(run.run_id) ?? run.run_id,
      thread_id,
      assistant_id: run.assistant_id,
      created_at: run.created_at,
      updated_at: run.updated_at,
      status: isOver ? run.status : "interrupted",
      metadata: run.metadata ?? {},
      kwargs: run.kwargs ?? {},
      multitask_strategy: run.multitask_strategy ?? "enqueue",
      error: run.error ?? null,
      usage: run.usage ?? null,
      owner: "imported",
    },
    { updated_at },
  );
}
