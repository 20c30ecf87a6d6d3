/** Which runs were cut off, what is left of them to go on with, and what their threads are. */
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

/** An owner that sent no heartbeat for so long is dead, wherever it runs. */
const SILENT_MS = 30_000;

/** The owner of a run that was given back: whoever sees it goes on with it. */
export const UNOWNED = "";

/** The owner of a run that waits for its time: nobody's to see to before. */
export const DELAYED_HOLDER: RunHolder = { owner: DELAYED_OWNER.id, attempt: 0 };

export const isDelayed = (row: Pick<RunRow, keyof RunHolder | "status">): boolean =>
  row.status === "pending" && isHeldBy(row, DELAYED_HOLDER);

/**
 * Whether a run goes on, or has gone on, after this attempt of it ended: it was dead, and somebody asked for it. One that
 * its process still has, has ended: that is yet to be stored.
 */
export const continuesAfter = (row: Pick<RunRow, "attempt" | "owner" | "status">, attempt: number): boolean =>
  (row.attempt ?? 1) > attempt || (!isFinished(row) && row.owner === UNOWNED);

/** How many processes have died over a run; those that gave it back in order do not count. */
export const crashesOf = ({ attempt = 1, resumption }: Pick<RunRow, "attempt" | "resumption">): number =>
  attempt - (resumption?.given_back ?? 0);

/** What the row of a run says that can go on: one that was given back, or is dead until somebody asks for it. */
export type RunRemainder = Required<Pick<RunPatch, "attempt" | "resumption">> & { isDead: boolean };

interface CutOffRun {
  thrown: unknown;
  attempt: number;
  resumption: Resumption;
  /** Whether its thread was lost. */
  isLost?: boolean;
  hasBegun: boolean;
}

/** Of one attempt that counts, how many may be cut off by the storage for nothing. */
const FREE_TRIES = 10;

/**
 * Undefined for a run that ends here. What its process or the storage cut off goes on elsewhere. A process that ends, or
 * that the storage lost, is no death; but a run under which the storage fails time and again may be the reason.
 */
export function remainderOf(
  { thrown, attempt, resumption, isLost, hasBegun }: CutOffRun,
  mostAttempts: number,
): RunRemainder | undefined {
  const givenBack = (tried: number): RunRemainder => ({
    attempt: tried,
    resumption: { ...resumption, given_back: (resumption.given_back ?? 0) + 1 },
    isDead: false,
  });
  if (isShutDown(thrown)) return hasBegun ? givenBack(attempt) : { attempt, resumption, isDead: false };
  if (!isAborted(thrown, "lost") && !(thrown instanceof StorageUnavailableError)) return undefined;
  const tried = hasBegun ? attempt : attempt + 1;
  if (isLost && tried < FREE_TRIES * mostAttempts) return givenBack(tried);
  return { attempt: tried, resumption, isDead: crashesOf({ attempt: tried, resumption }) >= mostAttempts };
}

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
export function thisOwner({ ownerId }: OpsContext): Owner {
  return { id: ownerId, host: hostname(), pid: process.pid, seen_at: now() };
}

/** Runs left unfinished by processes that no longer live; of this thread or owner where one is named. Changes nothing. */
export async function interruptedRuns(
  context: OpsContext,
  of: UnfinishedQuery = {},
): Promise<UnfinishedRun[]> {
  const self = thisOwner(context);
  // Those that wait in a queue are no process's.
  const isOwned = context.settings.queue !== "none" && of.threadId === undefined && of.ownerId === undefined;
  const unfinished = await context.storage.runs.unfinished(isOwned ? { isOwned } : of);
  // A storage of one's own may be older than the argument, and name every run.
  const isOf = (id: string) => of.threadId === undefined || id === of.threadId;
  return unfinished.filter(({ thread_id, owner }) => isOf(thread_id) && isDead(owner, self));
}

/** Which of them to see to. */
export interface RecoverOptions {
  /** Only runs of this thread. */
  threadId?: string;
  /** Only runs that were given back. */
  givenBack?: boolean;
  /** How long to wait for threads that are taken, in milliseconds; those are left alone otherwise. */
  patience?: number;
  /** The thread's lease, where the caller has it: resolves when runs that go on have ended, and the thread is the caller's again. */
  under?: ThreadLease;
}
