import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { ConfigError, StorageUnavailableError } from "../errors.js";
import { storageError, type ExplainError } from "./driver-errors.js";
import { LockSession } from "./postgres-lock-session.js";
import { CONNECT_TIMEOUT } from "./postgres-options.js";

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 2000;

export interface LockConnectionOptions {
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
    const late = new AbortController();
    const deadline = sleep(CONNECT_TIMEOUT, undefined, { signal: late.signal }).catch(() => undefined);
    try {
      const session = await Promise.race([this.#current, deadline]);
      if (session) return session;
    } finally {
      late.abort();
    }
    const explained = this.#options.explain(this.#fault);
    throw new StorageUnavailableError(explained?.message ?? "the thread locks cannot be reached", {
      hint: explained?.hint,
      cause: this.#fault,
    });
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
