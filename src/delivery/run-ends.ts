/** How a run ends, in this process or another: its answer, and its cancellation. */
import type { JsonObject } from "../models/common.js";
import type { Run } from "../models/run.js";
import { now } from "../storage/rows/rows.js";
import type { RunKey } from "../storage/contract/runs.js";
import { NotFoundError } from "../support/errors.js";
import type { EngineContext, LiveRun } from "../runs/live-runs.js";
import { RunAborted } from "../runs/run-aborted.js";
import { ended, isUnclaimed, leaseOf } from "../runs/state.js";
import { failedAnswer } from "../runs/run-ending.js";
import { runModel } from "../storage/rows/run-rows.js";
import { endOf, nextAttempt, retryWhileUnavailable, storedValues } from "./poll-run.js";

/**
 * The answer of a run once it has ended. `live` is the run in this process; another process may continue it.
 * @throws StorageUnavailableError if the storage stays unavailable (`storage_unavailable`)
 */
export async function answerOf(
  context: EngineContext,
  run: Run,
  live: LiveRun | undefined,
  signal?: AbortSignal,
): Promise<JsonObject> {
  const last = live && (await lastAttempt(context, live, signal));
  if (last) return last.answer();
  const row = await endOf(context, run, signal);
  if (!row) throw new NotFoundError("run", run.run_id);
  if (row.error !== null) return failedAnswer(new Error(row.error));
  return retryWhileUnavailable(() => storedValues(context, row), signal);
}

/** The end of a run of this process, even if another process continues it. */
export async function localEnd(context: EngineContext, live: LiveRun): Promise<Run> {
  const last = await lastAttempt(context, live);
  if (last) return last.ended();
  const row = await endOf(context, live.run);
  return row ? runModel(row) : live.ended();
}

/**
 * The attempt of a run with which the run has ended in this process. Undefined if another process continues the run.
 * @throws ShuttingDownError if this process stops while the run is requeued
 */
async function lastAttempt(
  context: EngineContext,
  live: LiveRun,
  signal?: AbortSignal,
): Promise<LiveRun | undefined> {
  for (
    let current: LiveRun | undefined = live;
    current;
    current = await nextAttempt(context, current, signal)
  ) {
    await current.answer(signal);
    if (!current.hasLeft) return current;
  }
  return undefined;
}

/** Interrupts the run of a disconnected client, in whichever attempt it is. */
export function stopRun(context: EngineContext, run: RunKey, live: LiveRun | undefined): void {
  let last = live;
  while (last?.next.live) last = last.next.live;
  if (last && !last.hasLeft) return last.stop(RunAborted.from("disconnected"));
  stopRemoteRuns(context, run).catch((error: unknown) =>
    context.logger.error(
      { err: error, run_id: run.run_id },
      "a run of another process could not be cancelled",
    ),
  );
}

/**
 * Asks the run's process to cancel it. A queued run, or a run of a dead process, is settled immediately. True if the run
 * has ended because no process had it.
 */
export async function stopRemoteRuns(context: EngineContext, run: RunKey): Promise<boolean> {
  const { thread_id, run_id } = run;
  if (context.queue.isShared && (await stopWaiting(context, run))) return true;
  await context.storage.runs.requestCancel(run_id);
  await context.recover({ threadId: thread_id });
  return false;
}

/** Cancels a queued run. False if the run is not queued or was claimed meanwhile. */
async function stopWaiting(context: EngineContext, { thread_id, run_id }: RunKey): Promise<boolean> {
  const { runs } = context.storage;
  const row = await runs.get(thread_id, run_id);
  if (row?.status !== "pending" || !isUnclaimed(row)) return false;
  const patch = { updated_at: now(), ...ended("interrupted") };
  if (!(await runs.update(run_id, patch, leaseOf(row)))) return false;
  // An earlier run may have left the thread busy for this one.
  await context.live.results.reconcile(row);
  context.queue.notify();
  return true;
}
