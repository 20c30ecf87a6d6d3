import { acquireAfterStop } from "../delivery/run-ends.js";
import { NotFoundError } from "../support/errors.js";
import type { EngineContext } from "../runs/live-runs.js";
import { visibleThread } from "../threads/thread-origin.js";
import { removeThread } from "../threads/thread-state.js";

/**
 * Stops the run in flight, waits for its end, and deletes the thread with its runs and checkpoints.
 * @throws NotFoundError (`thread_not_found`)
 */
export async function deleteThread(context: EngineContext, threadId: string): Promise<void> {
  const { thread_id } = await visibleThread(context, threadId);
  context.live.abort(thread_id, "deleted");
  const lease = await acquireAfterStop(context, thread_id);
  try {
    // Another user may have claimed the thread while this call waited for it.
    if (context.caller) await visibleThread(context, thread_id);
    if (!(await removeThread(context, thread_id))) throw new NotFoundError("thread", thread_id);
    context.live.forgetThread(thread_id);
  } finally {
    await lease?.release();
  }
}
