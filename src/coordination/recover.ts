/** Recovers runs whose process died: a run never stays `running` without a process (docs/specification.md#states, 4). */
import { acceptanceKey, now } from "../storage/rows/rows.js";
import { isFinished } from "../models/run-status.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type { RunKey, RunOutcome, RunRow, UnfinishedRun } from "../storage/contract/runs.js";
import { GraphServeError, StorageUnavailableError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import type { EngineContext } from "../runs/live-runs.js";
import { interruptedRuns, type RecoverOptions, uncountedIfAlive } from "../runs/run-owners.js";
import { rootOf, writerOf } from "../threads/run-checkpoints.js";
import { statusByState } from "../threads/thread-state.js";
import {
  crashesOf,
  died,
  ended,
  hasBegun,
  isDelayed,
  isRolledBack,
  isUnclaimed,
  leaseOf,
  requeued,
} from "../runs/state.js";
import { isDead, ownerOf } from "../storage/rows/owners.js";
import { type InterruptedRun, readInterruptedRun, resumeThread } from "./resume-run.js";
import { revert } from "./rollback.js";
import { inTurn } from "./thread-turns.js";

/**
 * How to recover interrupted runs that can be resumed: `resume` resumes them here, `queue` requeues them for any process
 * with free capacity, `leave` leaves them to another server, `end` ends them as `error`.
 */
export type RecoveryPolicy = "resume" | "queue" | "leave" | "end";

const STOPPED = "server stopped during the run";

/**
 * Resumes the runs of dead processes, and settles those that cannot be resumed. Holds the lease of each thread meanwhile:
 * a process that only seems dead keeps its run, and a new run keeps its thread. Runs of unlocked threads are settled in
 * one batch.
 */
export async function recoverRuns(
  context: EngineContext,
  policy: () => RecoveryPolicy,
  { threadId, isRequeued, patience, under }: RecoverOptions = {},
): Promise<void> {
  const recovery = new Recovery(context, policy);
  if (threadId !== undefined && under) return recovery.recoverUnder(threadId, under);
  // This process may have ended a run that another one was rolling back when it died.
  const isLeft = ({ owner, run_id }: UnfinishedRun) =>
    owner?.id === context.ownerId && !context.live.find(run_id);
  const dead = await interruptedRuns(context, { threadId, ...(isRequeued && { ownerId: null }) }, isLeft);
  if (dead.length === 0) return;
  const locked = await recovery.recoverUnlocked(new Set(dead.map(({ thread_id }) => thread_id)));
  if (patience !== undefined) await Promise.all(locked.map((id) => recovery.recoverLocked(id, patience)));
}

/**
 * Resumes or settles a queued run. The caller holds the lease of its thread, which is released when `ended` resolves.
 * `begun` resolves when the run is in flight. `isLeft` is set if nothing was done, for instance because an earlier attempt
 * is still executing in this process.
 * @throws StorageUnavailableError (`storage_unavailable`); the lease is released then too
 */
export async function resumeQueued(
  context: EngineContext,
  { run_id, thread_id }: RunKey,
  lease: ThreadLease,
): Promise<{ begun: Promise<unknown>; ended: Promise<unknown>; isLeft: boolean }> {
  const leases: Leases = new Map([[thread_id, lease]]);
  try {
    const { counts, ...resumed } = await new Recovery(context, () => "resume").recoverAll(
      [{ run_id, thread_id, owner: undefined }],
      leases,
    );
    return { ...resumed, isLeft: counts.ended + counts.resumed === 0 };
  } finally {
    for (const left of leases.values()) await left.release();
  }
}

/** Leases by thread. The lease of a resumed run is removed. */
type Leases = Map<string, ThreadLease>;

class Recovery {
  readonly #context: EngineContext;
  /** Evaluated on each use: a shutdown may start while recovery waits for a thread. */
  readonly #policy: () => RecoveryPolicy;

  constructor(context: EngineContext, policy: () => RecoveryPolicy) {
    this.#context = context;
    this.#policy = policy;
  }

  /** Recovers runs of unlocked threads. Returns the locked threads. */
  async recoverUnlocked(threadIds: ReadonlySet<string>): Promise<string[]> {
    const { locks } = this.#context.storage;
    const leases: Leases = new Map();
    const locked: string[] = [];
    try {
      for (const id of threadIds) {
        const lease = await locks.acquire(id, { wait: false });
        if (lease) leases.set(id, lease);
        else locked.push(id);
      }
      await this.#recoverRun(leases);
    } finally {
      for (const lease of leases.values()) await lease.release();
    }
    return locked;
  }

  /** Recovers runs of a locked thread if its lock is released within `patience` milliseconds. */
  async recoverLocked(threadId: string, patience: number): Promise<void> {
    const signal = AbortSignal.timeout(patience);
    const leases: Leases = new Map();
    try {
      const options = { wait: true, first: true, signal };
      const lease = await this.#context.storage.locks.acquire(threadId, options);
      if (!lease) return;
      leases.set(threadId, lease);
      await this.#recoverRun(leases);
    } catch (error) {
      if (error !== signal.reason) throw error;
    } finally {
      for (const lease of leases.values()) await lease.release();
    }
  }

  /**
   * Recovers runs under the caller's lease. Resolves when the caller can use the thread again.
   * @throws StorageUnavailableError if a run cannot be claimed: the caller's run must not go first (`storage_unavailable`)
   */
  async recoverUnder(threadId: string, lease: ThreadLease): Promise<void> {
    const { lost } = lease;
    const borrowed: ThreadLease = { lost, confirm: () => lease.confirm?.(), release: () => undefined };
    // A process that has lost its lock may requeue its run while the run is claimed here. The run is still first.
    for (let round = 0; round < ROUNDS; round++) {
      const { ended, count } = await this.#recoverRun(new Map([[threadId, borrowed]]));
      await ended;
      if (lost?.aborted || count === 0) return;
    }
    throw new StorageUnavailableError("an earlier run of the thread could not be resumed");
  }

  /**
   * Recovers runs on threads that are leased here. `ended` resolves when the resumed runs have ended. `count` is the
   * number of runs that were to be resumed.
   */
  async #recoverRun(leases: Leases): Promise<{ ended: Promise<unknown>; count: number }> {
    if (leases.size === 0) return NOTHING;
    // A run that was requeued here while the storage failed comes first, and counts as owned here until that is stored.
    for (const threadId of leases.keys()) await this.#context.live.results.flush(threadId);
    const dead = await this.#remainder(leases);
    if (dead.length === 0) return NOTHING;
    const { begun, ended, counts } = await this.recoverAll(dead, leases);
    await begun;
    await this.#forgetOwners(dead);
    this.#report(counts);
    return { ended, count: counts.resumed };
  }

  /** Recovers the given runs. `begun` and `ended` never reject. */
  async recoverAll(
    dead: readonly UnfinishedRun[],
    leases: Leases,
  ): Promise<{ begun: Promise<unknown>; ended: Promise<unknown>; counts: Counts }> {
    const { runs } = this.#context.storage;
    const stopped = this.#cancelled(dead);
    const dispositions = (await Promise.all(dead.map((run) => this.#dispositionOf(run, stopped)))).filter(
      (disposition) => disposition !== undefined,
    );
    const outcomes = dispositions.flatMap((disposition) =>
      "outcome" in disposition ? [disposition.outcome] : [],
    );
    if (outcomes.length > 0)
      await runs.settle(outcomes.filter(({ threadId }) => !leases.get(threadId)?.lost?.aborted));
    const reverted = dispositions.flatMap((disposition) =>
      "reverted" in disposition && !leases.get(disposition.reverted.thread_id)?.lost?.aborted
        ? [disposition.reverted]
        : [],
    );
    for (const row of reverted) await revert(this.#context, row);
    const resumed = await inTurn(
      this.#context,
      dispositions.flatMap((disposition) => ("resumed" in disposition ? [disposition.resumed] : [])),
    );
    const queued = dispositions.filter((disposition) => "queued" in disposition).length;
    if (queued + reverted.length > 0) this.#context.queue.notify();
    const taken = await this.#resume(resumed, leases);
    const begun = Promise.all(taken.map((one) => one.begun));
    const ended = Promise.all(taken.map((one) => one.ended));
    // A live process may be about to complete the others itself.
    const self = ownerOf(this.#context.ownerId);
    const ownerOfRun = new Map(dead.map(({ run_id, owner }) => [run_id, owner]));
    const left = reverted.filter(({ run_id }) => isDead(ownerOfRun.get(run_id), self)).length;
    return { begun, ended, counts: { ended: outcomes.length + left, resumed: resumed.length, queued } };
  }

  /**
   * Queries the interrupted runs again: before the lease was acquired, a run may have ended, or its owner may have sent a
   * heartbeat. If processes share their locks, a lease proves that no other process executes a run of its thread: one that
   * has begun there has lost its lock, and resumes before the runs behind it.
   */
  async #remainder(leases: Leases): Promise<UnfinishedRun[]> {
    const [threadId] = leases.size === 1 ? leases.keys() : [];
    const { ownerId, queue, storage } = this.#context;
    const isLeased = ({ thread_id }: UnfinishedRun) => leases.has(thread_id);
    const self = ownerOf(ownerId);
    const isInterrupted = async ({ run_id, thread_id, owner }: UnfinishedRun) => {
      if (isDead(owner, self)) return true;
      const row = await storage.runs.get(thread_id, run_id);
      if (row && isRolledBack(row)) return true;
      // With a shared queue, a process claims a run before it locks its thread.
      const isProof = !queue.isShared && leases.get(thread_id)?.lost !== undefined && owner?.id !== ownerId;
      return isProof && row !== undefined && hasBegun(row);
    };
    const isOwned = queue.isShared && threadId === undefined;
    const unfinished = await storage.runs.unfinished(isOwned ? { isOwned } : { threadId });
    const remainder: UnfinishedRun[] = [];
    for (const run of unfinished.filter(isLeased)) if (await isInterrupted(run)) remainder.push(run);
    return remainder;
  }

  /** Ids of the runs that were cancelled. */
  async #cancelled(dead: readonly UnfinishedRun[]): Promise<ReadonlySet<string>> {
    const owners = new Set(dead.map(({ owner }) => owner?.id ?? null));
    const { runs } = this.#context.storage;
    return new Set((await Promise.all([...owners].map((id) => runs.cancelRequests(id)))).flat());
  }

  /** Undefined for a run that has ended, or that another process recovers. */
  async #dispositionOf(
    run: UnfinishedRun,
    cancelled: Promise<ReadonlySet<string>>,
  ): Promise<Disposition | undefined> {
    const [stored, stopped] = await Promise.all([
      this.#context.storage.runs.get(run.thread_id, run.run_id),
      cancelled,
    ]);
    // The graph of a run that was requeued here may still be executing.
    if (
      !stored ||
      isFinished(stored) ||
      isDelayed(stored) ||
      this.#context.checkpointer.isWatched(stored.run_id)
    )
      return undefined;
    const { ownerId, settings } = this.#context;
    const row = uncountedIfAlive(stored, run, ownerOf(ownerId), settings.max_attempts);
    if (isRolledBack(row)) return { reverted: row };
    const ended = stopped.has(row.run_id) ? INTERRUPTED : endingOf(row, this.#policy(), settings);
    if (ended) return { outcome: await this.#outcomeOf(row, ended) };
    if (this.#policy() === "leave" || !row.resumption) return undefined;
    if (this.#policy() === "queue")
      return !isUnclaimed(row) && (await this.#queue(row, run)) ? { queued: row } : undefined;
    try {
      return { resumed: await readInterruptedRun(this.#context, row, row.resumption, tookOf(row, run)) };
    } catch (error) {
      if (!(error instanceof GraphServeError) || error.code !== "run_failed") throw error;
      return { outcome: await this.#outcomeOf(row, diedOf(errorMessage(error))) };
    }
  }

  /** Requeues the run for any process with free capacity. False if it has ended or another process has claimed it. */
  async #queue(row: RunRow, run: UnfinishedRun): Promise<boolean> {
    const { resumption } = row;
    const updated_at = now();
    const spent_ms = (resumption?.spent_ms ?? 0) + tookOf(row, run);
    const patch = { updated_at, ...requeued(row), resumption: resumption && { ...resumption, spent_ms } };
    return (await this.#context.storage.runs.take?.(row, leaseOf(row), patch, { updated_at })) ?? false;
  }

  /** The end of the run. A busy thread gets the status of its state; another status was set by a later run and stays. */
  async #outcomeOf(row: RunRow, { status, error, isDead: isKept }: Ended): Promise<RunOutcome> {
    const { run_id, thread_id, resumption } = row;
    const { capabilities, storage } = this.#context;
    const final = isKept && resumption && storage.deadRuns ? died(resumption) : ended(status);
    const thread = await storage.threads.get(thread_id);
    const at = now();
    const outcome = {
      runId: run_id,
      run: { updated_at: at, ...final, error },
      threadId: thread_id,
      ...(capabilities.takeover && { holder: leaseOf(row) }),
    };
    if (thread?.status !== "busy") return { ...outcome, thread: { updated_at: thread?.updated_at ?? at } };
    const byState = await statusByState(this.#context, thread_id);
    const threadError = byState === "error" ? (error ?? STOPPED) : null;
    return {
      ...outcome,
      thread: { updated_at: at, state_updated_at: at, status: byState, error: threadError },
    };
  }

  async #resume(resumed: readonly InterruptedRun[], leases: Leases): Promise<Resumed[]> {
    const taken: Resumed[] = [];
    for (const [threadId, lease] of [...leases]) {
      const runs = await this.#inOrder(resumed.filter(({ row }) => row.thread_id === threadId));
      if (runs.length === 0 || lease.lost?.aborted) continue;
      // From here on, the runs own the lease.
      leases.delete(threadId);
      taken.push(await resumeThread(runs, lease));
    }
    return taken;
  }

  /**
   * The order of acceptance; runs that had started come before queued ones. Several can have started: a run that loses its
   * lock before its first write is requeued too. The one that wrote last comes first: it cannot continue after another.
   */
  async #inOrder(runs: InterruptedRun[]): Promise<InterruptedRun[]> {
    const sorted = runs.sort(byRank);
    const [first, second] = sorted;
    if (!first || !second || rankOf(second) > 0) return sorted;
    const latest = await this.#context.storage.checkpointer.getTuple(rootOf(first.row));
    const writer = latest && writerOf(latest);
    const isWriter = ({ row }: InterruptedRun) => row.run_id === writer;
    return [...sorted.filter(isWriter), ...sorted.filter((run) => !isWriter(run))];
  }

  /** Deletes owners that are dead and own no more runs. */
  async #forgetOwners(settled: readonly UnfinishedRun[]): Promise<void> {
    const { runs, owners } = this.#context.storage;
    const self = ownerOf(this.#context.ownerId);
    for (const ownerId of new Set(settled.map(({ owner }) => owner?.id))) {
      if (ownerId === undefined) continue;
      const unfinished = await runs.unfinished({ ownerId });
      const owner = settled.find((run) => run.owner?.id === ownerId)?.owner;
      if (isDead(owner, self) && unfinished.every((run) => run.owner?.id !== ownerId))
        await owners.remove(ownerId);
    }
  }

  #report({ ended, resumed, queued }: Counts): void {
    const { logger } = this.#context;
    if (queued > 0) logger.warn({ runs: queued }, "runs that a stopped server left unfinished were requeued");
    if (ended > 0) logger.warn({ runs: ended }, "runs that a stopped server left unfinished were settled");
    if (resumed > 0) logger.warn({ runs: resumed }, "resuming runs that a stopped server left unfinished");
  }
}

const NOTHING = { ended: Promise.resolve(), count: 0 };

/** How often a thread is searched for runs to resume before its caller uses it. */
const ROUNDS = 5;

type Resumed = Awaited<ReturnType<typeof resumeThread>>;

type Disposition =
  { outcome: RunOutcome } | { reverted: RunRow } | { resumed: InterruptedRun } | { queued: RunRow };

/** Number of runs by outcome. */
type Counts = Record<"ended" | "resumed" | "queued", number>;

interface Ended {
  status: "error" | "interrupted";
  error: string | null;
  /** Whether the run can be redriven. */
  isDead?: true;
}

const INTERRUPTED: Ended = { status: "interrupted", error: null };
const failedWith = (error: string): Ended => ({ status: "error", error });
const diedOf = (error: string): Ended => ({ ...failedWith(error), isDead: true });

/** How a run of a dead process ends; undefined if it can be resumed. */
function endingOf(
  row: RunRow,
  policy: RecoveryPolicy,
  { max_attempts }: EngineContext["settings"],
): Ended | undefined {
  const { resumption, status } = row;
  if (!resumption) return failedWith(STOPPED);
  // Its client was connected to the dead process.
  if (!resumption.unattended) return INTERRUPTED;
  if (policy === "end") return failedWith(STOPPED);
  if (!resumption.isWhole)
    return failedWith(`${STOPPED}, and the secrets in its request are not stored, so it cannot be resumed`);
  const crashes = crashesOf(row);
  if (status === "running" && crashes >= max_attempts)
    return diedOf(
      `the run's process died ${crashes === 1 ? "once" : `${crashes} times`}, and it is not tried again`,
    );
  return undefined;
}

/** Milliseconds from the start of the run to the last heartbeat of its process. */
function tookOf({ status, updated_at }: RunRow, { owner }: UnfinishedRun): number {
  if (status !== "running" || !owner) return 0;
  return Math.max(0, Date.parse(owner.seen_at) - Date.parse(updated_at));
}

const byRank = (a: InterruptedRun, b: InterruptedRun): number =>
  rankOf(a) - rankOf(b) || (acceptanceKey(a.row) < acceptanceKey(b.row) ? -1 : 1);
const rankOf = ({ row }: InterruptedRun): number => (row.status === "running" ? 0 : 1);
