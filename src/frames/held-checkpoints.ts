/** Checkpoints that wait until the frames before them can be read everywhere: see `SharedFrames.stored`. */

/** Longest time that one waits, also for what its graph has yielded to come to the frames. */
export const HOLD_MS = 1_000;

interface Waiter<Source> {
  source: Source;
  next: number;
  release: () => void;
}

export class HeldCheckpoints<Source> {
  readonly #waiting = new Set<Waiter<Source>>();
  /** Whether one has waited in vain, and nothing has been there in time since. */
  isLate = false;

  /** Whether none waits. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Resolves when the frames of a source before `next` are there, or are not waited for. */
  hold(source: Source, next: number): Promise<void> {
    return new Promise((resolve) => {
      const release = () => {
        clearTimeout(timer);
        this.#waiting.delete(waiter);
        resolve();
      };
      const timer = setTimeout(() => {
        this.isLate = true;
        release();
      }, HOLD_MS);
      const waiter = { source, next, release };
      this.#waiting.add(waiter);
    });
  }

  /** The frames of this source before `next` are there. */
  frameStored(source: Source, next = Infinity): void {
    for (const waiter of this.#waiting) if (waiter.source === source && waiter.next <= next) waiter.release();
  }

  /** None is waited for. */
  releaseAll(): void {
    for (const { release } of this.#waiting) release();
  }
}
