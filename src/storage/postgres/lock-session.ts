import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { ConfigError, StorageUnavailableError } from "../../support/errors.js";
import { withTimeout } from "../../support/pause.js";
import { Stopwatch } from "../../support/stopwatch.js";
import { type ExplainError, storageError } from "../driver/errors.js";
import { CONNECT_TIMEOUT } from "./options.js";

/** What a session can be told about a lock; `key` is the lock's, the flag of those who wait for it follows from it. */
type LockCommand = "try" | "raiseFlag" | "lowerFlag" | "unlock" | "wakeOthers" | "wakeAll";

/** They take no lock that stays. */
const RELEASING: ReadonlySet<LockCommand> = new Set<LockCommand>(["unlock", "lowerFlag", "wakeOthers"]);

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
    WHEN 'wakeAll' THEN pg_notify($3, key::text)::text = ''
  END AS answer FROM unnest($1::text[], $2::bigint[]) AS asked (command, key)`;

/** Long waits are wanted here; a peer that vanished is to be noticed by the server in 15 s, later than by us. */
const SETTINGS = `SELECT set_config(name, value, false) FROM (VALUES ('statement_timeout', '0'),
    ('idle_session_timeout', '0'), ('tcp_keepalives_idle', '6'), ('tcp_keepalives_interval', '3'),
    ('tcp_keepalives_count', '3'), ('tcp_user_timeout', '15000')) AS wanted (name, value)
  WHERE name IN (SELECT name FROM pg_catalog.pg_settings)`;

/** Whether the server had no room for another lock: its lock table is shared by all that use it. */
export const isOutOfLocks = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === "53200";

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
  /** Keys that are locked, and keys whose flag is raised. */
  readonly #held = new Set<string>();
  readonly #flags = new Set<string>();
  #queue: Request[] = [];
  #underWay: readonly Request[] = [];
  #ticks = 0;
  /** When the statement was sent that was answered last. */
  #answered = new Stopwatch();

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
      try {
        await this.#carryOut(requests);
      } catch (error) {
        // Which commands were carried out is unknown: only the session's end is sure to undo them.
        for (const { reject } of requests) reject(error as Error);
        this.#lose();
      }
      this.#underWay = [];
    }
  }

  /** Rejects when it is not known what became of the commands. */
  async #carryOut(requests: readonly Request[]): Promise<void> {
    try {
      const answers = await this.#command(requests);
      for (const request of requests) {
        const own = answers.splice(0, request.commands.length);
        this.#note(request, own);
        request.resolve(own);
      }
    } catch (error) {
      if (!isOutOfLocks(error)) throw error;
      await this.#takeBack(requests);
      const left = requests.filter(({ commands }) => !commands.every((command) => RELEASING.has(command)));
      for (const request of requests)
        if (!left.includes(request)) request.resolve(request.commands.map(() => true));
      const [only] = left;
      if (requests.length > 1) for (const request of left) await this.#carryOut([request]);
      else only?.reject(error as Error);
    }
  }

  async #command(requests: readonly Pick<Request, "commands" | "key">[]): Promise<boolean[]> {
    const sent = new Stopwatch();
    this.#ticks = 0;
    const commands = requests.flatMap((request) => request.commands);
    const keys = requests.flatMap(({ key, commands: { length } }) => Array.from({ length }, () => key));
    const { rows } = await this.#client.query<{ answer: boolean }>({
      name: "gs_locks",
      text: ANSWERS,
      values: [commands, keys, this.#channel],
    });
    this.#answered = sent;
    return rows.map(({ answer }) => answer);
  }

  #note({ commands, key }: Request, answers: readonly boolean[]): void {
    for (const [index, command] of commands.entries()) {
      if (command === "try" && answers[index]) this.#held.add(key);
      if (command === "unlock") this.#held.delete(key);
      if (command === "raiseFlag" && answers[index]) this.#flags.add(key);
      if (command === "lowerFlag") this.#flags.delete(key);
    }
  }

  /**
   * Of a statement that was refused for want of memory, some commands may have been carried out: advisory locks outlast
   * it. What it took is given back. What it was to release is released, which takes no memory, and whoever waits is woken.
   */
  async #takeBack(requests: readonly Request[]): Promise<void> {
    const keys = [...new Set(requests.map(({ key }) => key))];
    const asked = (key: string) =>
      new Set(requests.filter((request) => request.key === key).flatMap(({ commands }) => commands));
    await this.#command(keys.map((key) => ({ key, commands: this.#backFrom(key, asked(key)) })));
    for (const key of keys) {
      if (asked(key).has("unlock")) this.#held.delete(key);
      if (asked(key).has("lowerFlag")) this.#flags.delete(key);
    }
  }

  #backFrom(key: string, asked: ReadonlySet<LockCommand>): LockCommand[] {
    const isReleased = asked.has("unlock");
    const commands: LockCommand[] = [];
    if (isReleased || (asked.has("try") && !this.#held.has(key))) commands.push("unlock");
    if (asked.has("lowerFlag") || (asked.has("raiseFlag") && !this.#flags.has(key)))
      commands.push("lowerFlag");
    if (isReleased) commands.push("wakeAll");
    return commands;
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

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 2000;

interface LockConnectionOptions {
  createClient: () => Client;
  channel: string;
  explain: ExplainError;
  /** True when the connection is known to lead to the server itself. */
  isDirect: boolean;
}

/** Keeps one lock session alive: when it is lost, the next is opened, with longer and longer pauses between attempts. */
export class LockConnection {
  readonly #options: LockConnectionOptions;
  readonly #closing = new AbortController();
  #current: Promise<LockSession>;
  #fault: unknown;

  private constructor(options: LockConnectionOptions, first: LockSession) {
    this.#options = options;
    this.#current = Promise.resolve(first);
    this.#watch(first);
  }

  /**
   * @throws ConfigError when the connection goes through a pooler (`config_invalid`)
   * @throws StorageUnavailableError (`storage_unavailable`)
   */
  static async open(options: LockConnectionOptions): Promise<LockConnection> {
    try {
      return new LockConnection(options, await openSession(options));
    } catch (error) {
      throw storageError(error, options.explain);
    }
  }

  /**
   * The session of now, or the next one.
   * @throws StorageUnavailableError when there is none within 10 s (`storage_unavailable`)
   */
  async session(): Promise<LockSession> {
    const session = await withTimeout(CONNECT_TIMEOUT, this.#current);
    if (session) return session;
    const explained = this.#options.explain(this.#fault);
    throw new StorageUnavailableError(explained?.message ?? "the thread locks cannot be reached", {
      hint: explained?.hint,
      cause: this.#fault,
    });
  }

  /** The error in plain words, where it is the driver's. */
  explained(error: unknown): unknown {
    return storageError(error, this.#options.explain);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const session = await Promise.race([this.#current, Promise.resolve()]).catch(() => undefined);
    await session?.close();
  }

  #watch(session: LockSession): void {
    session.lost.addEventListener("abort", () => {
      if (this.#closing.signal.aborted) this.#current = Promise.reject(closedError());
      else this.#current = this.#reopen();
      this.#current.catch(() => undefined);
    });
  }

  async #reopen(): Promise<LockSession> {
    for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      await sleep(pause, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
      if (this.#closing.signal.aborted) throw closedError();
      try {
        const session = await openSession(this.#options);
        if (this.#closing.signal.aborted) await session.close();
        this.#watch(session);
        return session;
      } catch (error) {
        this.#fault = error;
      }
    }
  }
}

function openSession({ createClient, channel, isDirect }: LockConnectionOptions): Promise<LockSession> {
  return LockSession.open(createClient(), channel, async (client) => {
    if (!isDirect) await refusePooler(client);
  });
}

/** A pooler would hand each statement to another server process: locks would be taken in one and looked for in another. */
async function refusePooler(client: Client): Promise<void> {
  const { processID } = client as unknown as { processID?: number };
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  if (rows[0]?.pid === processID) return;
  throw new ConfigError(
    "checkpointer_uri leads through a connection pooler, where thread locks do not hold",
    {
      hint: "set checkpointer_options.lock_uri to the server itself, and checkpointer_options.prepare to false",
    },
  );
}

const closedError = () => new StorageUnavailableError("the storage is closed");
