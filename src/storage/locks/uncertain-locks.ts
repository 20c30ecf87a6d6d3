/**
 * Threads that a caller has locked in this process while it is not yet known whether another process has the shared lock.
 * Until then, the number of waiting callers is unknown.
 */
export class UncertainLocks {
  /** The calls to make once the shared lock of a thread is known. */
  readonly #threads = new Map<string, (() => void)[]>();

  /** The thread was locked in this process. A property, because it is passed as a callback. */
  readonly begin = (threadId: string): void => void this.#threads.set(threadId, []);

  /** The shared lock is known. Called by the local lock holder, before it releases its lock. */
  settle(threadId: string): void {
    for (const wake of this.#threads.get(threadId) ?? []) wake();
    this.#threads.delete(threadId);
  }

  has(threadId: string): boolean {
    return this.#threads.has(threadId);
  }

  /** Resolves once the shared lock of the thread is known. Rejects with the signal's reason when aborted. */
  async known(threadId: string, signal?: AbortSignal): Promise<void> {
    while (this.#threads.has(threadId)) {
      signal?.throwIfAborted();
      await new Promise<void>((resolve) => {
        const wake = () => {
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        this.#threads.get(threadId)?.push(wake);
        signal?.addEventListener("abort", wake);
      });
    }
  }
}
