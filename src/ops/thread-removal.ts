import type { OpsContext } from "./context.js";

/**
 * Delete checkpoints, runs and row of a thread whose lock the caller holds, in an order that lets a delete that was
 * cut off be repeated. False when there was no such thread.
 */
export async function removeThread({ storage }: OpsContext, threadId: string): Promise<boolean> {
  await storage.checkpointer.deleteThread(threadId);
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
