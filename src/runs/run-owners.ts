/** Which runs were interrupted by the end of their process, and what remains to resume. */
import { GraphChangedError, StorageUnavailableError } from "../support/errors.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type { Owner } from "../storage/contract/owners.js";
import type { Resumption, RunRow, UnfinishedQuery, UnfinishedRun } from "../storage/contract/runs.js";
import { isDead, ownerOf } from "../storage/rows/owners.js";
import type { OpsContext } from "../context/context.js";
import { isAborted, isShutDown } from "./run-aborted.js";
import { crashesOf } from "./state.js";

/** The row of a run that can be resumed: it is requeued, or dead until it is redriven. */
export interface RunRemainder {
  attempt: number;
  resumption: Resumption;
  isDead: boolean;
}

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

const mayBeUncounted = (attempts: number, mostAttempts: number): boolean =>
  attempts < UNCOUNTED_ATTEMPTS * mostAttempts;

/** The last attempt was not a crash. */
const uncounted = (resumption: Resumption): Resumption => ({
  ...resumption,
  requeued: (resumption.requeued ?? 0) + 1,
});

/**
 * The row of a run that is taken over. Its process may be alive, and has only lost its thread lock: it would have requeued
 * the run, without a crash.
 */
export function uncountedIfAlive(
  row: RunRow,
  { owner }: UnfinishedRun,
  self: Owner,
  mostAttempts: number,
): RunRow {
  const { attempt, resumption, status } = row;
  if (!resumption || status !== "running" || isDead(owner, self)) return row;
  return mayBeUncounted(attempt, mostAttempts) ? { ...row, resumption: uncounted(resumption) } : row;
}

/**
 * Undefined for a run that ends here. Another process resumes a run that was aborted by its process or the storage. A
 * shutdown or a lost thread lock does not count as a crash, but a run during which the storage fails repeatedly may be
 * the cause. An accepted run that its graph can no longer resume is dead.
 */
export function remainderOf(
  { thrown, attempt, resumption, isLost, hasBegun }: EndedAttempt,
  mostAttempts: number,
): RunRemainder | undefined {
  const requeuedAs = (attempts: number): RunRemainder => ({
    attempt: attempts,
    resumption: uncounted(resumption),
    isDead: false,
  });
  // It can be redriven under a graph that has its nodes again.
  if (thrown instanceof GraphChangedError) return { attempt, resumption, isDead: true };
  if (isShutDown(thrown)) return hasBegun ? requeuedAs(attempt) : { attempt, resumption, isDead: false };
  if (!isAborted(thrown, "lost") && !(thrown instanceof StorageUnavailableError)) return undefined;
  const attempts = hasBegun ? attempt : attempt + 1;
  if (isLost && mayBeUncounted(attempts, mostAttempts)) return requeuedAs(attempts);
  return {
    attempt: attempts,
    resumption,
    isDead: crashesOf({ attempt: attempts, resumption }) >= mostAttempts,
  };
}

/** Unfinished runs of dead processes, and those that `isLeft` selects, limited to one thread or owner if `of` names it. Read-only. */
export async function interruptedRuns(
  context: OpsContext,
  of: UnfinishedQuery = {},
  isLeft: (run: UnfinishedRun) => boolean = () => false,
): Promise<UnfinishedRun[]> {
  const self = ownerOf(context.ownerId);
  // Queued runs have no owner.
  const isOwned = context.settings.queue !== "none" && of.threadId === undefined && of.ownerId === undefined;
  const unfinished = await context.storage.runs.unfinished(isOwned ? { isOwned } : of);
  // A custom storage may predate this argument, and return all runs.
  const isOf = (id: string) => of.threadId === undefined || id === of.threadId;
  return unfinished.filter((run) => isOf(run.thread_id) && (isDead(run.owner, self) || isLeft(run)));
}

/** Which runs to recover. */
export interface RecoverOptions {
  /** Only runs of this thread. */
  threadId?: string;
  /** Only runs that were requeued. */
  isRequeued?: boolean;
  /** How long to wait for locked threads, in milliseconds. Without it, their runs are skipped. */
  patience?: number;
  /** The thread's lease, if the caller holds it. Recovery then waits until resumed runs have released the thread. */
  under?: ThreadLease;
}

export interface RecoveryContext extends OpsContext {
  /** Recovers the runs of dead processes. @throws StorageUnavailableError (`storage_unavailable`) */
  readonly recover: (options?: RecoverOptions) => Promise<void>;
}
