/** One limit for the memory of all frames that this process keeps, of runs and of threads. */

/** What a frame costs beside its text: the object, the header of the text, its place in the list. */
const FRAME_BYTES = 128;
/** What an ended run, or the events of a thread, cost beside their frames. */
export const LOG_BYTES = 1024;
/** Part of the limit that is freed at once, so that a full budget is not searched for every frame. */
const SHARE_FREED = 1 / 8;

/** V8 stores a text of other characters with two bytes a character. On a text of one byte each it answers at once. */
const WIDE = /[^\u0000-\u00ff]/;

/** Bytes that a frame takes in memory. */
export const memoryOf = ({ data }: { readonly data: string }): number =>
  FRAME_BYTES + (WIDE.test(data) ? 2 * data.length : data.length);

/**
 * What is lost with the frames of a log, from the least to the most: those that are kept for readers who may come, of
 * what has ended and of what is running; those that slow readers have yet to see; those that all readers have seen.
 */
const LOSSES = ["spare", "unread", "behind", "current"] as const;

export type Loss = (typeof LOSSES)[number];

/** A log whose frames count. */
export interface CountedLog {
  /** Bytes that it counts for. */
  readonly memory: number;
  readonly loss: Loss;
  /** Drop the oldest frames, of so many bytes or all. Returns how many readers have yet to see some of them. */
  release(bytes: number): number;
}

export class FrameBudget {
  readonly #maxBytes: number;
  readonly #onLoss: (readers: number) => void;
  /** The log that was read longest ago comes first. */
  readonly #logs = new Set<CountedLog>();
  #bytes = 0;

  /** @param onLoss called when frames were dropped that so many readers had yet to see */
  constructor(maxBytes: number, onLoss: (readers: number) => void = () => undefined) {
    this.#maxBytes = maxBytes;
    this.#onLoss = onLoss;
  }

  /** Bytes kept now. */
  get bytes(): number {
    return this.#bytes;
  }

  add(log: CountedLog): void {
    this.#logs.add(log);
    this.#bytes += log.memory;
  }

  remove(log: CountedLog): void {
    if (this.#logs.delete(log)) this.#bytes -= log.memory;
  }

  /** A counted log has become larger or, with fewer than zero bytes, smaller. */
  grow(bytes: number): void {
    this.#bytes += bytes;
  }

  /** A log was read. */
  touch(log: CountedLog): void {
    if (this.#logs.delete(log)) this.#logs.add(log);
  }

  /** Drop frames until there is room for so many bytes more. A frame larger than the limit is kept alone. */
  makeRoom(bytes: number): void {
    if (this.#bytes + bytes <= this.#maxBytes) return;
    const goal = this.#maxBytes * (1 - SHARE_FREED) - bytes;
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
