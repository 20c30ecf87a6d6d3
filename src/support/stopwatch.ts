/**
 * Measures elapsed time with the larger of two clocks: one pauses while the machine is suspended,
 * the other can be changed.
 */
export class Stopwatch {
  readonly #monotonic = performance.now();
  readonly #wall = Date.now();

  /** In milliseconds. */
  elapsed(): number {
    return Math.max(performance.now() - this.#monotonic, Date.now() - this.#wall);
  }
}
