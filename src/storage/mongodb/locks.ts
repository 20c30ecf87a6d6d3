import { randomUUID } from "node:crypto";
import type { Collection, Db } from "mongodb";
import { explained, type ExplainError } from "../driver/errors.js";
import { type RemoteLock, type RemoteLocks, SharedThreadLocks } from "../locks/shared-locks.js";
import type { ThreadLocks } from "../contract/locks.js";
import { isDuplicate } from "./errors.js";
import { SessionKeeper, type Session, type Timing } from "./sessions.js";
import { pause } from "../../support/pause.js";

/** Poll interval of a waiter. It is random, so that waiters do not poll in step. */
const MIN_POLL_MS = 100;
const MAX_POLL_MS = 500;

/** Number of attempts to acquire a lock that keeps being released, before it counts as taken. */
const ATTEMPTS = 3;

interface StoredLock {
  /** Id of the thread. */
  _id: string;
  /** Id of the session that holds the lock. */
  owner: string;
  /** Unique per acquisition, so that a holder never releases an earlier or later lock of the thread. */
  token: string;
  /** Whether another process waits for the lock. */
  wanted: boolean;
}

interface MongodbLockOptions {
  maxWaiting: number;
  explain: ExplainError;
  timing?: Timing;
}

/** Open the thread locks of this process. `close` frees all of them. */
export async function openMongodbLocks(
  db: Db,
  { maxWaiting, explain, timing }: MongodbLockOptions,
): Promise<{ threads: ThreadLocks; close: () => Promise<void> }> {
  const locks = new MongodbLocks(db, timing);
  await locks.start();
  const threads = new SharedThreadLocks(explained<RemoteLocks>(locks, explain), { maxWaiting });
  return { threads, close: () => locks.close() };
}

/**
 * One document per locked thread, held under this process's session (./sessions.ts). The locks of a process are freed
 * immediately if it ends its session, and 15 s after its last heartbeat if it dies. If it loses the database, `lost` of its
 * locks aborts after 10 s. Waiting processes poll every 100 to 500 ms, so which of them gets a thread is random.
 */
class MongodbLocks implements RemoteLocks {
  readonly #locks: Collection<StoredLock>;
  readonly #sessions: SessionKeeper;
  /** Tokens of locks that may be stored without a holder, because a call failed. */
  readonly #leftovers = new Set<string>();

  constructor(db: Db, timing: Timing | undefined) {
    this.#locks = db.collection("gs_locks");
    this.#sessions = new SessionKeeper(db, {
      timing,
      onDeath: async (owner) => void (await this.#locks.deleteMany({ owner })),
      onRenewal: () => this.#clearLeftovers(),
    });
  }

  /** Start the session. */
  start(): Promise<void> {
    return this.#sessions.start();
  }

  /** Free all locks and end the session. */
  close(): Promise<void> {
    return this.#sessions.stop();
  }

  /** The lock, unless a live process has it. */
  async take(threadId: string): Promise<RemoteLock | undefined> {
    const session = await this.#sessions.current();
    const token = randomUUID();
    try {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        if (await this.#insert({ _id: threadId, owner: session.id, token, wanted: false })) {
          return this.#lock(threadId, session, token);
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

  async wait(threadId: string, { yields, signal }: Parameters<RemoteLocks["wait"]>[1]): Promise<RemoteLock> {
    await pause(yields ? MAX_POLL_MS : 0, signal);
    for (;;) {
      await pause(MIN_POLL_MS + Math.random() * (MAX_POLL_MS - MIN_POLL_MS), signal);
      const lock = await this.take(threadId);
      if (lock) return lock;
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

  /** Frees a lock whose holder is dead; otherwise marks the lock as wanted. */
  async #isFree({ _id, owner, token, wanted }: StoredLock): Promise<boolean> {
    // The local queue allows one caller per thread, so a lock of this process is a leftover without a holder.
    if (this.#sessions.isOwn(owner)) {
      await this.#locks.deleteOne({ _id, token });
      return true;
    }
    if (await this.#sessions.isDead(owner)) return true;
    if (!wanted) await this.#locks.updateOne({ _id, token }, { $set: { wanted: true } });
    return false;
  }

  #lock(threadId: string, session: Session, token: string): RemoteLock {
    return {
      lost: session.lost,
      confirm: () => session.confirm(),
      free: () => this.#free(threadId, token),
    };
  }

  async #free(threadId: string, token: string): Promise<boolean> {
    try {
      return (await this.#locks.findOneAndDelete({ _id: threadId, token }))?.wanted ?? false;
    } catch {
      this.#leftovers.add(token);
      return false;
    }
  }

  async #clearLeftovers(): Promise<void> {
    const tokens = [...this.#leftovers];
    if (tokens.length === 0) return;
    await this.#locks.deleteMany({ token: { $in: tokens } });
    for (const token of tokens) this.#leftovers.delete(token);
  }
}
