/**
 * Threads whose turn in this process is taken, while it is not known yet whether another process holds them: until
 * then nobody can say how many callers wait.
 */
export class UncertainLocks {
  readonly #threads = new Map<string, { known: Promise<void>; settle: () => void }>();

  /** The thread's turn is taken. */
  begin(threadId: string): void {
    let settle: () => void = () => undefined;
    const known = new Promise<void>((resolve) => (settle = resolve));
    this.#threads.set(threadId, { known, settle });
  }

  /** It is known; to be called by who has the turn, before giving it away. */
  settle(threadId: string): void {
    this.#threads.get(threadId)?.settle();
    this.#threads.delete(threadId);
  }

  has(threadId: string): boolean {
    return this.#threads.has(threadId);
  }

  /** Resolves when it is known of the thread. Rejects with the reason of `signal` when that aborts. */
  async known(threadId: string, signal?: AbortSignal): Promise<void> {
    let leave: () => void = () => undefined;
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(signal?.reason as Error);
    });
    left.catch(() => undefined);
    signal?.addEventListener("abort", leave, { once: true });
    try {
      for (let thread = this.#threads.get(threadId); thread; thread = this.#threads.get(threadId)) {
        signal?.throwIfAborted();
        await Promise.race([thread.known, left]);
      }
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }
}
