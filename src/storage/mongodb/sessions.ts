/**
 * A session is the lease under which this process holds its locks: one document with the time of its last heartbeat, by
 * the server's clock. Any process may expire a session without a heartbeat for `lease`, by deleting the document it read;
 * from then on, the locks are free. If the owner is still alive, it has stopped relying on them before that: `giveUp`
 * after its last heartbeat, by its own clock.
 *
 * So two processes never rely on the same lock, provided that the server's clock does not jump by more than the difference
 * of the two times, even when another server becomes the primary. A process that was paused (a suspended machine) checks
 * the clock before each write, but a write already passed to the driver is still sent.
 */
import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { performance } from "node:perf_hooks";
import type { Collection, Db } from "mongodb";
import { StorageUnavailableError } from "../../support/errors.js";
import { Stopwatch } from "../../support/stopwatch.js";

/** Timing of sessions, in milliseconds. */
export interface Timing {
  /** Time without a heartbeat after which a session is dead. */
  lease: number;
  /** Time without a successful heartbeat after which a process gives up its locks. */
  giveUp: number;
  /** Interval between heartbeats. */
  renewEvery: number;
}

const TIMING: Timing = { lease: 15_000, giveUp: 10_000, renewEvery: 3_000 };

interface StoredSession {
  _id: string;
  seen_at: Date;
}

export class Session {
  readonly id = randomUUID();
  readonly #sessions: Collection<StoredSession>;
  readonly #timing: Timing;
  readonly #lost = new AbortController();
  /** Server time of the last heartbeat, and local time at which its answer arrived. */
  #seenAt = 0;
  #receivedAt = 0;
  /** Started when the last successful heartbeat was sent. */
  #renewed: Stopwatch | undefined;
  #deadline: NodeJS.Timeout | undefined;

  private constructor(sessions: Collection<StoredSession>, timing: Timing) {
    this.#sessions = sessions;
    this.#timing = timing;
    // Every lease adds a listener.
    setMaxListeners(0, this.lost);
  }

  static async begin(db: Db, timing: Timing): Promise<Session> {
    const session = new Session(db.collection("gs_sessions"), timing);
    await session.#renew({ upsert: true });
    return session;
  }

  /** Aborts when the session's locks are no longer reliable. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Send a heartbeat. If another process has expired the session, it is lost. */
  async renew(): Promise<void> {
    if (this.lost.aborted) return;
    if (!(await this.#renew({ upsert: false }))) this.#lose();
  }

  /** Whether another session is dead, so that its locks are free. Deletes it if its lease has expired. */
  async isDead(id: string): Promise<boolean> {
    const other = await this.#sessions.findOne({ _id: id });
    if (!other) return true;
    if (this.#serverTime() - other.seen_at.getTime() <= this.#timing.lease) return false;
    await this.#sessions.deleteOne({ _id: id, seen_at: other.seen_at });
    return (await this.#sessions.findOne({ _id: id })) === null;
  }

  /** See `ThreadLease.confirm`. Checks the deadline, because its timer may not have fired yet. */
  confirm(): undefined {
    if (this.#renewed && this.#renewed.elapsed() >= this.#timing.giveUp) this.#lose();
  }

  /** End the session, which frees its locks. */
  async end(): Promise<void> {
    this.#lose();
    await this.#sessions.deleteOne({ _id: this.id });
  }

  /** Estimated server time. Never ahead of the server's clock, because it ignores the latency of the answer. */
  #serverTime(): number {
    return this.#seenAt + performance.now() - this.#receivedAt;
  }

  async #renew({ upsert }: { upsert: boolean }): Promise<boolean> {
    const sent = new Stopwatch();
    const stored = await this.#sessions.findOneAndUpdate(
      { _id: this.id },
      { $currentDate: { seen_at: true } },
      { upsert, returnDocument: "after" },
    );
    if (!stored || this.lost.aborted) return false;
    // Answers may arrive out of order.
    if (this.#renewed && this.#renewed.elapsed() < sent.elapsed()) return true;
    this.#seenAt = stored.seen_at.getTime();
    this.#receivedAt = performance.now();
    this.#renewed = sent;
    clearTimeout(this.#deadline);
    const remaining = this.#timing.giveUp - sent.elapsed();
    this.#deadline = setTimeout(() => this.#lose(), remaining).unref();
    return true;
  }

  #lose(): void {
    clearTimeout(this.#deadline);
    this.#lost.abort(
      new StorageUnavailableError("the thread's lock was lost with the connection to MongoDB"),
    );
  }
}

interface SessionKeeperOptions {
  timing?: Timing;
  /** Frees the locks of a dead session. */
  onDeath: (sessionId: string) => Promise<void>;
  /** Called after each successful heartbeat. */
  onRenewal: () => Promise<void>;
}

/** Keeps the session of this process alive: one write per heartbeat, regardless of the number of locks. */
export class SessionKeeper {
  readonly #db: Db;
  readonly #options: SessionKeeperOptions;
  readonly #timing: Timing;
  readonly #ids = new Set<string>();
  #session: Promise<Session> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> = Promise.resolve();

  constructor(db: Db, options: SessionKeeperOptions) {
    this.#db = db;
    this.#options = options;
    this.#timing = options.timing ?? TIMING;
  }

  /** Start a session, and clean up the sessions of dead processes. */
  async start(): Promise<void> {
    const session = await this.current();
    for await (const { _id } of this.#db.collection<StoredSession>("gs_sessions").find()) {
      if (_id !== session.id) await this.isDead(_id);
    }
    this.#timer = setInterval(() => void (this.#renewing = this.#renew()), this.#timing.renewEvery).unref();
  }

  /** The session for new locks. A lost session is replaced by a new one. */
  async current(): Promise<Session> {
    const latest = this.#session;
    const session = await latest?.catch(() => undefined);
    if (session && !session.lost.aborted) return session;
    // Another caller may have started a session in the meantime.
    if (this.#session !== latest && this.#session) return this.#session;
    this.#session = this.#begin();
    return this.#session;
  }

  async #begin(): Promise<Session> {
    const session = await Session.begin(this.#db, this.#timing);
    this.#ids.add(session.id);
    return session;
  }

  isOwn(sessionId: string): boolean {
    return this.#ids.has(sessionId);
  }

  async isDead(sessionId: string): Promise<boolean> {
    const session = await this.current();
    if (!(await session.isDead(sessionId))) return false;
    await this.#options.onDeath(sessionId);
    return true;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewing;
    const session = await this.#session?.catch(() => undefined);
    // If the server is unreachable, the locks are freed when the lease expires.
    await session?.end().catch(() => undefined);
    for (const id of this.#ids) await this.#options.onDeath(id).catch(() => undefined);
  }

  /** A failed heartbeat is retried at the next interval. The session's deadline limits the retries. */
  async #renew(): Promise<void> {
    try {
      const session = await this.#session;
      await session?.renew();
      await this.#options.onRenewal();
    } catch {
      return;
    }
  }
}
