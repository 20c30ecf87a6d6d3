import type { ThreadLocks } from "../../src/storage/contract/locks.js";

/** Whether any owner holds the lock of the thread, tested by acquiring it without waiting. */
export async function isHeld(locks: ThreadLocks, threadId: string): Promise<boolean> {
  const lease = await locks.acquire(threadId, { wait: false });
  await lease?.release();
  return lease === undefined;
}
