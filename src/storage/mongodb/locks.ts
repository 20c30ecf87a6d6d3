import { randomUUID } from "node:crypto";
import type { Collection, Db } from "mongodb";
import { explained, type ExplainError } from "../driver/errors.js";
import { type RemoteLock, type RemoteLocks, SharedThreadLocks } from "../locks/shared-locks.js";
import type { ThreadLocks } from "../contract/storage.js";
import { isDuplicate } from "./errors.js";
import { SessionKeeper, type Session, type Timing } from "./sessions.js";
import { pause } from "../../support/pause.js";

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

interface MongodbLockOptions {
  maxWaiting: number;
  explain: ExplainError;
  timing?: Timing;
}

/** Locks of this process on a database, and what frees them all. */
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
 * A document a thread, held under this process's session (./sessions.ts). When the process dies its locks are free 15 s
 * after its last sign of life, at once when it signed off; when it loses the database, `lost` of its locks aborts after
 * 10 s. Processes look again every 100 to 500 ms, so which of several gets a thread is chance.
 */
class MongodbLocks implements RemoteLocks {
  readonly #locks: Collection<StoredLock>;
  readonly #sessions: SessionKeeper;
  /** Locks that may stand although nobody holds them, since a call was broken off. */
  readonly #leftovers = new Set<string>();

  constructor(db: Db, timing: Timing | undefined) {
    this.#locks = db.collection("gs_locks");
    this.#sessions = new SessionKeeper(db, {
      timing,
      onDeath: async (owner) => void (await this.#locks.deleteMany({ owner })),
      onRenewal: () => this.#clearLeftovers(),
    });
  }

  /** Sign on. */
  start(): Promise<void> {
    return this.#sessions.start();
  }

  /** Free all locks and sign off. */
  close(): Promise<void> {
    return this.#sessions.stop();
  }

  /** The lock, if nobody who lives has it. */
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
    await pause(yields ? LONGEST_PAUSE : 0, signal);
    for (;;) {
      await pause(SHORTEST_PAUSE + Math.random() * (LONGEST_PAUSE - SHORTEST_PAUSE), signal);
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
