/**
 * Threads that a caller has locked in this process while it is not yet known whether another process has the shared lock.
 * Until then, the number of waiting callers is unknown.
 */
export class UncertainLocks {
  readonly #threads = new Map<string, { known: Promise<void>; settle: () => void }>();

  /** The thread was locked in this process. */
  begin(threadId: string): void {
    let settle: () => void = () => undefined;
    const known = new Promise<void>((resolve) => (settle = resolve));
    this.#threads.set(threadId, { known, settle });
  }

  /** The shared lock is known. Called by the local lock holder, before it releases its lock. */
  settle(threadId: string): void {
    this.#threads.get(threadId)?.settle();
    this.#threads.delete(threadId);
  }

  has(threadId: string): boolean {
    return this.#threads.has(threadId);
  }

  /** Resolves once the shared lock of the thread is known. Rejects with the signal's reason when aborted. */
  async known(threadId: string, signal?: AbortSignal): Promise<void> {
    let leave: () => void = () => undefined;
    const aborted = new Promise<never>((_, reject) => {
      leave = () => reject(signal?.reason as Error);
    });
    aborted.catch(() => undefined);
    signal?.addEventListener("abort", leave, { once: true });
    try {
      for (let thread = this.#threads.get(threadId); thread; thread = this.#threads.get(threadId)) {
        signal?.throwIfAborted();
        await Promise.race([thread.known, aborted]);
      }
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }
}
