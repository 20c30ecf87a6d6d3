import { setMaxListeners } from "node:events";
import type { Client } from "pg";
import { Moment } from "./moment.js";

/** What a session can be told about a lock; `key` is the lock's, the flag of those who wait for it follows from it. */
export type LockCommand = "try" | "raiseFlag" | "lowerFlag" | "unlock" | "wakeOthers";

interface Request {
  commands: readonly LockCommand[];
  key: string;
  resolve: (answers: boolean[]) => void;
  reject: (error: Error) => void;
}

/** A session beats when it was silent for so many ticks, and is dead when an answer is overdue for so many. */
const SILENT_TICKS = 3;
const OVERDUE_TICKS = 5;
const TICK = 1000;
/** A session that the server answered so many milliseconds ago still stands: the server waits 15 s for a silent one. */
const FRESH = 5000;

/**
 * Who waits for a lock holds its flag, a shared lock under the complement of the key. Whoever unlocks then tries the
 * flag: nobody is woken when nobody waits. Raising before trying and unlocking before looking leave no gap between.
 */
const ANSWERS = `SELECT CASE command
    WHEN 'try' THEN pg_try_advisory_lock(key)
    WHEN 'raiseFlag' THEN pg_try_advisory_lock_shared(~key)
    WHEN 'lowerFlag' THEN pg_advisory_unlock_shared(~key)
    WHEN 'unlock' THEN pg_advisory_unlock(key)
    WHEN 'wakeOthers' THEN CASE WHEN pg_try_advisory_lock(~key) THEN NOT pg_advisory_unlock(~key)
      ELSE pg_notify($3, key::text)::text = '' END
  END AS answer FROM unnest($1::text[], $2::bigint[]) AS asked (command, key)`;

/** Long waits are wanted here; a peer that vanished is to be noticed by the server in 15 s, later than by us. */
const SETTINGS = `SELECT set_config(name, value, false) FROM (VALUES ('statement_timeout', '0'),
    ('idle_session_timeout', '0'), ('tcp_keepalives_idle', '6'), ('tcp_keepalives_interval', '3'),
    ('tcp_keepalives_count', '3'), ('tcp_user_timeout', '15000')) AS wanted (name, value)
  WHERE name IN (SELECT name FROM pg_catalog.pg_settings)`;

/**
 * The locks of this process, for as long as one connection lives: the server frees them all when it ends. What is asked
 * while a statement is under way goes together into the next.
 */
export class LockSession {
  readonly #client: Client;
  readonly #channel: string;
  readonly #lost = new AbortController();
  readonly #wakers = new Map<string, Set<() => void>>();
  readonly #ticking: NodeJS.Timeout;
  #queue: Request[] = [];
  #underWay: readonly Request[] = [];
  #ticks = 0;
  /** When the statement was sent that was answered last. */
  #answered = new Moment();

  private constructor(client: Client, channel: string) {
    this.#client = client;
    this.#channel = channel;
    // Every lease listens.
    setMaxListeners(0, this.lost);
    client.on("notification", ({ payload }) => this.#wake(payload));
    client.on("error", () => this.#lose());
    client.on("end", () => this.#lose());
    this.#ticking = setInterval(() => this.#tick(), TICK);
    this.#ticking.unref();
  }

  /** Connect, and listen for unlocks. Rejects with the driver's error; the client is then closed. */
  static async open(client: Client, channel: string, check: (client: Client) => Promise<void>) {
    client.on("error", () => undefined);
    try {
      await client.connect();
      await check(client);
      await client.query(SETTINGS);
      await client.query(`LISTEN "${channel}"`);
      return new LockSession(client, channel);
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
  }

  /** Aborts when the connection ended: all locks are then gone. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Carry commands out in their order, in one statement. Rejects with `lost`'s reason when the connection ends. */
  ask(key: string, ...commands: LockCommand[]): Promise<boolean[]> {
    return new Promise((resolve, reject) => {
      if (this.lost.aborted) {
        reject(this.lost.reason as Error);
        return;
      }
      this.#queue.push({ commands, key, resolve, reject });
      if (this.#underWay.length === 0) void this.#send();
    });
  }

  /** As `confirm` of a lease. */
  confirm(): Promise<void> | undefined {
    if (this.lost.aborted || this.#answered.elapsed() < FRESH) return undefined;
    return this.ask("0").then(
      () => undefined,
      () => undefined,
    );
  }

  /** Call `wake` whenever another session unlocks `key`, until the returned function is called. */
  onUnlock(key: string, wake: () => void): () => void {
    const wakers = this.#wakers.get(key) ?? new Set();
    this.#wakers.set(key, wakers.add(wake));
    return () => {
      wakers.delete(wake);
      if (wakers.size === 0) this.#wakers.delete(key);
    };
  }

  async close(): Promise<void> {
    this.#lose();
    await this.#client.end().catch(() => undefined);
  }

  async #send(): Promise<void> {
    while (this.#queue.length > 0 && !this.lost.aborted) {
      const requests = (this.#underWay = this.#queue);
      this.#queue = [];
      this.#ticks = 0;
      const sent = new Moment();
      const commands = requests.flatMap((request) => request.commands);
      const keys = requests.flatMap(({ key, commands: { length } }) => Array.from({ length }, () => key));
      try {
        const { rows } = await this.#client.query<{ answer: boolean }>({
          name: "gs_locks",
          text: ANSWERS,
          values: [commands, keys, this.#channel],
        });
        this.#answered = sent;
        const answers = rows.map(({ answer }) => answer);
        for (const { commands: own, resolve } of requests) resolve(answers.splice(0, own.length));
      } catch (error) {
        // Which commands were carried out is unknown: only the session's end is sure to undo them.
        for (const { reject } of requests) reject(error as Error);
        this.#lose();
      }
      this.#underWay = [];
    }
  }

  /** Counts turns of the event loop, not time: an answer that a busy process has not read yet is not overdue. */
  #tick(): void {
    this.#ticks += 1;
    if (this.#underWay.length > 0) {
      if (this.#ticks >= OVERDUE_TICKS) this.#lose();
    } else if (this.#ticks >= SILENT_TICKS) this.ask("0").catch(() => undefined);
  }

  #wake(key = ""): void {
    for (const wake of this.#wakers.get(key) ?? []) wake();
  }

  #lose(): void {
    if (this.lost.aborted) return;
    clearInterval(this.#ticking);
    this.#lost.abort(new Error("the connection of the thread locks ended"));
    const reason = this.lost.reason as Error;
    for (const { reject } of [...this.#underWay, ...this.#queue]) reject(reason);
    this.#queue = [];
    for (const wakers of this.#wakers.values()) for (const wake of wakers) wake();
    // Not a farewell: the server may be out of reach, and must not find the locks alive.
    const { connection } = this.#client as unknown as { connection?: { stream?: { destroy(): void } } };
    connection?.stream?.destroy();
  }
}
