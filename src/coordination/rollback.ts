/**
 * Rollbacks: a run is stopped, and deleted with its checkpoints before the run behind it can see them. They are completed
 * even if their caller disconnects. A run of another process is marked first. From then on its end is not stored, so the
 * run behind it waits until a process that holds the thread has reverted the run: the process that executes it, the
 * caller's, or one that recovers the thread.
 */
import { previewOfState, UNTITLED } from "../graphs/thread-preview.js";
import { now } from "../storage/rows/rows.js";
import { isFinished } from "../models/run-status.js";
import type { RunKey, RunRow } from "../storage/contract/runs.js";
import type { EngineContext, LiveRun } from "../runs/live-runs.js";
import { RunAborted } from "../runs/run-aborted.js";
import { isRolledBack, leaseOf, rolledBack } from "../runs/state.js";
import { scheduleEnd } from "./at-end.js";
import { isContinued } from "../threads/run-checkpoints.js";
import { latestSnapshot, readerOf, restingStatus } from "../threads/thread-state.js";

/** Stops the runs of this process that other processes asked it to cancel or to roll back. */
export async function watchCancels(context: EngineContext): Promise<void> {
  const { live, storage, ownerId, logger } = context;
  if (live.size === 0) return;
  for (const run_id of await storage.runs.cancelRequests(ownerId)) {
    const own = live.find(run_id);
    if (!own || own.beforeRelease) continue;
    const row = await storage.runs.get(own.run.thread_id, run_id);
    if (!row || !isRolledBack(row)) own.stop(RunAborted.from("cancelled"));
    else
      rollBackHere(context, row, own).catch((error: unknown) =>
        logger.error({ err: error, run_id }, "a run could not be rolled back yet"),
      );
  }
}

/** Rolls back a run of this process before its thread is free. */
export async function rollBackHere(context: EngineContext, row: RunRow, live: LiveRun): Promise<void> {
  let reverted: Promise<void> | undefined;
  live.beforeRelease = () => (reverted = revert(context, row)).catch(() => undefined);
  live.stop(RunAborted.from("cancelled"));
  await live.answer();
  // A queued run has written nothing to its thread, on which another run is in flight.
  if (!live.hasBegun) return deleteEnded(context, row);
  if (!reverted) return rollBack(context, row);
  await reverted;
  context.live.logs.forget(row.run_id);
}

/** Rolls back a run that another process executes, or has left. False if the row of the run has changed. */
export async function rollBackRemote(context: EngineContext, row: RunRow): Promise<boolean> {
  const { runs } = context.storage;
  const mark = { updated_at: now(), ...rolledBack(row) };
  if (!(await runs.update(row.run_id, mark, leaseOf(row)))) return false;
  await runs.requestCancel(row.run_id);
  await rollBack(context, row);
  context.queue.notify();
  return true;
}

/**
 * Reverts a run once its thread is free. A run that ended before it could be stopped stays if the next run or an edit of
 * the thread is based on its checkpoints.
 */
export async function rollBack(context: EngineContext, { thread_id, run_id }: RunKey): Promise<void> {
  const { live, storage } = context;
  const options = { wait: true, first: true, signal: live.stopping };
  const lease = await storage.locks.acquire(thread_id, options);
  try {
    const row = await storage.runs.get(thread_id, run_id);
    if (row && !(isFinished(row) && (await isContinued(context, row)))) await revert(context, row);
  } finally {
    await lease?.release();
  }
}

/**
 * Deletes the run and its checkpoints, under the lease of its thread. The row of the thread follows from the remaining
 * checkpoints. The row is deleted last: until then, another process completes what this one leaves.
 */
export async function revert(context: EngineContext, run: RunKey): Promise<void> {
  const { storage } = context;
  const { thread_id, run_id } = run;
  await scheduleEnd(context, run);
  await storage.checkpointer.deleteRun(thread_id, run_id);
  const row = await storage.threads.get(thread_id);
  if (row) {
    const reader = await readerOf(context, row);
    const snapshot = await latestSnapshot(reader, thread_id);
    const at = now();
    await storage.threads.update(thread_id, {
      updated_at: at,
      state_updated_at: snapshot.createdAt === undefined ? null : at,
      status: restingStatus(snapshot),
      error: null,
      preview: previewOfState(snapshot, await reader.filter()) ?? UNTITLED,
    });
  }
  await deleteRow(context, run);
}

/** Deletes the row of a run that has ended without writing to its thread. */
export async function deleteEnded(context: EngineContext, run: RunKey): Promise<void> {
  await scheduleEnd(context, run);
  await deleteRow(context, run);
}

export async function deleteRow(context: EngineContext, { thread_id, run_id }: RunKey): Promise<void> {
  await context.storage.runs.delete(thread_id, run_id);
  context.live.logs.forget(run_id);
}
