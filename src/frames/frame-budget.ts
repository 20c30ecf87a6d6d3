/** One memory limit for all frames that this process keeps, of runs and of threads. */

/** Bytes of a frame in addition to its text: the object, the string header and the list entry. */
const FRAME_BYTES = 128;
/** Bytes of a log in addition to its frames. */
export const LOG_BYTES = 1024;
/** Fraction of the limit that one eviction frees, so that a full budget is not searched for every frame. */
const FREED_FRACTION = 1 / 8;

/** V8 stores strings with such characters as two bytes per character. The test is fast on one-byte strings. */
const TWO_BYTE = /[^\u0000-\u00ff]/;

/** Memory of a frame, in bytes. */
export const memoryOf = ({ data }: { readonly data: string }): number =>
  FRAME_BYTES + (TWO_BYTE.test(data) ? 2 * data.length : data.length);

/**
 * Eviction classes, evicted in this order: `spare` logs are kept for possible readers after their run has ended,
 * `unread` logs are running without a reader, `behind` logs have frames that a slow reader has not read, and all frames
 * of `current` logs have been read.
 */
const LOSSES = ["spare", "unread", "behind", "current"] as const;

export type Loss = (typeof LOSSES)[number];

/** A log whose frames count towards the budget. */
export interface CountedLog {
  readonly loss: Loss;
  /**
   * Drops the oldest frames until `bytes` are freed or no frame remains.
   * @returns the number of readers that had not read all of the dropped frames
   */
  release(bytes: number): number;
}

export class FrameBudget {
  readonly #maxBytes: number;
  readonly #onLoss: (readers: number) => void;
  /** Least recently read first. */
  readonly #logs = new Set<CountedLog>();
  #bytes = 0;

  /** @param onLoss called with the number of readers that had not read all of the dropped frames */
  constructor(maxBytes: number, onLoss: (readers: number) => void = () => undefined) {
    this.#maxBytes = maxBytes;
    this.#onLoss = onLoss;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Changes the bytes of a log, which are undefined while it does not count. */
  count(log: CountedLog, before: number | undefined, after: number | undefined): void {
    this.#bytes += (after ?? 0) - (before ?? 0);
    if (after === undefined) this.#logs.delete(log);
    else if (before === undefined) this.#logs.add(log);
  }

  /** Marks a log as most recently read. */
  touch(log: CountedLog): void {
    if (this.#logs.delete(log)) this.#logs.add(log);
  }

  /** Drops frames until another `bytes` fit. A single frame larger than the limit is still kept. */
  makeRoom(bytes: number): void {
    if (this.#bytes + bytes <= this.#maxBytes) return;
    const goal = this.#maxBytes * (1 - FREED_FRACTION) - bytes;
    let readers = 0;
    for (const loss of LOSSES) readers += this.#release(loss, goal);
    if (readers > 0) this.#onLoss(readers);
  }

  #release(loss: Loss, goal: number): number {
    let readers = 0;
    for (const log of this.#logs) {
      if (this.#bytes <= goal) break;
      if (log.loss === loss) readers += log.release(this.#bytes - goal);
    }
    return readers;
  }
}
