import { setTimeout as sleep } from "node:timers/promises";

/** Wait so many milliseconds. Rejects with the signal's reason when it aborts. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}
