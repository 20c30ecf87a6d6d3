/** Settles runs whose process died (docs/specification.md#states, 4; a run never stays `running` without one). */
import { hostname } from "node:os";
import { StorageUnavailableError } from "../support/errors.js";
import type { Snapshot } from "../graphs/graph.js";
import type { ThreadStatus } from "../models/thread.js";
import type { Owner, RunOutcome, ThreadLease, UnfinishedRun } from "../storage/storage.js";
import { now } from "../storage/rows.js";
import type { OpsContext } from "./context.js";
import { latestSnapshot, readerOf } from "./thread-state.js";

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
  // In a container every process may be number 1: one of our number is a predecessor, or shares this process.
  if (owner.pid === self.pid) return Date.parse(owner.seen_at) < performance.timeOrigin;
  return !processLives(owner.pid);
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
    const row = await storage.threads.get(threadId);
    return statusOf(row && (await latestSnapshot(await readerOf(context, row), threadId)));
  } catch (error) {
    if (error instanceof StorageUnavailableError) throw error;
    logger.warn({ err: error, thread_id: threadId }, "the state of a thread that was cut off cannot be read");
    return "error";
  }
}

/** This process, as it lives now. */
export function selfOf({ ownerId }: OpsContext): Owner {
  return { id: ownerId, host: hostname(), pid: process.pid, seen_at: now() };
}

/** Runs left unfinished by processes that no longer live, of this thread where one is named. Changes nothing. */
export async function cutOffRuns(context: OpsContext, threadId?: string): Promise<UnfinishedRun[]> {
  const self = selfOf(context);
  const unfinished = await context.storage.runs.unfinished({ threadId });
  // A storage of one's own may be older than the argument, and name every run.
  const isOf = (id: string) => threadId === undefined || id === threadId;
  return unfinished.filter(({ thread_id, owner }) => isOf(thread_id) && isDead(owner, self));
}

interface RecoverOptions {
  /** Only runs of this thread. */
  threadId?: string;
  /** How long to wait for threads that are taken, in milliseconds; those are left alone otherwise. */
  patience?: number;
}

/**
 * Settle the runs of dead processes. Each thread's are settled under its lease, so that a process that only seems dead
 * keeps its run, and a new run its thread; those of free threads are settled in one step.
 */
export async function recoverRuns(
  context: OpsContext,
  { threadId, patience }: RecoverOptions = {},
): Promise<void> {
  const dead = await cutOffRuns(context, threadId);
  if (dead.length === 0) return;
  const taken = await recoverFree(context, new Set(dead.map(({ thread_id }) => thread_id)));
  if (patience === undefined) return;
  await Promise.all(taken.map((id) => recoverTaken(context, id, patience)));
}

/** Returns the threads that are not free. */
async function recoverFree(context: OpsContext, threadIds: ReadonlySet<string>): Promise<string[]> {
  const { locks } = context.storage;
  const leases = new Map<string, ThreadLease>();
  try {
    for (const id of threadIds) {
      const lease = await locks.acquire(id, { wait: false });
      if (lease) leases.set(id, lease);
    }
    await settleCutOff(context, leases);
  } finally {
    for (const lease of leases.values()) await lease.release();
  }
  return [...threadIds].filter((id) => !leases.has(id));
}

async function recoverTaken(context: OpsContext, threadId: string, patience: number): Promise<void> {
  const signal = AbortSignal.timeout(patience);
  try {
    const options = { wait: true, first: true, signal };
    const lease = await context.storage.locks.acquire(threadId, options);
    if (!lease) return;
    try {
      await settleCutOff(context, new Map([[threadId, lease]]));
    } finally {
      await lease.release();
    }
  } catch (error) {
    if (error !== signal.reason) throw error;
  }
}

/** Settle what dead processes left on threads whose leases are ours. */
async function settleCutOff(context: OpsContext, leases: ReadonlyMap<string, ThreadLease>): Promise<void> {
  if (leases.size === 0) return;
  const { runs } = context.storage;
  // Looked for anew: before the lease was ours, a run may have ended, or its owner have shown that it lives.
  const [threadId] = leases.size === 1 ? leases.keys() : [];
  const dead = (await cutOffRuns(context, threadId)).filter(({ thread_id }) => leases.has(thread_id));
  if (dead.length === 0) return;
  const outcomes = await Promise.all(dead.map((run) => outcomeFor(context, run)));
  await runs.settle(outcomes.filter(({ threadId }) => !leases.get(threadId)?.lost?.aborted));
  await forgetOwners(context, dead);
  context.logger.warn(
    { runs: dead.length },
    "runs that a stopped server left unfinished were marked as failed",
  );
}

/** The thread is what its state says; one that is not busy was set right by a later run. */
async function outcomeFor(context: OpsContext, { run_id, thread_id }: UnfinishedRun): Promise<RunOutcome> {
  const row = await context.storage.threads.get(thread_id);
  const at = now();
  const run = { updated_at: at, status: "error" as const, error: STOPPED };
  if (row?.status !== "busy") {
    return { runId: run_id, run, threadId: thread_id, thread: { updated_at: row?.updated_at ?? at } };
  }
  const status = await statusByState(context, thread_id);
  const error = status === "error" ? STOPPED : null;
  const thread = { updated_at: at, state_updated_at: at, status, error };
  return { runId: run_id, run, threadId: thread_id, thread };
}

/** Owners that have left no more runs. */
async function forgetOwners(
  { storage: { runs, owners } }: OpsContext,
  settled: UnfinishedRun[],
): Promise<void> {
  for (const ownerId of new Set(settled.map(({ owner }) => owner?.id))) {
    if (ownerId === undefined) continue;
    const left = await runs.unfinished({ ownerId });
    if (left.every(({ owner }) => owner?.id !== ownerId)) await owners.remove(ownerId);
  }
}
