/** Checkpoints that wait until all earlier frames are on the bus: see `SharedFrames.stored`. */

/** Maximum wait of a checkpoint, in milliseconds. */
export const HOLD_MS = 1_000;
/** Parts of that wait. A process that was suspended or blocked meanwhile has waited one of them: it has read no response. */
const PARTS = 4;

interface Waiter<Source> {
  source: Source;
  next: number;
  release: () => void;
}

export class HeldCheckpoints<Source> {
  readonly waiting = new Set<Waiter<Source>>();
  /** True after a checkpoint timed out, until frames are stored in time again. */
  isLate = false;

  /** Resolves when the frames before `next` of a source are stored, or the wait is given up. */
  hold(source: Source, next: number): Promise<void> {
    return new Promise((resolve) => {
      const release = () => {
        clearInterval(timer);
        this.waiting.delete(waiter);
        resolve();
      };
      let left = PARTS;
      const timer = setInterval(() => {
        left -= 1;
        if (left > 0) return;
        this.isLate = true;
        release();
      }, HOLD_MS / PARTS);
      const waiter = { source, next, release };
      this.waiting.add(waiter);
    });
  }

  /** Records that the frames before `next` of this source are stored. */
  frameStored(source: Source, next = Infinity): void {
    for (const waiter of this.waiting) if (waiter.source === source && waiter.next <= next) waiter.release();
  }

  /** Stops all waits. */
  releaseAll(): void {
    for (const { release } of this.waiting) release();
  }
}
