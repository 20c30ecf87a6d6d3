/** Stores a thread of a file: its checkpoints as they were where the file holds them, else what clients saw of them. */
import { ThreadExistsError } from "../errors.js";
import { assertPlainData } from "../graphs/coerce.js";
import { newIdLike, requireUuid } from "../ids.js";
import type { Run } from "../models/run.js";
import type { ThreadFile } from "../models/thread-file.js";
import type { ThreadRow } from "../storage/storage.js";
import { now, type OpsContext } from "./context.js";
import { stampScope } from "./scope.js";
import { putState } from "./thread-restore-state.js";
import { newThreadRow } from "./thread-rows.js";
import { putStored } from "./thread-stored.js";

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
    await putCheckpoints(context, row.thread_id, file, runIds);
    for (const run of [...file.runs].reverse()) await putRun(context, row, run, runIds);
  } catch (error) {
    await checkpointer.deleteThread(row.thread_id);
    await metadata.deleteThread(row.thread_id);
    throw error;
  }
  return row;
}

async function putCheckpoints(
  { storage: { checkpointer } }: OpsContext,
  threadId: string,
  { states, subgraphs = [], checkpoints = [] }: ThreadFile,
  runIds: ReadonlyMap<unknown, string>,
): Promise<void> {
  for (const stored of checkpoints) await putStored(checkpointer, threadId, stored, runIds);
  if (checkpoints.length > 0) return;
  for (const state of [...states, ...subgraphs]) await putState(checkpointer, threadId, state, runIds);
}

/** Ids of runs are unique in a storage: a second copy of a thread gets others. */
function runIdsOf({ thread, runs }: ThreadFile, threadId: string): ReadonlyMap<unknown, string> {
  const isCopy = threadId !== thread.thread_id.toLowerCase();
  return new Map(runs.map(({ run_id }) => [run_id, isCopy ? newIdLike(run_id.toLowerCase()) : run_id]));
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
