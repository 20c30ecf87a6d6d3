import { dueTurn } from "../event-loop.js";

/**
 * Hand every item of `source` to `take`, in order, a few milliseconds' worth a turn: a graph that never waits floods
 * its stream, and other requests must get in. The source is read without such pauses, because what LangGraph's stream
 * still holds when the graph throws is lost. Rejects with what the source or `take` threw, once all is taken.
 */
export async function takeAll<T>(source: AsyncIterable<T>, take: (item: T) => void): Promise<void> {
  const taker = new Taker(take);
  try {
    for await (const item of source) {
      taker.add(item);
      if (taker.failed) break;
    }
  } finally {
    await taker.idle;
  }
  taker.throwFailure();
}

/** Takes items in the background of whoever adds them. */
class Taker<T> {
  /** Settles when nothing waits any more; never rejects. */
  idle: Promise<void> = Promise.resolve();
  readonly #take: (item: T) => void;
  #waiting: T[] = [];
  #busy = false;
  #failure: { error: unknown } | undefined;

  constructor(take: (item: T) => void) {
    this.#take = take;
  }

  get failed(): boolean {
    return this.#failure !== undefined;
  }

  add(item: T): void {
    this.#waiting.push(item);
    if (!this.#busy) this.idle = this.#run();
  }

  throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }

  async #run(): Promise<void> {
    this.#busy = true;
    try {
      while (this.#waiting.length > 0) await this.#takeWaiting();
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#busy = false;
    }
  }

  async #takeWaiting(): Promise<void> {
    const items = this.#waiting;
    this.#waiting = [];
    for (const item of items) {
      this.#take(item);
      const turn = dueTurn();
      if (turn) await turn;
    }
  }
}
