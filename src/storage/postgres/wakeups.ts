import type { Wakeups } from "../contract/queue.js";
import type { LockConnection } from "./lock-session.js";
import { lockKey } from "./options.js";

/** Minimum interval between notifications of a process: the server serializes commits that send notifications. */
const NOTIFY_MS = 50;

/** Notifications between the processes of a storage, over the connection of the locks, which bypasses poolers. */
export class PostgresWakeups implements Wakeups {
  readonly #connection: LockConnection;
  readonly #key: string;
  readonly #listeners = new Set<() => void>();
  #isListening = false;
  #notifying: NodeJS.Timeout | undefined;
  #isNotifiedAgain = false;
  #isClosed = false;

  constructor(connection: LockConnection, schema: string) {
    this.#connection = connection;
    this.#key = lockKey("queue", schema);
  }

  notify(): void {
    if (this.#isClosed) return;
    if (this.#notifying) {
      this.#isNotifiedAgain = true;
      return;
    }
    void this.#notifyNow();
    this.#notifying = setTimeout(() => {
      this.#notifying = undefined;
      if (this.#isNotifiedAgain) this.notify();
    }, NOTIFY_MS).unref();
    this.#isNotifiedAgain = false;
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (!this.#isListening) void this.#keepListening();
    this.#isListening = true;
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#notifying);
  }

  async #notifyNow(): Promise<void> {
    try {
      await (await this.#connection.session()).request(this.#key, "wakeAll");
    } catch {
      // Other processes poll.
    }
  }

  /** Wakes the listeners after each reconnect, because notifications may have been lost in between. */
  async #keepListening(): Promise<void> {
    while (!this.#isClosed) {
      try {
        const session = await this.#connection.session();
        const unsubscribe = session.onUnlock(this.#key, () => this.#wakeListeners());
        this.#wakeListeners();
        await new Promise<void>((resolve) => {
          if (session.lost.aborted) resolve();
          session.lost.addEventListener("abort", () => resolve(), { once: true });
        });
        unsubscribe();
      } catch {
        // The connection retries with backoff, and `session` waits for it.
      }
    }
  }

  #wakeListeners(): void {
    for (const listener of this.#listeners) listener();
  }
}
