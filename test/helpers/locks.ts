import type { ThreadLocks } from "../../src/storage/storage.js";

/** Whether anybody has the thread: who asks for it without waiting is refused. */
export async function isHeld(locks: ThreadLocks, threadId: string): Promise<boolean> {
  const lease = await locks.acquire(threadId, { wait: false });
  await lease?.release();
  return lease === undefined;
}
