/** Locks keep runs apart: one lease a thread. */

/** The right to run on a thread. */
export interface ThreadLease {
  /** Give the thread to the next waiter. Later calls do nothing. Never rejects. */
  release(): void | Promise<void>;
  /** Aborts when the lease was lost, for instance with its connection; absent where that cannot happen. */
  readonly lost?: AbortSignal;
  /**
   * To be called before a write that the lease covers: a process that stood still, or a machine that was suspended,
   * may have lost it unaware. Then `lost` has aborted when the promise resolves. Undefined, which is nothing to wait
   * for, while the lease is known to stand. Never rejects.
   */
  confirm?(): Promise<void> | undefined;
}

export interface AcquireOptions {
  /** False: answer undefined at once when the thread is taken. */
  wait: boolean;
  /** True: go before those who already wait, and never find the queue full. */
  first?: boolean;
  /** Leaves the queue; the call then rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** One lease a thread at a time; waiters are served in order of arrival (docs/specification.md#concurrency). */
export interface ThreadLocks {
  /**
   * @throws ThreadBusyError when the thread's queue is full (`thread_busy`)
   */
  acquire(threadId: string, options: AcquireOptions): Promise<ThreadLease | undefined>;
  /** How many wait for this thread. */
  waiting(threadId: string): number;
}
