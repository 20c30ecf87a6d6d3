import { ThreadBusyError } from "../../support/errors.js";
import type { AcquireOptions, ThreadLease, ThreadLocks } from "../contract/locks.js";
import { createThreadLocks } from "./thread-locks.js";
import { UncertainLocks } from "./uncertain-locks.js";

/** A thread lock shared by processes. It is valid as long as the session under which it was acquired. */
export interface RemoteLock {
  /** Aborts when the session, and thus the lock, is lost. */
  readonly lost: AbortSignal;
  /** See `ThreadLease.confirm`. */
  readonly confirm: () => Promise<void> | undefined;
  /** Release the lock. Resolves to true if another process waits for the thread. Never rejects. */
  free(): Promise<boolean>;
}

/** Locks that processes share. Each process makes at most one call per thread at a time. */
export interface RemoteLocks {
  /** Acquire the lock; undefined if another process has it. */
  take(threadId: string): Promise<RemoteLock | undefined>;
  /** Wait for the lock. With `yields`, other processes get it first. Rejects with the signal's reason when aborted. */
  wait(threadId: string, options: { yields: boolean; signal: AbortSignal | undefined }): Promise<RemoteLock>;
}

/**
 * At most one lease per thread among all processes: a queue in each process, in front of a lock that the processes share.
 *
 * Order: within a process, callers get the lease in order of arrival. There is no common queue among processes: a process
 * that releases a thread lets waiting processes go first, before its own next waiter. Which of several waiting processes
 * gets the thread is random, unless `givesWay` decides. This prevents starvation: no process waits forever while another
 * one works through its own queue.
 */
export class SharedThreadLocks implements ThreadLocks {
  readonly #remote: RemoteLocks;
  readonly #maxWaiting: number;
  readonly #own: ThreadLocks;
  /** Threads for which this process waits because another process has the lock. */
  readonly #waitingForOthers = new Set<string>();
  readonly #uncertain = new UncertainLocks();
  /** Threads for which the next local waiter must let other processes go first. */
  readonly #yielded = new Set<string>();

  constructor(remote: RemoteLocks, { maxWaiting }: { maxWaiting: number }) {
    this.#remote = remote;
    this.#maxWaiting = maxWaiting;
    this.#own = createThreadLocks({ maxWaiting, onGrant: this.#uncertain.begin });
  }

  async acquire(threadId: string, options: AcquireOptions): Promise<ThreadLease | undefined> {
    const { wait, first, signal } = options;
    if (wait && this.#uncertain.has(threadId)) await this.#uncertain.known(threadId, signal);
    // The local queue does not count its first caller. If another process has the lock, that caller waits as well.
    if (wait && !first && this.#waitingForOthers.has(threadId) && this.waiting(threadId) >= this.#maxWaiting)
      throw this.#full(threadId);
    const turn = await this.#own.acquire(threadId, options);
    if (!turn) return undefined;
    let lock: RemoteLock | undefined;
    try {
      lock = await this.#acquireFromOthers(threadId, options);
    } finally {
      this.#uncertain.settle(threadId);
      if (!lock) void turn.release();
    }
    if (!lock) return undefined;
    const lease = this.#lease(threadId, lock, turn);
    if (!signal?.aborted) return lease;
    void lease.release();
    throw signal.reason;
  }

  waiting(threadId: string): number {
    return this.#own.waiting(threadId) + (this.#waitingForOthers.has(threadId) ? 1 : 0);
  }

  async #acquireFromOthers(
    threadId: string,
    { wait, first, signal, givesWay }: AcquireOptions,
  ): Promise<RemoteLock | undefined> {
    let yields = this.#yielded.delete(threadId) && wait;
    if (!yields) {
      const lock = await this.#remote.take(threadId);
      if (lock) this.#uncertain.settle(threadId);
      if (!wait || (lock && !(await freedFor(lock, givesWay)))) return lock;
      if (!first && this.#maxWaiting === 0) throw this.#full(threadId);
      yields = lock !== undefined;
    }
    this.#waitingForOthers.add(threadId);
    this.#uncertain.settle(threadId);
    try {
      for (;;) {
        const lock = await this.#remote.wait(threadId, { yields, signal });
        if (!(await freedFor(lock, givesWay))) return lock;
        yields = true;
      }
    } finally {
      this.#waitingForOthers.delete(threadId);
    }
  }

  #lease(threadId: string, lock: RemoteLock, turn: ThreadLease): ThreadLease {
    const lost = new AbortController();
    const lose = () => lost.abort(lock.lost.reason);
    if (lock.lost.aborted) lose();
    else lock.lost.addEventListener("abort", lose, { once: true });
    let released: Promise<void> | undefined;
    const release = async () => {
      lock.lost.removeEventListener("abort", lose);
      const othersWait = await lock.free();
      if (othersWait && this.#own.waiting(threadId) > 0) this.#yielded.add(threadId);
      await turn.release();
    };
    return {
      lost: lost.signal,
      confirm: lock.confirm,
      release: () => (released ??= release()),
    };
  }

  #full(threadId: string): ThreadBusyError {
    return new ThreadBusyError(threadId, `${this.waiting(threadId)} callers already wait for it`);
  }
}

/** Whether the lock was released for other processes, see `AcquireOptions.givesWay`. */
async function freedFor(lock: RemoteLock, givesWay: AcquireOptions["givesWay"]): Promise<boolean> {
  let keeps = false;
  try {
    keeps = !(await givesWay?.(lock));
  } finally {
    if (!keeps) await lock.free();
  }
  return !keeps;
}
