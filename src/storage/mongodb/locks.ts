import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Collection, Db } from "mongodb";
import { ThreadBusyError } from "../../support/errors.js";
import { guarded, type ExplainError } from "../driver-errors.js";
import { isDuplicate } from "./errors.js";
import { SessionKeeper, type Session, type Timing } from "./sessions.js";
import type { AcquireOptions, ThreadLease, ThreadLocks } from "../storage.js";
import { createThreadLocks } from "../thread-locks.js";
import { Undecided } from "../undecided.js";

/** Milliseconds between two looks of a waiter, by chance, so that waiters do not look in step. */
const SHORTEST_PAUSE = 100;
const LONGEST_PAUSE = 500;

/** How often a lock that was just given up is tried again before it counts as taken. */
const ATTEMPTS = 3;

interface StoredLock {
  /** Thread. */
  _id: string;
  /** Session that holds it. */
  owner: string;
  /** Tells this lock from an earlier or later one of the thread: only its holder releases it. */
  token: string;
  /** Another process looks for it. */
  wanted: boolean;
}

interface Held {
  session: Session;
  token: string;
}

interface MongodbLockOptions {
  maxWaiting: number;
  explain: ExplainError;
  timing?: Timing;
}

/**
 * One lease a thread at a time among all processes on the database: in front the queue of this process, behind it a
 * document a thread, held under this process's session (./sessions.ts). When the process dies its locks are
 * free 15 s after its last sign of life, at once when it signed off; when it loses the database, `lost` of its leases
 * aborts after 10 s.
 *
 * Order: within a process strictly that of arrival. Processes look again every 100 to 500 ms, so which of several gets
 * a thread is chance; one that releases a thread another looks for lets the other go first.
 */
export class MongodbThreadLocks implements ThreadLocks {
  readonly #locks: Collection<StoredLock>;
  readonly #sessions: SessionKeeper;
  readonly #own: ThreadLocks;
  readonly #options: MongodbLockOptions;
  readonly #held = new Set<string>();
  /** Threads that this process looks for. */
  readonly #looking = new Set<string>();
  readonly #undecided = new Undecided();
  /** Threads that another process may take first. */
  readonly #yielded = new Set<string>();
  /** Locks that may stand although nobody holds them, since a call was broken off. */
  readonly #leftovers = new Set<string>();

  private constructor(db: Db, options: MongodbLockOptions) {
    this.#locks = db.collection("gs_locks");
    this.#options = options;
    const { maxWaiting } = options;
    this.#own = createThreadLocks({ maxWaiting, onGrant: (threadId) => this.#undecided.begin(threadId) });
    this.#sessions = new SessionKeeper(db, {
      timing: options.timing,
      onDeath: async (owner) => void (await this.#locks.deleteMany({ owner })),
      onRenewal: () => this.#clearLeftovers(),
    });
  }

  static async open(db: Db, options: MongodbLockOptions): Promise<MongodbThreadLocks> {
    const locks = new MongodbThreadLocks(db, options);
    await locks.#sessions.start();
    return locks;
  }

  async acquire(threadId: string, options: AcquireOptions): Promise<ThreadLease | undefined> {
    const { wait, signal } = options;
    if (wait && this.#undecided.has(threadId)) await this.#undecided.known(threadId, signal);
    this.#refuseWhenFull(threadId, options);
    const turn = await this.#own.acquire(threadId, options);
    if (!turn) return undefined;
    try {
      const held = await guarded(this.#options.explain, () => this.#acquire(threadId, options));
      this.#undecided.settle(threadId);
      if (held) return this.#lease(threadId, held, turn, signal);
      void turn.release();
      return undefined;
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
    return this.#own.waiting(threadId) + (this.#looking.has(threadId) ? 1 : 0);
  }

  /** Free all locks and sign off. */
  close(): Promise<void> {
    return this.#sessions.stop();
  }

  /** The queue here stands behind the holder; when that is elsewhere, its first waits as well. */
  #refuseWhenFull(threadId: string, { wait, first }: AcquireOptions): void {
    if (!wait || first || !this.#looking.has(threadId)) return;
    if (this.waiting(threadId) >= this.#options.maxWaiting) throw this.#full(threadId);
  }

  async #acquire(threadId: string, options: AcquireOptions): Promise<Held | undefined> {
    const { wait, first, signal } = options;
    const mustYield = this.#yielded.delete(threadId) && wait;
    const held = mustYield ? undefined : await this.#take(threadId);
    if (held || !wait) return held;
    if (!mustYield && !first && this.#options.maxWaiting === 0) throw this.#full(threadId);
    this.#looking.add(threadId);
    this.#undecided.settle(threadId);
    try {
      return await this.#look(threadId, mustYield ? LONGEST_PAUSE : 0, signal);
    } finally {
      this.#looking.delete(threadId);
    }
  }

  async #look(threadId: string, head: number, signal: AbortSignal | undefined): Promise<Held> {
    await pause(head, signal);
    for (;;) {
      await pause(SHORTEST_PAUSE + Math.random() * (LONGEST_PAUSE - SHORTEST_PAUSE), signal);
      const held = await this.#take(threadId);
      if (held) return held;
    }
  }

  /** The lock, if nobody who lives has it. */
  async #take(threadId: string): Promise<Held | undefined> {
    const session = await this.#sessions.current();
    const token = randomUUID();
    try {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        if (await this.#insert({ _id: threadId, owner: session.id, token, wanted: false })) {
          return { session, token };
        }
        const other = await this.#locks.findOne({ _id: threadId });
        if (other && !(await this.#isFree(other))) return undefined;
      }
      return undefined;
    } catch (error) {
      this.#leftovers.add(token);
      throw error;
    }
  }

  async #insert(lock: StoredLock): Promise<boolean> {
    try {
      await this.#locks.insertOne(lock);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** Frees a lock whose holder is gone; lets the holder of another one know that it is wanted. */
  async #isFree({ _id, owner, token, wanted }: StoredLock): Promise<boolean> {
    // In this process the turn excludes others, so a lock of its own is one that nobody holds any more.
    if (this.#sessions.isOwn(owner)) {
      await this.#locks.deleteOne({ _id, token });
      return true;
    }
    if (await this.#sessions.isDead(owner)) return true;
    if (!wanted) await this.#locks.updateOne({ _id, token }, { $set: { wanted: true } });
    return false;
  }

  #lease(
    threadId: string,
    { session, token }: Held,
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
      await this.#free(threadId, token);
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

  async #free(threadId: string, token: string): Promise<void> {
    try {
      const freed = await this.#locks.findOneAndDelete({ _id: threadId, token });
      if (freed?.wanted && this.#own.waiting(threadId) > 0) this.#yielded.add(threadId);
    } catch {
      this.#leftovers.add(token);
    }
  }

  async #clearLeftovers(): Promise<void> {
    const tokens = [...this.#leftovers];
    if (tokens.length === 0) return;
    await this.#locks.deleteMany({ token: { $in: tokens } });
    for (const token of tokens) this.#leftovers.delete(token);
  }

  #full(threadId: string): ThreadBusyError {
    return new ThreadBusyError(threadId, `${this.waiting(threadId)} callers already wait for it`);
  }
}

/** Rejects with the signal's reason. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}
