/** Keeps the event loop turning: what never waits for anything would keep all other requests out. */
import { setImmediate as nextTurn } from "node:timers/promises";

/** Longest time that runs keep the event loop before they are asked to wait for another turn, in milliseconds. */
const TURN_MS = 5;

/** When this turn began, as far as runs know; undefined when none has asked in it. */
let turnStart: number | undefined;
/** Those that wait for a turn, in their order. */
const waiting: (() => void)[] = [];

/**
 * What to wait for now, so that others get in; undefined as long as this turn of the event loop is short. One that waited
 * has a turn to itself: many small pieces of many runs in each turn would cost as many small writes to their clients.
 */
export function dueTurn(): Promise<void> | undefined {
  if (turnStart === undefined) beginTurn();
  else if (performance.now() - turnStart >= TURN_MS) return new Promise(queue);
  return undefined;
}

function beginTurn(): void {
  if (turnStart === undefined) setImmediate(endTurn);
  turnStart = performance.now();
}

function endTurn(): void {
  turnStart = undefined;
}

function queue(resume: () => void): void {
  if (waiting.push(resume) === 1) setImmediate(resumeNext);
}

function resumeNext(): void {
  beginTurn();
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeNext);
}

/**
 * The items that pass a test, of those that there are now: some milliseconds' worth of testing a turn, however many
 * there are.
 */
export async function filterInTurns<T>(items: readonly T[], passes: (item: T) => boolean): Promise<T[]> {
  const passed: T[] = [];
  for (const item of [...items]) {
    if (passes(item)) passed.push(item);
    const turn = dueTurn();
    if (turn) await turn;
  }
  return passed;
}

export { nextTurn };

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
