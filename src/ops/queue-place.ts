/** A place in the queue of a thread, for a run that is stored while it waits. */
import { ThreadBusyError } from "../support/errors.js";
import { nextTurn } from "../support/event-loop.js";
import type { ThreadLease } from "../storage/storage.js";

export class QueuePlace {
  /** The thread's lease, when its turn has come; rejects when the place was refused or left. */
  readonly lease: Promise<ThreadLease>;
  readonly #leaving = new AbortController();
  #refused: ThreadBusyError | undefined;

  constructor(acquire: (signal: AbortSignal) => Promise<ThreadLease>) {
    this.lease = acquire(this.#leaving.signal);
    this.lease.catch((error: unknown) => {
      if (error instanceof ThreadBusyError) this.#refused = error;
    });
  }

  leave(reason: unknown): void {
    this.#leaving.abort(reason);
  }

  /**
   * Store what is to wait here. A full queue says so at once, or while it is being stored: then it is taken back.
   * @throws ThreadBusyError (`thread_busy`)
   */
  async store<T>(insert: () => Promise<T>, takeBack: (stored: T) => Promise<unknown>): Promise<T> {
    await nextTurn();
    if (this.#refused) throw this.#refused;
    const stored = await insert().catch((error: unknown) => {
      this.leave(error);
      this.lease.then((got) => got.release()).catch(() => undefined);
      throw error;
    });
    const refused = this.#refused as ThreadBusyError | undefined;
    if (!refused) return stored;
    await takeBack(stored);
    throw refused;
  }
}
