/** Runs that another process executes, or did until it died: asking for their end, and waiting for it. */
import { setTimeout as sleep } from "node:timers/promises";
import { isFinished } from "../storage/rows.js";
import type { RunRow, ThreadLease } from "../storage/storage.js";
import type { OpsContext } from "./context.js";
import { recoverRuns } from "./recovery.js";

/** How often the row of such a run is looked at. */
const LOOK_MS = 500;
/** Every so many looks, a run whose process has died meanwhile is settled here. */
const LOOKS_A_RECOVERY = 10;

type RunKey = Pick<RunRow, "thread_id" | "run_id">;

/** Ask the process that executes a run to stop it; a run whose process is dead is settled at once. */
export async function stopElsewhere(context: OpsContext, { thread_id, run_id }: RunKey): Promise<void> {
  await recoverRuns(context, { threadId: thread_id });
  await context.storage.metadata.requestCancel(run_id);
}

/** The lease of a thread whose runs are to stop, wherever they are. */
export async function acquireStopped(
  { storage: { locks, metadata } }: OpsContext,
  threadId: string,
): Promise<ThreadLease | undefined> {
  const lease = await locks.acquire(threadId, { wait: false });
  if (lease) return lease;
  for (const { thread_id, run_id } of await metadata.unfinishedRuns()) {
    if (thread_id === threadId) await metadata.requestCancel(run_id);
  }
  return locks.acquire(threadId, { wait: true, first: true });
}

/**
 * The row of a run when it has ended; undefined when it is gone. Rejects with the reason of `signal` when that aborts.
 * @throws StorageUnavailableError (`storage_unavailable`)
 */
export async function endElsewhere(
  context: OpsContext,
  { thread_id, run_id }: RunKey,
  signal?: AbortSignal,
): Promise<RunRow | undefined> {
  for (let looks = 1; ; looks += 1) {
    const row = await context.storage.metadata.getRun(thread_id, run_id);
    if (!row || isFinished(row)) return row;
    await pause(signal);
    if (looks % LOOKS_A_RECOVERY === 0) await recoverRuns(context, { threadId: thread_id });
  }
}

async function pause(signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(LOOK_MS, undefined, { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}
