import type { Timers } from "../context/timers.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import { ended, leaseOf } from "../runs/state.js";
import { UNFINISHED } from "../models/run-status.js";
import { now } from "../storage/rows/rows.js";
import { NotFoundError } from "../support/errors.js";
import type { EngineContext } from "../runs/live-runs.js";
import { scheduleEnd } from "./at-end.js";
import { visibleThread } from "../threads/thread-origin.js";
import { removeThread } from "../threads/thread-state.js";

/** Maximum number of waiting runs of each status that one attempt ends. */
const MOST_RUNS = 1000;

/**
 * Stops the run in flight, waits for its end, and deletes the thread with its runs and checkpoints. The runs that wait for
 * the thread end like the run in flight.
 * @throws NotFoundError (`thread_not_found`), ShuttingDownError (`shutting_down`)
 */
export async function deleteThread(context: EngineContext, threadId: string): Promise<void> {
  const { thread_id } = await visibleThread(context, threadId);
  context.live.abort(thread_id, "deleted");
  const lease = await acquireAfterStop(context, thread_id);
  try {
    // Another user may have claimed the thread while this call waited for it.
    if (context.caller) await visibleThread(context, thread_id);
    const isRemoved = (await endAndRemove(context, thread_id)) || (await removeThread(context, thread_id));
    if (!isRemoved) throw new NotFoundError("thread", thread_id);
    context.live.forgetThread(thread_id);
  } finally {
    await lease?.release();
  }
}

/** How often a deletion starts again because a run has been accepted meanwhile. Then the webhooks of further runs are lost. */
const ATTEMPTS = 10;

/**
 * With webhooks, ends the waiting runs and deletes the thread unless another run has been accepted meanwhile, until none
 * has. Otherwise false.
 */
async function endAndRemove(context: EngineContext, threadId: string): Promise<boolean> {
  const { timers, storage } = context;
  if (!timers?.kinds.includes("webhook")) return false;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    await endWaiting(context, timers, threadId);
    const row = await storage.threads.get(threadId);
    if (!row) return false;
    // A dead process left it so: nothing runs on the thread, because this process has its lock.
    if (row.status === "busy")
      await storage.threads.update(threadId, { status: "idle", updated_at: now() }, row.updated_at);
    else if (await removeThread(context, threadId, row.updated_at)) return true;
  }
  return false;
}

/**
 * Ends the queued and delayed runs, and those that dead processes left, and schedules the webhooks of all runs: nothing is
 * known about them once they are deleted.
 */
async function endWaiting(context: EngineContext, timers: Timers, threadId: string): Promise<void> {
  const { runs } = context.storage;
  for (const status of UNFINISHED) {
    for (const row of await runs.list({ threadId, status, limit: MOST_RUNS, offset: 0 })) {
      const patch = { updated_at: now(), ...ended("interrupted") };
      await runs.update(row.run_id, patch, leaseOf(row));
    }
  }
  const { unscheduledRuns } = await import("../webhooks/webhooks.js");
  for (const run of await unscheduledRuns(timers))
    if (run.thread_id === threadId) await scheduleEnd(context, run);
}

/** How often a request that waits for a thread looks for late runs, in milliseconds. */
export const LATE_MS = 500;

/**
 * The lease of a thread, after cancelling its runs in all processes, and late runs: another process may have locked the
 * thread for a run that it has not stored yet.
 * @throws ShuttingDownError if this process stops first (`shutting_down`)
 */
async function acquireAfterStop(
  { storage: { locks, runs }, live }: EngineContext,
  threadId: string,
): Promise<ThreadLease | undefined> {
  const lease = await locks.acquire(threadId, { wait: false });
  if (lease) return lease;
  for (;;) {
    for (const { run_id, thread_id } of await runs.unfinished({ threadId })) {
      // A custom storage may predate this argument, and return all runs.
      if (thread_id === threadId) await runs.requestCancel(run_id);
    }
    const late = AbortSignal.timeout(LATE_MS);
    const signal = AbortSignal.any([late, live.stopping]);
    try {
      return await locks.acquire(threadId, { wait: true, first: true, signal });
    } catch (error) {
      if (error !== late.reason) throw error;
    }
  }
}
