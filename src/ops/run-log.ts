/** The frames of one run: kept for every reader that follows it, also for one that comes late. */
import type { JsonObject } from "../models/common.js";
import { FramesLostError, type RunFrame } from "../models/run-stream.js";

/** What one run's log may hold; older frames are forgotten first. */
const MAX_FRAMES = 10_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;

interface Reader {
  /** Id of the frame that it has yet to see. */
  next: number;
}

export class RunLog {
  /** Set for a run whose thread is none of its client's: it is found by its id alone, within this scope. */
  stateless: { thread_id: string; scope: Readonly<JsonObject> } | undefined;
  #frames: RunFrame[] = [];
  /** Id of the oldest frame that is kept. */
  #first = 0;
  #characters = 0;
  #closed = false;
  readonly #waiting = new Set<() => void>();
  readonly #readers = new Set<Reader>();

  push(event: string, data: string): void {
    if (this.#closed) return;
    this.#frames.push({ id: this.#first + this.#frames.length, event, data });
    this.#characters += data.length;
    if (this.#frames.length > MAX_FRAMES || this.#characters > MAX_CHARACTERS) this.#forget();
    this.#wake();
  }

  /** No more frames come; those that are kept can still be read. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** Memory that the log takes, roughly, in characters. */
  get size(): number {
    return this.#characters;
  }

  /** True when the log has had the frame with id `after`, and holds every one after it. */
  reaches(after: number): boolean {
    const next = after + 1;
    return next >= this.#first && next <= this.#first + this.#frames.length;
  }

  /**
   * The frames after the one with id `after`, in batches of those that are ready together, to the run's end. From this
   * call on, frames are not forgotten before the reader has seen them, unless they are too large together.
   * @throws FramesLostError when the reader has fallen behind what is kept: a gap must not look like a whole stream
   */
  read(after = -1): AsyncGenerator<readonly RunFrame[], void, undefined> {
    const reader = { next: after + 1 };
    this.#readers.add(reader);
    return this.#follow(reader);
  }

  async *#follow(reader: Reader): AsyncGenerator<readonly RunFrame[], void, undefined> {
    try {
      for (;;) {
        if (reader.next < this.#first) throw new FramesLostError();
        const batch = this.#frames.slice(reader.next - this.#first);
        if (batch.length > 0) {
          reader.next += batch.length;
          yield batch;
        } else if (this.#closed) {
          return;
        } else {
          await new Promise<void>((resolve) => this.#waiting.add(resolve));
        }
      }
    } finally {
      this.#readers.delete(reader);
    }
  }

  #forget(): void {
    const isTooLarge = this.#characters > MAX_CHARACTERS;
    const seen = Math.min(...[...this.#readers].map(({ next }) => next - this.#first));
    // A quarter at once, so that a full log is not moved for every frame.
    const gone = this.#frames.splice(
      0,
      Math.min(Math.ceil(this.#frames.length / 4), isTooLarge ? Infinity : seen),
    );
    this.#first += gone.length;
    for (const { data } of gone) this.#characters -= data.length;
  }

  #wake(): void {
    if (this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    waiting.forEach((resolve) => resolve());
  }
}
