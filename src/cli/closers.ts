/** What has been opened and must be closed: in reverse order, once, the rest also when one of them fails. */
export class Closers {
  #closers: (() => unknown)[] = [];

  add(close: () => unknown): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    const closers = this.#closers.reverse();
    this.#closers = [];
    const errors: unknown[] = [];
    for (const close of closers) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    // The first is the cause; later ones are mostly its consequences.
    if (errors.length > 0) throw errors[0];
  }
}
