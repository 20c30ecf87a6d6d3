import type { RemoteLock, RemoteLocks } from "../locks/shared-locks.js";
import { isOutOfLocks, type LockConnection, type LockSession } from "./lock-session.js";
import { lockKey } from "./options.js";

/** A waiter looks by itself after so many milliseconds, should it not be woken. */
const FIRST_LOOK = 250;
const LAST_LOOK = 1000;

/**
 * Session-level advisory locks of the server, which frees them when this process or its connection dies.
 *
 * When the connection is lost, `lost` of every lock aborts, within 8 s at the latest; a server that the loss is hidden
 * from keeps the locks for 15 s, so that the runs here have ended before another process can begin. A server that
 * ended the connection itself frees the locks at once: what runs here learns of it within milliseconds, and may
 * overlap for as long.
 */
export class PostgresLocks implements RemoteLocks {
  readonly #connection: LockConnection;
  readonly #schema: string;

  constructor(connection: LockConnection, schema: string) {
    this.#connection = connection;
    this.#schema = schema;
  }

  async take(threadId: string): Promise<RemoteLock | undefined> {
    const key = this.#keyOf(threadId);
    const [session, [isOurs]] = await this.#inSession((one) => one.ask(key, "try"));
    return isOurs ? lockOf(session, key) : undefined;
  }

  async wait(threadId: string, { yields, signal }: Waiting): Promise<RemoteLock> {
    const key = this.#keyOf(threadId);
    let leavesFirst = yields;
    const [session] = await this.#inSession(async (one) => {
      const options = { yields: leavesFirst, signal };
      leavesFirst = false;
      await waitOn(one, key, options);
    }, signal);
    return lockOf(session, key);
  }

  #keyOf(threadId: string): string {
    return lockKey("thread", this.#schema, threadId);
  }

  /** What `work` gives, with the session that it was done in: done again in the next one when that was lost meanwhile. */
  async #inSession<T>(
    work: (session: LockSession) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<[LockSession, T]> {
    for (;;) {
      const session = await this.#connection.session();
      try {
        return [session, await work(session)];
      } catch (error) {
        if (signal?.aborted) throw error;
        if (!session.lost.aborted) throw this.#connection.explained(error);
      }
    }
  }
}

const lockOf = (session: LockSession, key: string): RemoteLock => ({
  lost: session.lost,
  confirm: () => session.confirm(),
  async free() {
    const [, othersWait] = await session.ask(key, "unlock", "wakeOthers").catch(() => []);
    return othersWait ?? false;
  },
});

interface Waiting {
  /** Leave the first chance to others. */
  yields: boolean;
  signal: AbortSignal | undefined;
}

/** Resolves when the session has the lock. */
async function waitOn(session: LockSession, key: string, { yields, signal }: Waiting): Promise<void> {
  const bell = new Wakeup(signal);
  const forget = session.onUnlock(key, () => bell.wake());
  let isRaised: boolean | undefined;
  let isOurs: boolean | undefined;
  try {
    [isRaised, isOurs] = await askForRoom(session, key, "raiseFlag", ...(yields ? [] : (["try"] as const)));
    for (let pause = yields ? LAST_LOOK : FIRST_LOOK; !isOurs; pause = Math.min(2 * pause, LAST_LOOK)) {
      await bell.wait(pause);
      if (!isRaised) [isRaised, isOurs] = await askForRoom(session, key, "raiseFlag", "try");
      else [isOurs] = await askForRoom(session, key, "try");
    }
  } finally {
    forget();
    bell.close();
    if (isRaised) session.ask(key, "lowerFlag").catch(() => undefined);
  }
}

/** As `session.ask`; nothing is had where the server has no room for a lock now, but who waits may have it later. */
async function askForRoom(
  session: LockSession,
  ...asked: Parameters<LockSession["ask"]>
): Promise<(boolean | undefined)[]> {
  try {
    return await session.ask(...asked);
  } catch (error) {
    if (isOutOfLocks(error)) return [];
    throw error;
  }
}

/** Ends a wait before its time; a ring that nobody waits for is kept for the next wait. */
class Wakeup {
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.wake();
  #rung = false;
  #end: (() => void) | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort);
  }

  wake(): void {
    this.#rung = true;
    this.#end?.();
  }

  /** Resolves when the bell rings or the time is over. Rejects with the signal's reason. */
  async wait(ms: number): Promise<void> {
    this.#signal?.throwIfAborted();
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#rung = false;
    this.#end = undefined;
    this.#signal?.throwIfAborted();
  }

  close(): void {
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}
