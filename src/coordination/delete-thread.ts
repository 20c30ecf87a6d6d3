import { acquireAfterStop } from "../delivery/run-ends.js";
import { ended, leaseOf } from "../runs/state.js";
import { now } from "../storage/rows/rows.js";
import { NotFoundError } from "../support/errors.js";
import type { EngineContext } from "../runs/live-runs.js";
import { scheduleEnd } from "./rollback.js";
import { visibleThread } from "../threads/thread-origin.js";
import { removeThread } from "../threads/thread-state.js";

/** Maximum number of waiting runs whose webhooks are sent. */
const MOST_RUNS = 1000;

/**
 * Stops the run in flight, waits for its end, and deletes the thread with its runs and checkpoints. The runs that wait for
 * the thread end like the run in flight.
 * @throws NotFoundError (`thread_not_found`)
 */
export async function deleteThread(context: EngineContext, threadId: string): Promise<void> {
  const { thread_id } = await visibleThread(context, threadId);
  context.live.abort(thread_id, "deleted");
  const lease = await acquireAfterStop(context, thread_id);
  try {
    // Another user may have claimed the thread while this call waited for it.
    if (context.caller) await visibleThread(context, thread_id);
    await endWaiting(context, thread_id);
    if (!(await removeThread(context, thread_id))) throw new NotFoundError("thread", thread_id);
    context.live.forgetThread(thread_id);
  } finally {
    await lease?.release();
  }
}

/** Ends the queued and delayed runs, so that their webhooks are sent: nothing is known about them once they are deleted. */
async function endWaiting(context: EngineContext, threadId: string): Promise<void> {
  if (!context.timers?.kinds.includes("webhook")) return;
  const { runs } = context.storage;
  for (const row of await runs.list({ threadId, status: "pending", limit: MOST_RUNS, offset: 0 })) {
    const patch = { updated_at: now(), ...ended("interrupted") };
    if (await runs.update(row.run_id, patch, leaseOf(row))) await scheduleEnd(context, row);
  }
}
