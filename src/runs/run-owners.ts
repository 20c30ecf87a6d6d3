/** Which runs were interrupted by the end of their process, what remains to resume, and the status of their threads. */
import { hostname } from "node:os";
import { StorageUnavailableError } from "../support/errors.js";
import type { Snapshot } from "../graphs/graph.js";
import type { ThreadStatus } from "../models/thread.js";
import type {
  Owner,
  Resumption,
  RunHolder,
  RunPatch,
  RunRow,
  ThreadLease,
  UnfinishedQuery,
  UnfinishedRun,
} from "../storage/contract/storage.js";
import { isFinished, isHeldBy, now } from "../storage/rows/rows.js";
import { DELAYED_OWNER } from "../storage/contract/timers.js";
import type { OpsContext } from "../context/context.js";
import { isAborted, isShutDown } from "./run-aborted.js";
import { latestSnapshot, readerOf } from "../threads/thread-state.js";

/** An owner that sent no heartbeat for this long is dead, on any host. In milliseconds. */
const SILENT_MS = 30_000;

/** Owner of a requeued run; any process may claim it. */
export const UNOWNED = "";

/** Owner of a delayed run. No process recovers the run before it is due. */
export const DELAYED_HOLDER: RunHolder = { owner: DELAYED_OWNER.id, attempt: 0 };

export const isDelayed = (row: Pick<RunRow, keyof RunHolder | "status">): boolean =>
  row.status === "pending" && isHeldBy(row, DELAYED_HOLDER);

/**
 * Whether a run continues, or has continued, after this attempt ended: it was requeued, or dead and then redriven. A
 * run that its process still owns has ended, but its end is not stored yet.
 */
export const continuesAfter = (row: Pick<RunRow, "attempt" | "owner" | "status">, attempt: number): boolean =>
  (row.attempt ?? 1) > attempt || (!isFinished(row) && row.owner === UNOWNED);

/** Number of processes that crashed during the run. Attempts that were requeued do not count. */
export const crashesOf = ({ attempt = 1, resumption }: Pick<RunRow, "attempt" | "resumption">): number =>
  attempt - (resumption?.given_back ?? 0);

/** The row of a run that can be resumed: it is requeued, or dead until it is redriven. */
export type RunRemainder = Required<Pick<RunPatch, "attempt" | "resumption">> & { isDead: boolean };

interface EndedAttempt {
  thrown: unknown;
  attempt: number;
  resumption: Resumption;
  /** Whether the thread lock was lost. */
  isLost?: boolean;
  hasBegun: boolean;
}

/** Per counted attempt, the number of attempts that may end by a storage failure without being counted. */
const UNCOUNTED_ATTEMPTS = 10;

/**
 * Undefined for a run that ends here. Another process resumes a run that was aborted by its process or the storage. A
 * shutdown or a lost thread lock does not count as a crash, but a run during which the storage fails repeatedly may be
 * the cause.
 */
export function remainderOf(
  { thrown, attempt, resumption, isLost, hasBegun }: EndedAttempt,
  mostAttempts: number,
): RunRemainder | undefined {
  const requeued = (attempts: number): RunRemainder => ({
    attempt: attempts,
    resumption: { ...resumption, given_back: (resumption.given_back ?? 0) + 1 },
    isDead: false,
  });
  if (isShutDown(thrown)) return hasBegun ? requeued(attempt) : { attempt, resumption, isDead: false };
  if (!isAborted(thrown, "lost") && !(thrown instanceof StorageUnavailableError)) return undefined;
  const attempts = hasBegun ? attempt : attempt + 1;
  if (isLost && attempts < UNCOUNTED_ATTEMPTS * mostAttempts) return requeued(attempts);
  return {
    attempt: attempts,
    resumption,
    isDead: crashesOf({ attempt: attempts, resumption }) >= mostAttempts,
  };
}

function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Whether the process that owns a run is dead. `self` is this process. */
export function isDead(owner: Owner | undefined, self: Owner, at = Date.now()): boolean {
  if (!owner) return true;
  if (owner.id === self.id) return false;
  if (at - Date.parse(owner.seen_at) > SILENT_MS) return true;
  if (owner.host !== self.host) return false;
  // In a container, every process may have pid 1. An owner with our pid is a predecessor or shares this process.
  if (owner.pid === self.pid) return Date.parse(owner.seen_at) < performance.timeOrigin;
  return !isProcessAlive(owner.pid);
}

/** The status of a thread whose run was interrupted, from the thread's state. */
function statusOf(snapshot: Snapshot | undefined): ThreadStatus {
  if (!snapshot) return "error";
  if (snapshot.tasks.some((task) => task.error != null)) return "error";
  if (snapshot.tasks.some((task) => (task.interrupts ?? []).length > 0)) return "interrupted";
  return "idle";
}

/**
 * The status of a thread without a run, from its state; `error` if the state cannot be read.
 * @throws StorageUnavailableError (`storage_unavailable`)
 */
export async function statusByState(context: OpsContext, threadId: string): Promise<ThreadStatus> {
  const { storage, logger } = context;
  try {
    const row = await storage.threads.get(threadId);
    return statusOf(row && (await latestSnapshot(await readerOf(context, row), threadId)));
  } catch (error) {
    if (error instanceof StorageUnavailableError) throw error;
    logger.warn(
      { err: error, thread_id: threadId },
      "the state of a thread whose run was interrupted cannot be read",
    );
    return "error";
  }
}

/** This process as an owner, with a current heartbeat. */
export function thisOwner({ ownerId }: OpsContext): Owner {
  return { id: ownerId, host: hostname(), pid: process.pid, seen_at: now() };
}

/** Unfinished runs of dead processes, limited to one thread or owner if `of` names it. Read-only. */
export async function interruptedRuns(
  context: OpsContext,
  of: UnfinishedQuery = {},
): Promise<UnfinishedRun[]> {
  const self = thisOwner(context);
  // Queued runs have no owner.
  const isOwned = context.settings.queue !== "none" && of.threadId === undefined && of.ownerId === undefined;
  const unfinished = await context.storage.runs.unfinished(isOwned ? { isOwned } : of);
  // A custom storage may predate this argument, and return all runs.
  const isOf = (id: string) => of.threadId === undefined || id === of.threadId;
  return unfinished.filter(({ thread_id, owner }) => isOf(thread_id) && isDead(owner, self));
}

/** Which runs to recover. */
export interface RecoverOptions {
  /** Only runs of this thread. */
  threadId?: string;
  /** Only runs that were requeued. */
  givenBack?: boolean;
  /** How long to wait for locked threads, in milliseconds. Without it, their runs are skipped. */
  patience?: number;
  /** The thread's lease, if the caller holds it. Recovery then waits until resumed runs have released the thread. */
  under?: ThreadLease;
}
