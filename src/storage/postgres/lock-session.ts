import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { ConfigError, StorageUnavailableError } from "../../support/errors.js";
import { withTimeout } from "../../support/pause.js";
import { Stopwatch } from "../../support/stopwatch.js";
import { type ExplainError, storageError } from "../driver/errors.js";
import { CONNECT_TIMEOUT } from "./options.js";

/** Commands for a lock. They take the key of the lock, from which the key of its waiter flag is derived. */
type LockCommand = "try" | "raiseFlag" | "lowerFlag" | "unlock" | "wakeOthers" | "wakeAll";

/** Commands that leave no lock behind. */
const RELEASING: ReadonlySet<LockCommand> = new Set<LockCommand>(["unlock", "lowerFlag", "wakeOthers"]);

interface Request {
  commands: readonly LockCommand[];
  key: string;
  resolve: (answers: boolean[]) => void;
  reject: (error: Error) => void;
}

/** Ticks without a statement after which a session sends a heartbeat. */
const HEARTBEAT_TICKS = 3;
/** Ticks without an answer after which a session counts as lost. */
const OVERDUE_TICKS = 5;
const TICK_MS = 1000;
/** Milliseconds after an answer during which the session is known to be alive: the server waits 15 s for a silent client. */
const FRESH_MS = 5000;

/**
 * A waiter holds the flag of the lock, a shared lock under the complement of the key. A process that unlocks then tries
 * the flag, and sends a notification only if there are waiters. Waiters raise the flag before they try the lock, and the
 * unlock precedes the check of the flag, so no wake-up is lost.
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

/** Disables timeouts, because sessions are often idle. The server detects a lost client after 15 s, later than the client. */
const SETTINGS = `SELECT set_config(name, value, false) FROM (VALUES ('statement_timeout', '0'),
    ('idle_session_timeout', '0'), ('tcp_keepalives_idle', '6'), ('tcp_keepalives_interval', '3'),
    ('tcp_keepalives_count', '3'), ('tcp_user_timeout', '15000')) AS wanted (name, value)
  WHERE name IN (SELECT name FROM pg_catalog.pg_settings)`;

/** Whether the lock table of the server is full. All clients of the server share it. */
export const isOutOfLocks = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === "53200";

/**
 * The locks of this process on one connection. The server frees all of them when the connection ends. Commands requested
 * while a statement is in flight share the next statement.
 */
export class LockSession {
  readonly #client: Client;
  readonly #channel: string;
  readonly #loss = new AbortController();
  /** Aborts when the connection ends, which frees all locks. */
  readonly lost: AbortSignal = this.#loss.signal;
  readonly #wakers = new Map<string, Set<() => void>>();
  readonly #ticking: NodeJS.Timeout;
  /** Keys that are locked. */
  readonly #held = new Set<string>();
  /** Keys whose flag is raised. */
  readonly #flags = new Set<string>();
  #queue: Request[] = [];
  #inFlight: readonly Request[] = [];
  #ticks = 0;
  /** Started when the most recently answered statement was sent. */
  #answered = new Stopwatch();

