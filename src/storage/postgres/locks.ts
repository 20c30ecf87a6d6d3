import type { RemoteLock, RemoteLocks } from "../locks/shared-locks.js";
import { isOutOfLocks, type LockConnection, type LockSession } from "./lock-session.js";
import { lockKey } from "./options.js";

/** Poll intervals of a waiter, in case a wake-up is lost. */
const MIN_POLL_MS = 250;
const MAX_POLL_MS = 1000;

/**
 * Session-level advisory locks. The server frees them when this process or its connection dies.
 *
 * When the connection is lost, `lost` of every lock aborts within 8 s. A server that cannot detect the loss keeps the locks
 * for 15 s, so runs in this process end before another process can start. If the server closes the connection itself, it
 * frees the locks immediately. This process notices within milliseconds; runs may overlap for that time.
 *
 * A call whose session is lost meanwhile is repeated in the next one.
 */
export class PostgresLocks implements RemoteLocks {
  readonly #connection: LockConnection;
  readonly #schema: string;

  constructor(connection: LockConnection, schema: string) {
    this.#connection = connection;
    this.#schema = schema;
  }

  async take(threadId: string): Promise<RemoteLock | undefined> {
    const key = lockKey("thread", this.#schema, threadId);
    for (;;) {
      const session = await this.#connection.session();
      try {
        const [isOurs] = await session.request(key, "try");
        return isOurs ? lockOf(session, key) : undefined;
      } catch (error) {
        if (!session.lost.aborted) throw this.#connection.explained(error);
      }
    }
  }

  async wait(threadId: string, { yields, signal }: Waiting): Promise<RemoteLock> {
    const key = lockKey("thread", this.#schema, threadId);
    for (let leavesFirst = yields; ; leavesFirst = false) {
      const session = await this.#connection.session();
      try {
        await waitOn(session, key, { yields: leavesFirst, signal });
        return lockOf(session, key);
      } catch (error) {
        if (signal?.aborted) throw error;
        if (!session.lost.aborted) throw this.#connection.explained(error);
      }
    }
  }
}

const lockOf = (session: LockSession, key: string): RemoteLock => ({
  lost: session.lost,
  confirm: session.confirm,
  async free() {
    const [, othersWait] = await session.request(key, "unlock", "wakeOthers").catch(() => []);
    return othersWait ?? false;
  },
});

interface Waiting {
  /** Let other processes try first. */
  yields: boolean;
  signal: AbortSignal | undefined;
}

/** Resolves when the session has acquired the lock. */
async function waitOn(session: LockSession, key: string, { yields, signal }: Waiting): Promise<void> {
  const wakeup = new Wakeup(signal);
  const unsubscribe = session.onUnlock(key, () => wakeup.wake());
  let isRaised: boolean | undefined;
  let isOurs: boolean | undefined;
  try {
    [isRaised, isOurs] = await requestIfRoom(
      session,
      key,
      "raiseFlag",
      ...(yields ? [] : (["try"] as const)),
    );
    for (let poll = yields ? MAX_POLL_MS : MIN_POLL_MS; !isOurs; poll = Math.min(2 * poll, MAX_POLL_MS)) {
      await wakeup.wait(poll);
      if (!isRaised) [isRaised, isOurs] = await requestIfRoom(session, key, "raiseFlag", "try");
      else [isOurs] = await requestIfRoom(session, key, "try");
    }
  } finally {
    unsubscribe();
    wakeup.close();
    if (isRaised) session.request(key, "lowerFlag").catch(() => undefined);
  }
}

/** As `session.request`, but resolves to an empty list if the server's lock table is full: the caller retries later. */
async function requestIfRoom(
  session: LockSession,
  ...request: Parameters<LockSession["request"]>
): Promise<(boolean | undefined)[]> {
  try {
    return await session.request(...request);
  } catch (error) {
    if (isOutOfLocks(error)) return [];
    throw error;
  }
}

/** Ends a wait early. A wake-up without a waiter ends the next wait. */
class Wakeup {
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.wake();
  #isWoken = false;
  #end: (() => void) | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort);
  }

  wake(): void {
    this.#isWoken = true;
    this.#end?.();
  }

  /** Resolves on a wake-up or after `ms` milliseconds. Rejects with the signal's reason when aborted. */
  async wait(ms: number): Promise<void> {
    this.#signal?.throwIfAborted();
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#isWoken = false;
    this.#end = undefined;
    this.#signal?.throwIfAborted();
  }

  close(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}
