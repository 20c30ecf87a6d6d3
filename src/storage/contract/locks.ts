/** Thread locks: at most one lease per thread, so that runs of a thread never overlap. */

/**
 * The exclusive right to run on a thread.
 * @example
 * ```ts
 * import { createThreadLocks, type ThreadLease } from "graph-serve";
 *
 * const locks = createThreadLocks({ maxWaiting: 10 });
 * const lease: ThreadLease | undefined = await locks.acquire("thread-1", { wait: true });
 * await lease?.release();
 * ```
 */
export interface ThreadLease {
  /** Release the thread to the next waiter. Idempotent. Never rejects. */
  release(): void | Promise<void>;
  /** Aborts when the lease is lost, for example with its connection. Leave it out if that cannot happen. */
  readonly lost?: AbortSignal;
  /**
   * Called before each write that the lease protects. A process that was paused, or a machine that was suspended, may
   * have lost the lease without noticing; in that case `lost` must have aborted before the promise resolves. Return
   * undefined, instead of a promise, if the lease is known to be valid. Never rejects.
   */
  confirm?(): Promise<void> | undefined;
}

/**
 * How to wait for a thread's lease.
 * @example
 * ```ts
 * import { createThreadLocks, type AcquireOptions } from "graph-serve";
 *
 * const locks = createThreadLocks({ maxWaiting: 10 });
 * const options: AcquireOptions = { wait: true, signal: AbortSignal.timeout(1000) };
 * const lease = await locks.acquire("thread-1", options);
 * await lease?.release();
 * ```
 */
export interface AcquireOptions {
  /** If false, `acquire` returns undefined without waiting when the thread is locked. */
  wait: boolean;
  /** If true, the caller goes to the front of the queue, and the queue limit does not apply. */
  first?: boolean;
  /** Aborting it leaves the queue; the call rejects with the signal's reason. */
  signal?: AbortSignal;
  /**
   * Called each time the caller could get the lease. If it resolves to true, other processes get the thread first, and the
   * caller keeps its place among those of its process. Locks that processes do not share ignore it.
   */
  givesWay?: (held: Pick<ThreadLease, "lost" | "confirm">) => Promise<boolean>;
}

/**
 * At most one lease per thread; waiters get it in order of arrival (docs/specification.md#concurrency).
 * @example
 * ```ts
 * import { createThreadLocks, type ThreadLocks } from "graph-serve";
 *
 * const locks: ThreadLocks = createThreadLocks({ maxWaiting: 10 });
 * await locks.acquire("thread-1", { wait: true });
 * locks.waiting("thread-1"); // => 0
 * ```
 */
export interface ThreadLocks {
  /**
   * Acquire the thread's lease.
   * @throws ThreadBusyError if the thread's queue is full (`thread_busy`)
   */
  acquire(threadId: string, options: AcquireOptions): Promise<ThreadLease | undefined>;
  /** Number of callers that are waiting for this thread. */
  waiting(threadId: string): number;
}
