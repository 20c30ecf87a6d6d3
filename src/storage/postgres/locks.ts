import { ThreadBusyError } from "../../support/errors.js";
import type { AcquireOptions, ThreadLease, ThreadLocks } from "../storage.js";
import { createThreadLocks } from "../thread-locks.js";
import { Undecided } from "../undecided.js";
import type { LockConnection, LockSession } from "./lock-session.js";
import { lockKey } from "./options.js";

/** A waiter looks by itself after so many milliseconds, should it not be woken. */
const FIRST_LOOK = 250;
const LAST_LOOK = 1000;

interface PostgresLockOptions {
  connection: LockConnection;
  schema: string;
  maxWaiting: number;
}

/**
 * One lease a thread at a time among all processes on the schema: in front the queue of this process, behind it a
 * session-level advisory lock of the server, which frees it when this process or its connection dies.
 *
 * Order: within a process strictly that of arrival. Among processes there is no common queue: whoever releases a thread
 * that others wait for lets them go first, before its own next waiter; which of several others gets the thread is
 * chance. No process waits for ever while another serves its own queue.
 *
 * When the connection is lost, `lost` of every lease aborts, within 8 s at the latest; a server that the loss is hidden
 * from keeps the locks for 15 s, so that the runs here have ended before another process can begin. A server that
 * ended the connection itself frees the locks at once: what runs here learns of it within milliseconds, and may
 * overlap for as long.
 */
export class PostgresThreadLocks implements ThreadLocks {
  readonly #connection: LockConnection;
  readonly #schema: string;
  readonly #maxWaiting: number;
  readonly #own: ThreadLocks;
  readonly #held = new Set<string>();
  /** Threads of which this process waits for another one. */
  readonly #waitingForOthers = new Set<string>();
  readonly #undecided = new Undecided();
  /** Threads that others were let go first with, which the next waiter here has to mind. */
  readonly #yielded = new Set<string>();

  constructor({ connection, schema, maxWaiting }: PostgresLockOptions) {
    this.#connection = connection;
    this.#schema = schema;
    this.#maxWaiting = maxWaiting;
    this.#own = createThreadLocks({ maxWaiting, onGrant: (threadId) => this.#undecided.begin(threadId) });
  }

  async acquire(threadId: string, options: AcquireOptions): Promise<ThreadLease | undefined> {
    const { wait, signal } = options;
    if (wait && this.#undecided.has(threadId)) await this.#undecided.known(threadId, signal);
    this.#refuseWhenFull(threadId, options);
    const turn = await this.#own.acquire(threadId, options);
    if (!turn) return undefined;
    try {
      const lease = await this.#acquireFromOthers(threadId, turn, options);
      this.#undecided.settle(threadId);
      if (!lease) void turn.release();
      return lease;
    } catch (error) {
      this.#undecided.settle(threadId);
      void turn.release();
      throw error;
    }
  }

  isHeld(threadId: string): boolean {
    return this.#held.has(threadId);
  }

  waiting(threadId: string): number {
    return this.#own.waiting(threadId) + (this.#waitingForOthers.has(threadId) ? 1 : 0);
  }

  /** The queue here is of those behind the holder; when the holder is elsewhere, its first waits as well. */
  #refuseWhenFull(threadId: string, { wait, first }: AcquireOptions): void {
    if (!wait || first || !this.#waitingForOthers.has(threadId)) return;
    const waiting = this.waiting(threadId);
    if (waiting >= this.#maxWaiting) throw full(threadId, waiting);
  }

  async #acquireFromOthers(
    threadId: string,
    turn: ThreadLease,
    options: AcquireOptions,
  ): Promise<ThreadLease | undefined> {
    const key = lockKey("thread", this.#schema, threadId);
    const mustYield = this.#yielded.delete(threadId) && options.wait;
    if (!mustYield) {
      const session = await this.#connection.session();
      const [isOurs] = await session.ask(key, "try").catch(() => []);
      if (isOurs) return this.#lease(session, key, threadId, turn, options.signal);
      if (isOurs === false && !options.wait) return undefined;
      if (isOurs === false && !options.first && this.#maxWaiting === 0) throw full(threadId, 0);
    }
    this.#waitingForOthers.add(threadId);
    this.#undecided.settle(threadId);
    try {
      const session = await this.#waitForOthers(key, mustYield, options);
      return session && this.#lease(session, key, threadId, turn, options.signal);
    } finally {
      this.#waitingForOthers.delete(threadId);
    }
  }

  /** The session that got the lock in the end; undefined when the caller does not wait. Survives lost connections. */
  async #waitForOthers(
    key: string,
    mustYield: boolean,
    { wait, signal }: AcquireOptions,
  ): Promise<LockSession | undefined> {
    let yields = mustYield;
    for (;;) {
      const session = await this.#connection.session();
      const got = await waitOn(session, key, { wait, yields, signal }).catch((error: unknown) => {
        if (!session.lost.aborted || signal?.aborted) throw error;
        return "lost" as const;
      });
      if (got !== "lost") return got ? session : undefined;
      yields = false;
    }
  }

  #lease(
    session: LockSession,
    key: string,
    threadId: string,
    turn: ThreadLease,
    signal: AbortSignal | undefined,
  ): ThreadLease {
    const lost = new AbortController();
    const lose = () => lost.abort(session.lost.reason);
    if (session.lost.aborted) lose();
    else session.lost.addEventListener("abort", lose, { once: true });
    this.#held.add(threadId);
    let released: Promise<void> | undefined;
    const release = async () => {
      this.#held.delete(threadId);
      session.lost.removeEventListener("abort", lose);
      const [, othersWait] = await session.ask(key, "unlock", "wakeOthers").catch(() => []);
      if (othersWait && this.#own.waiting(threadId) > 0) this.#yielded.add(threadId);
      await turn.release();
    };
    const lease = {
      lost: lost.signal,
      confirm: () => session.confirm(),
      release: () => (released ??= release()),
    };
    if (!signal?.aborted) return lease;
    void lease.release();
    throw signal.reason;
  }
}

interface Waiting {
  wait: boolean;
  /** Leave the first chance to others. */
  yields: boolean;
  signal: AbortSignal | undefined;
}

/** True when the lock was got, false when it is taken and the caller does not wait. */
async function waitOn(
  session: LockSession,
  key: string,
  { wait, yields, signal }: Waiting,
): Promise<boolean> {
  if (!wait) return (await session.ask(key, "try"))[0] ?? false;
  const bell = new Bell(signal);
  const forget = session.onUnlock(key, () => bell.ring());
  let [isRaised, isOurs] = await session.ask(key, "raiseFlag", ...(yields ? [] : (["try"] as const)));
  try {
    for (let pause = yields ? LAST_LOOK : FIRST_LOOK; !isOurs; pause = Math.min(2 * pause, LAST_LOOK)) {
      await bell.wait(pause);
      if (!isRaised) [isRaised, isOurs] = await session.ask(key, "raiseFlag", "try");
      else [isOurs] = await session.ask(key, "try");
    }
    return true;
  } finally {
    forget();
    bell.close();
    if (isRaised) session.ask(key, "lowerFlag").catch(() => undefined);
  }
}

/** Ends a wait before its time; a ring that nobody waits for is kept for the next wait. */
class Bell {
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => this.ring();
  #rung = false;
  #end: (() => void) | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort);
  }

  ring(): void {
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

const full = (threadId: string, waiting: number) =>
  new ThreadBusyError(threadId, `${waiting} callers already wait for it`);
