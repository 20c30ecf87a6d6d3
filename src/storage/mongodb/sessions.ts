/**
 * A session is what this process holds its locks under: one document with the time of its last renewal, by the clock of
 * the server. Whoever finds a session that was not renewed for `lease` may bury it, by deleting it as it was seen; from
 * then on its locks are free. Its process, should it live, has stopped counting on them well before: `giveUp` after its
 * last renewal, by its own clock.
 *
 * So two processes never count on the same lock, provided that the server's clock does not jump by the difference of
 * the two times, also when another server becomes the primary. A process that was stopped as a whole (a suspended
 * machine) looks at the clock before each write; one that it had handed to the driver before still goes out.
 */
import { randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Collection, Db } from "mongodb";
import { StorageUnavailableError } from "../../support/errors.js";
import { Stopwatch } from "../../support/stopwatch.js";

/** In milliseconds. */
export interface Timing {
  /** A session that was not renewed for so long is dead. */
  lease: number;
  /** A process that could not renew its session for so long gives its locks up. */
  giveUp: number;
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
  /** The server's clock, and ours when we heard of it. */
  #seenAt = 0;
  #heardAt = 0;
  /** When the renewal that succeeded last was sent off. */
  #renewed: Stopwatch | undefined;
  #deadline: NodeJS.Timeout | undefined;

  private constructor(sessions: Collection<StoredSession>, timing: Timing) {
    this.#sessions = sessions;
    this.#timing = timing;
  }

  static async begin(db: Db, timing: Timing): Promise<Session> {
    const session = new Session(db.collection("gs_sessions"), timing);
    await session.#renew({ upsert: true });
    return session;
  }

  /** Aborts when the session's locks can no longer be counted on. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Renew; a session that was buried is lost. */
  async renew(): Promise<void> {
    if (this.lost.aborted) return;
    if (!(await this.#renew({ upsert: false }))) this.#lose();
  }

  /** Whether the session of this id is gone, so that its locks are free. Buries it when its time is over. */
  async isDead(id: string): Promise<boolean> {
    const other = await this.#sessions.findOne({ _id: id });
    if (!other) return true;
    if (this.#serverTime() - other.seen_at.getTime() <= this.#timing.lease) return false;
    await this.#sessions.deleteOne({ _id: id, seen_at: other.seen_at });
    return (await this.#sessions.findOne({ _id: id })) === null;
  }

  /** As `confirm` of a lease: what the deadline's timer says, also before it could fire. */
  confirm(): undefined {
    if (this.#renewed && this.#renewed.elapsed() >= this.#timing.giveUp) this.#lose();
  }

  /** Sign off: the session's locks are free. */
  async end(): Promise<void> {
    this.#lose();
    await this.#sessions.deleteOne({ _id: this.id });
  }

  /** Never ahead of the server's clock: the answer took its time to come here. */
  #serverTime(): number {
    return this.#seenAt + performance.now() - this.#heardAt;
  }

  async #renew({ upsert }: { upsert: boolean }): Promise<boolean> {
    const sent = new Stopwatch();
    const stored = await this.#sessions.findOneAndUpdate(
      { _id: this.id },
      { $currentDate: { seen_at: true } },
      { upsert, returnDocument: "after" },
    );
    if (!stored || this.lost.aborted) return false;
    // Answers may overtake each other.
    if (this.#renewed && this.#renewed.elapsed() < sent.elapsed()) return true;
    this.#seenAt = stored.seen_at.getTime();
    this.#heardAt = performance.now();
    this.#renewed = sent;
    clearTimeout(this.#deadline);
    const left = this.#timing.giveUp - sent.elapsed();
    this.#deadline = setTimeout(() => this.#lose(), left).unref();
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
  /** Free the locks of a session that is gone. */
  onDeath: (sessionId: string) => Promise<void>;
  /** Called while the server is known to answer. */
  onRenewal: () => Promise<void>;
}

/** Keeps a session of this process alive: one write every few seconds, however many locks it holds. */
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

  /** Begin a session, and clear away those that dead processes left. */
  async start(): Promise<void> {
    const session = await this.current();
    for await (const { _id } of this.#db.collection<StoredSession>("gs_sessions").find()) {
      if (_id !== session.id) await this.isDead(_id);
    }
    this.#timer = setInterval(() => void (this.#renewing = this.#renew()), this.#timing.renewEvery).unref();
  }

  /** The session that new locks are taken under: another one when the last was lost. */
  async current(): Promise<Session> {
    const latest = this.#session;
    const session = await latest?.catch(() => undefined);
    if (session && !session.lost.aborted) return session;
    // Another caller may have begun one meanwhile.
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
    // Without the server it cannot sign off: the locks are free when their time is over.
    await session?.end().catch(() => undefined);
    for (const id of this.#ids) await this.#options.onDeath(id).catch(() => undefined);
  }

  /** What fails is tried again at the next turn; the session's own deadline says when it is too late. */
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
