/** Settles runs whose process died (spec, States; a run never stays `running` without one). */
import { StorageUnavailableError } from "../errors.js";
import type { Snapshot } from "../graphs/graph.js";
import type { ThreadStatus } from "../models/thread.js";
import type { Owner, RunOutcome, UnfinishedRun } from "../storage/storage.js";
import { now, type OpsContext } from "./context.js";
import { graphOf, latestSnapshot } from "./thread-state.js";

/** An owner that sent no heartbeat for so long is dead, wherever it runs. */
const SILENT_MS = 30_000;
const STOPPED = "server stopped during the run";

function processLives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Whether the process that owns a run is gone. `self` is this process. */
export function isDead(owner: Owner | undefined, self: Owner, at = Date.now()): boolean {
  if (!owner) return true;
  if (owner.id === self.id) return false;
  if (at - Date.parse(owner.seen_at) > SILENT_MS) return true;
  if (owner.host !== self.host) return false;
  // In a container every process may be number 1: the same number under another id is a predecessor.
  return owner.pid === self.pid || !processLives(owner.pid);
}

/** A thread that was cut off: what its state says, as far as it can be read. */
function statusOf(snapshot: Snapshot | undefined): ThreadStatus {
  if (!snapshot) return "error";
  if (snapshot.tasks.some((task) => task.error != null)) return "error";
  if (snapshot.tasks.some((task) => (task.interrupts ?? []).length > 0)) return "interrupted";
  return "idle";
}

/**
 * What a thread without a run is by its state; `error` when that cannot be read.
 * @throws StorageUnavailableError (`storage_unavailable`)
 */
export async function statusByState(context: OpsContext, threadId: string): Promise<ThreadStatus> {
  const { storage, logger } = context;
  try {
    const row = await storage.metadata.getThread(threadId);
    return statusOf(row && (await latestSnapshot(await graphOf(context, row), threadId)));
  } catch (error) {
    if (error instanceof StorageUnavailableError) throw error;
    logger.warn({ err: error, thread_id: threadId }, "the state of a thread that was cut off cannot be read");
    return "error";
  }
}

async function outcomeFor(context: OpsContext, { run_id, thread_id }: UnfinishedRun): Promise<RunOutcome> {
  const status = await statusByState(context, thread_id);
  const at = now();
  return {
    runId: run_id,
    run: { updated_at: at, status: "error", error: STOPPED },
    threadId: thread_id,
    thread: { updated_at: at, state_updated_at: at, status, error: status === "error" ? STOPPED : null },
  };
}

/** Runs left unfinished by processes that no longer live. Changes nothing. */
export async function cutOffRuns({ storage }: OpsContext, self: Owner): Promise<UnfinishedRun[]> {
  const unfinished = await storage.metadata.unfinishedRuns();
  return unfinished.filter(({ owner }) => isDead(owner, self));
}

/** Settle the runs of dead processes, all in one step. Returns how many there were. */
export async function recoverRuns(context: OpsContext, self: Owner): Promise<number> {
  const { metadata } = context.storage;
  const dead = await cutOffRuns(context, self);
  if (dead.length === 0) return 0;
  await metadata.settleRuns(await Promise.all(dead.map((run) => outcomeFor(context, run))));
  const owners = new Set(dead.flatMap(({ owner }) => (owner ? [owner.id] : [])));
  for (const id of owners) await metadata.removeOwner(id);
  context.logger.warn(
    { runs: dead.length },
    "runs that a stopped server left unfinished were marked as failed",
  );
  return dead.length;
}