  private constructor(client: Client, channel: string) {
    this.#client = client;
    this.#channel = channel;
    // Every lease adds a listener.
    setMaxListeners(0, this.lost);
    client.on("notification", ({ payload }) => this.#wake(payload));
    client.on("error", () => this.#lose());
    client.on("end", () => this.#lose());
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
    this.#ticking.unref();
  }

  /** Connect and listen for unlocks. Rejects with the driver's error, after closing the client. */
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

  /** Execute commands in order, in one statement. Rejects with the reason of `lost` when the connection ends. */
  request(key: string, ...commands: LockCommand[]): Promise<boolean[]> {
    return new Promise((resolve, reject) => {
      if (this.lost.aborted) {
        reject(this.lost.reason as Error);
        return;
      }
      this.#queue.push({ commands, key, resolve, reject });
      if (this.#inFlight.length === 0) void this.#send();
    });
  }

  /** See `ThreadLease.confirm`. */
  readonly confirm = (): Promise<void> | undefined => {
    if (this.lost.aborted || this.#answered.elapsed() < FRESH_MS) return undefined;
    return this.request("0").then(
      () => undefined,
      () => undefined,
    );
  };

  /** Call `wake` whenever another session unlocks `key`. Returns a function that unsubscribes. */
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
      const requests = (this.#inFlight = this.#queue);
      this.#queue = [];
      try {
        await this.#execute(requests);
      } catch (error) {
        // It is unknown which commands were executed. Only ending the session reliably undoes them.
        for (const { reject } of requests) reject(error as Error);
        this.#lose();
      }
      this.#inFlight = [];
    }
  }

  /** Rejects if it is unknown which commands were executed. */
  async #execute(requests: readonly Request[]): Promise<void> {
    try {
      const rows = await this.#command(requests);
      for (const { commands, key, resolve } of requests) {
        const answers: boolean[] = [];
        for (const command of commands) {
          const answer = rows.shift()?.answer ?? false;
          if (command === "try" && answer) this.#held.add(key);
          if (command === "unlock") this.#held.delete(key);
          if (command === "raiseFlag" && answer) this.#flags.add(key);
          if (command === "lowerFlag") this.#flags.delete(key);
          answers.push(answer);
        }
        resolve(answers);
      }
    } catch (error) {
      if (!isOutOfLocks(error)) throw error;
      await this.#rollBack(requests);
      const remaining = requests.filter(
        ({ commands }) => !commands.every((command) => RELEASING.has(command)),
      );
      for (const request of requests)
        if (!remaining.includes(request)) request.resolve(request.commands.map(() => true));
      const [only] = remaining;
      if (requests.length > 1) for (const request of remaining) await this.#execute([request]);
      else only?.reject(error as Error);
    }
  }

  /** The answers, in the order of the commands. */
  async #command(requests: readonly Pick<Request, "commands" | "key">[]): Promise<{ answer: boolean }[]> {
    const sent = new Stopwatch();
    this.#ticks = 0;
    const commands: LockCommand[] = [];
    const keys: string[] = [];
    for (const request of requests)
      for (const command of request.commands) {
        commands.push(command);
        keys.push(request.key);
      }
    const { rows } = await this.#client.query<{ answer: boolean }>({
      name: "gs_locks",
      text: ANSWERS,
      values: [commands, keys, this.#channel],
    });
    this.#answered = sent;
    return rows;
  }

  /**
   * Roll back a statement that failed because the lock table is full. Some of its commands may have taken effect, because
   * session-level advisory locks survive a failed statement. Locks it acquired are released. Locks it should release are
   * released too, which needs no memory, and their waiters are woken.
   */
  async #rollBack(requests: readonly Request[]): Promise<void> {
    const keys = [...new Set(requests.map(({ key }) => key))];
    const requested = (key: string) =>
      new Set(requests.filter((request) => request.key === key).flatMap(({ commands }) => commands));
    await this.#command(keys.map((key) => ({ key, commands: this.#rollbackCommands(key, requested(key)) })));
    for (const key of keys) {
      if (requested(key).has("unlock")) this.#held.delete(key);
      if (requested(key).has("lowerFlag")) this.#flags.delete(key);
    }
  }

