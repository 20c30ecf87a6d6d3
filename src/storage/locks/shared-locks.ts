import { ThreadBusyError } from "../../support/errors.js";
import type { AcquireOptions, ThreadLease, ThreadLocks } from "../contract/storage.js";
import { createThreadLocks } from "./thread-locks.js";
import { UncertainLocks } from "./uncertain-locks.js";

/** A lock of a thread that holds among processes, for as long as the session lives that it was taken under. */
export interface RemoteLock {
  /** Aborts when the session ended, and the lock with it. */
  readonly lost: AbortSignal;
  /** As `confirm` of a lease. */
  confirm(): Promise<void> | undefined;
  /** True when another process waits for the thread. Never rejects. */
  free(): Promise<boolean>;
}

/** Locks that processes share. In one process a thread has one caller at a time. */
export interface RemoteLocks {
  /** The lock, unless another process has it. */
  take(threadId: string): Promise<RemoteLock | undefined>;
  /** The lock, as soon as it is free; with `yields` other processes have the first chance. Rejects with the signal's reason. */
  wait(threadId: string, options: { yields: boolean; signal: AbortSignal | undefined }): Promise<RemoteLock>;
}

/**
 * One lease a thread at a time among all processes: in front the queue of this process, behind it a lock that the
 * processes share.
 *
 * Order: within a process strictly that of arrival. Among processes there is no common queue: whoever releases a thread
 * that others wait for lets them go first, before its own next waiter; which of several others gets the thread is
 * chance. No process waits for ever while another serves its own queue.
 */
export class SharedThreadLocks implements ThreadLocks {
  readonly #remote: RemoteLocks;
  readonly #maxWaiting: number;
  readonly #own: ThreadLocks;
  /** Threads of which this process waits for another one. */
  readonly #waitingForOthers = new Set<string>();
  readonly #undecided = new UncertainLocks();
  /** Threads that others were let go first with, which the next waiter here has to mind. */
  readonly #yielded = new Set<string>();

  constructor(remote: RemoteLocks, { maxWaiting }: { maxWaiting: number }) {
    this.#remote = remote;
    this.#maxWaiting = maxWaiting;
    this.#own = createThreadLocks({ maxWaiting, onGrant: (threadId) => this.#undecided.begin(threadId) });
  }

  async acquire(threadId: string, options: AcquireOptions): Promise<ThreadLease | undefined> {
    const { wait, signal } = options;
    if (wait && this.#undecided.has(threadId)) await this.#undecided.known(threadId, signal);
    this.#refuseWhenFull(threadId, options);
    const turn = await this.#own.acquire(threadId, options);
    if (!turn) return undefined;
    let lock: RemoteLock | undefined;
    try {
      lock = await this.#acquireFromOthers(threadId, options);
    } finally {
      this.#undecided.settle(threadId);
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

  /** The queue here is of those behind the holder; when the holder is elsewhere, its first waits as well. */
  #refuseWhenFull(threadId: string, { wait, first }: AcquireOptions): void {
    if (!wait || first || !this.#waitingForOthers.has(threadId)) return;
    if (this.waiting(threadId) >= this.#maxWaiting) throw this.#full(threadId);
  }

  async #acquireFromOthers(
    threadId: string,
    { wait, first, signal }: AcquireOptions,
  ): Promise<RemoteLock | undefined> {
    const yields = this.#yielded.delete(threadId) && wait;
    if (!yields) {
      const lock = await this.#remote.take(threadId);
      if (lock || !wait) return lock;
      if (!first && this.#maxWaiting === 0) throw this.#full(threadId);
    }
    this.#waitingForOthers.add(threadId);
    this.#undecided.settle(threadId);
    try {
      return await this.#remote.wait(threadId, { yields, signal });
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
      confirm: () => lock.confirm(),
      release: () => (released ??= release()),
    };
  }

  #full(threadId: string): ThreadBusyError {
    return new ThreadBusyError(threadId, `${this.waiting(threadId)} callers already wait for it`);
  }
}
