/**
 * A point in time, and how long ago it is: by the clock that says more. One of the two pauses while the machine
 * is suspended; the other can be set.
 */
export class Stopwatch {
  readonly #monotonic = performance.now();
  readonly #wall = Date.now();

  /** Milliseconds. */
  elapsed(): number {
    return Math.max(performance.now() - this.#monotonic, Date.now() - this.#wall);
  }
}
