/** The lease of a thread on which no run is in flight. */
import type { OpsContext } from "../context/context.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import { ThreadBusyError } from "../support/errors.js";
import { pause } from "../support/pause.js";
import { Stopwatch } from "../support/stopwatch.js";

/** Maximum wait for a run that has ended to release its thread, in milliseconds. */
const RELEASE_WAIT_MS = 2000;
const STEP_MS = 10;

/**
 * Clients see the end of a run, for instance by its webhook, before its process has released the thread.
 * @throws ThreadBusyError while a run is in flight or another request holds the thread (`thread_busy`)
 */
export async function idleLease(
  { storage: { locks, threads } }: OpsContext,
  threadId: string,
): Promise<ThreadLease> {
  const waited = new Stopwatch();
  for (;;) {
    const lease = await locks.acquire(threadId, { wait: false });
    if (lease) return lease;
    const isReleased = waited.elapsed() < RELEASE_WAIT_MS && (await threads.get(threadId))?.status !== "busy";
    if (!isReleased) throw new ThreadBusyError(threadId);
    await pause(STEP_MS, undefined);
  }
}
