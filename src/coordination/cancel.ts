/** Cancels, rolls back and deletes runs. */
import type { CancelManyRequest } from "../models/run.js";
import { isFinished, now } from "../storage/rows/rows.js";
import type { RunKey, RunRow } from "../storage/contract/storage.js";
import { ThreadBusyError } from "../support/errors.js";
import { requireUuid } from "../support/ids.js";
import { endOf, stopRemoteRuns } from "../delivery/run-ends.js";
import type { EngineContext } from "../runs/live-runs.js";
import { delayed, ended, isDelayed } from "../runs/state.js";
import { RunAborted } from "../runs/run-aborted.js";
import { onEnd, removalOf } from "./stateless-runs.js";
import { keepWriters, ownThread, runRow } from "../threads/thread-origin.js";
import { latestSnapshot, readerOf, restingStatus } from "../threads/thread-state.js";

export interface CancelOptions {
  /** Whether to resolve only when the run has ended. */
  wait?: boolean;
  /** `rollback` also deletes the run and its checkpoints. */
  action?: "interrupt" | "rollback";
  /** Aborts when the caller disconnects; the call then stops waiting. */
  signal?: AbortSignal;
  /** Set for a run that takes the thread over. Delayed runs then stay: they are not queued on the thread yet. */
  isTakeover?: boolean;
}

/** Maximum number of runs that one call may cancel. */
const MOST_RUNS = 1000;

/** Interrupts a run; has no effect on an ended run. @throws NotFoundError (`run_not_found`) */
export async function cancelRun(
  context: EngineContext,
  threadId: string,
  runId: string,
  options: CancelOptions,
): Promise<void> {
  await cancelRow(context, await runRow(context, threadId, runId), options);
}

/** Interrupts the given runs of a thread, or all of them, optionally only those with a given status. */
export async function cancelRuns(
  context: EngineContext,
  { thread_id, run_ids, status }: CancelManyRequest,
  options: CancelOptions,
): Promise<void> {
  const id = requireUuid(thread_id, ["body", "thread_id"]);
  const wanted = run_ids && new Set(run_ids.map((runId) => runId.toLowerCase()));
  if (context.caller && !(await ownThread(context, id))) return;
  const rows = await context.storage.runs.list({ threadId: id, limit: MOST_RUNS, offset: 0 });
  const chosen = rows.filter(
    (row) =>
      !isFinished(row) &&
      !(options.isTakeover && isDelayed(row)) &&
      (!wanted || wanted.has(row.run_id)) &&
      (status == null || status === "all" || status === row.status),
  );
  await Promise.all(chosen.map((row) => cancelRow(context, row, options)));
}

/**
 * Deletes the row of an ended run; its checkpoints stay.
 * @throws NotFoundError (`run_not_found`)
 * @throws ThreadBusyError while the run is in flight (`thread_busy`)
 */
export async function deleteRun(context: EngineContext, threadId: string, runId: string): Promise<void> {
  const row = await settledRow(context, threadId, runId);
  if (!isFinished(row) && !(isDelayed(row) && (await cancelDelayed(context, row))))
    throw new ThreadBusyError(row.thread_id, `run "${row.run_id}" is ${row.status}`);
  const thread = await context.storage.threads.get(row.thread_id);
  if (thread) await keepWriters(context, thread);
  await deleteRow(context, row);
}

/** The row of the run, after recovery: the row of a run whose process died may still say `running`. */
async function settledRow(context: EngineContext, threadId: string, runId: string): Promise<RunRow> {
  const row = await runRow(context, threadId, runId);
  if (isFinished(row) || context.live.find(row.run_id)) return row;
  await context.recover({ threadId: row.thread_id });
  return runRow(context, threadId, runId);
}

async function cancelRow(context: EngineContext, row: RunRow, options: CancelOptions): Promise<void> {
  const { wait, action, signal } = options;
  if (isFinished(row)) return;
  if (isDelayed(row)) {
    const isCancelled = await cancelDelayed(context, row);
    if (!isCancelled) return cancelRow(context, await runRow(context, row.thread_id, row.run_id), options);
    if (action === "rollback") await deleteRow(context, row);
    return;
  }
  const live = context.live.find(row.run_id);
  if (live) live.stop(RunAborted.from("cancelled"));
  else await stopRemoteRuns(context, row);
  // A rollback is completed even if its caller disconnects before the run has ended.
  const leave = action === "rollback" ? undefined : signal;
  let hasBegun = live?.hasBegun ?? true;
  if (live) {
    if (wait || action === "rollback") await live.answer(leave);
    hasBegun = live.hasBegun;
  } else if (wait || action === "rollback") {
    hasBegun = (await cancelledEnding(context, row, leave))?.attempt !== 0;
  }
  if (action !== "rollback") return;
  // A queued run has written nothing to its thread, on which another run is in flight.
  if (!hasBegun) await deleteRow(context, row);
  else await rollBack(context, row);
}

/** Cancels a delayed run and deletes its temporary thread, if any. Returns false if the run is no longer delayed. */
export async function cancelDelayed(context: EngineContext, { run_id, thread_id }: RunKey): Promise<boolean> {
  const { runs, timers } = context.storage;
  const timer = await timers?.get("run", run_id);
  const patch = { updated_at: now(), ...ended("interrupted") };
  if (!(await runs.update(run_id, patch, delayed))) return false;
  await timers?.delete("run", run_id);
  const atEnd = timer?.data.is_temporary ? removalOf(context, thread_id) : undefined;
  if (context.timers?.kinds.includes("webhook")) await onEnd(context, { run_id, thread_id }, atEnd)(false);
  else await atEnd?.(false);
  return true;
}

/** Waits for the end of a run of another process. */
function cancelledEnding(context: EngineContext, row: RunRow, signal: AbortSignal | undefined) {
  const { stopping } = context.live;
  return endOf(context, row, signal ? AbortSignal.any([signal, stopping]) : stopping);
}

async function deleteRow(context: EngineContext, { thread_id, run_id }: RunRow): Promise<void> {
  await context.storage.runs.delete(thread_id, run_id);
  context.live.logs.forget(run_id);
}

/** Deletes the run and its checkpoints. The status of the thread follows from the remaining checkpoints. */
async function rollBack(context: EngineContext, run: RunRow): Promise<void> {
  const { storage } = context;
  const { thread_id, run_id } = run;
  const lease = await storage.locks.acquire(thread_id, { wait: true, first: true });
  try {
    await storage.checkpointer.deleteRun(thread_id, run_id);
    await deleteRow(context, run);
    const row = await storage.threads.get(thread_id);
    if (!row) return;
    const status = restingStatus(await latestSnapshot(await readerOf(context, row), thread_id));
    await storage.threads.update(thread_id, { updated_at: now(), status, error: null });
  } finally {
    await lease?.release();
  }
}