  #rollbackCommands(key: string, requested: ReadonlySet<LockCommand>): LockCommand[] {
    const isReleased = requested.has("unlock");
    const commands: LockCommand[] = [];
    if (isReleased || (requested.has("try") && !this.#held.has(key))) commands.push("unlock");
    if (requested.has("lowerFlag") || (requested.has("raiseFlag") && !this.#flags.has(key)))
      commands.push("lowerFlag");
    if (isReleased) commands.push("wakeAll");
    return commands;
  }

  /** Counts timer ticks, not time: an answer that a busy process has not read yet is not overdue. */
  #tick(): void {
    this.#ticks += 1;
    if (this.#inFlight.length > 0) {
      if (this.#ticks >= OVERDUE_TICKS) this.#lose();
    } else if (this.#ticks >= HEARTBEAT_TICKS) this.request("0").catch(() => undefined);
  }

  #wake(key = ""): void {
    for (const wake of this.#wakers.get(key) ?? []) wake();
  }

  #lose(): void {
    if (this.lost.aborted) return;
    clearInterval(this.#ticking);
    this.#loss.abort(new Error("the connection of the thread locks was lost"));
    const reason = this.lost.reason as Error;
    for (const { reject } of [...this.#inFlight, ...this.#queue]) reject(reason);
    this.#queue = [];
    for (const wakers of this.#wakers.values()) for (const wake of wakers) wake();
    // Destroy the socket instead of closing it gracefully: the server may be unreachable, and it must free the locks.
    const { connection } = this.#client as unknown as { connection?: { stream?: { destroy(): void } } };
    connection?.stream?.destroy();
  }
}

/** Backoff between attempts to reconnect. */
const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 2000;

interface LockConnectionOptions {
  createClient: () => Client;
  channel: string;
  explain: ExplainError;
  /** Whether the connection is known to bypass any pooler. */
  isDirect: boolean;
}

/** Keeps a lock session open: a lost session is reopened with exponential backoff. */
export class LockConnection {
  readonly #options: LockConnectionOptions;
  readonly #closing = new AbortController();
  /** The session that was opened last; it may be lost. */
  #latest: LockSession;
  /** That session or, once it is lost, the next one. */
  #current: Promise<LockSession>;
  #error: unknown;

  private constructor(options: LockConnectionOptions, first: LockSession) {
    this.#options = options;
    this.#latest = first;
    this.#current = Promise.resolve(first);
    this.#watch(first);
  }

  /**
   * @throws ConfigError if the connection goes through a pooler (`config_invalid`)
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
   * The current session, or the next one while it is being reopened.
   * @throws StorageUnavailableError if no session is available within 10 s (`storage_unavailable`)
   */
  async session(): Promise<LockSession> {
    if (!this.#latest.lost.aborted) return this.#latest;
    const session = await withTimeout(CONNECT_TIMEOUT, this.#current);
    if (session) return session;
    const explained = this.#options.explain(this.#error);
    throw new StorageUnavailableError(explained?.message ?? "the thread locks cannot be reached", {
      hint: explained?.hint,
      cause: this.#error,
    });
  }

  /** Converts a driver's error to a storage error; see `storageError`. */
  explained(error: unknown): unknown {
    return storageError(error, this.#options.explain);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    if (!this.#latest.lost.aborted) await this.#latest.close();
  }

  #watch(session: LockSession): void {
    session.lost.addEventListener("abort", () => {
      if (this.#closing.signal.aborted) this.#current = Promise.reject(closedError());
      else this.#current = this.#reopen();
      this.#current.catch(() => undefined);
    });
  }

  async #reopen(): Promise<LockSession> {
    for (let backoff = MIN_BACKOFF_MS; ; backoff = Math.min(2 * backoff, MAX_BACKOFF_MS)) {
      await sleep(backoff, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
      if (this.#closing.signal.aborted) throw closedError();
      try {
        const session = await openSession(this.#options);
        if (this.#closing.signal.aborted) await session.close();
        this.#latest = session;
        this.#watch(session);
        return session;
      } catch (error) {
        this.#error = error;
      }
    }
  }
}

function openSession({ createClient, channel, isDirect }: LockConnectionOptions): Promise<LockSession> {
  return LockSession.open(createClient(), channel, async (client) => {
    if (!isDirect) await refusePooler(client);
  });
}

/** A pooler assigns each statement to another server process, so session-level locks would not work. */
async function refusePooler(client: Client): Promise<void> {
  const { processID } = client as unknown as { processID?: number };
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  if (rows[0]?.pid === processID) return;
  throw new ConfigError(
    "checkpointer_uri points to a connection pooler, but thread locks need a direct connection",
    {
      hint: "set checkpointer_options.lock_uri to a URI of the server itself, and checkpointer_options.prepare to false",
    },
  );
}

const closedError = () => new StorageUnavailableError("the storage is closed");
