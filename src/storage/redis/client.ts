import { setTimeout as pause } from "node:timers/promises";
import { StorageUnavailableError } from "../../support/errors.js";
import type { RedisDriver } from "./options.js";

/** Timeout of calls and of connection attempts, in milliseconds. */
const TIMEOUT = 10_000;
/** Maximum pause between connection attempts, in milliseconds. */
const MAX_PAUSE = 2_000;

export type RedisClient = ReturnType<typeof createRedisClient>;

/** A client that returns strings as Buffers. It does not reconnect. */
function createRedisClient({ createClient, RESP_TYPES }: RedisDriver, url: string) {
  return createClient({
    url,
    name: "graph-serve",
    commandOptions: { timeout: TIMEOUT, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    // Pings are sent more often than the socket timeout, so that only a dead connection times out.
    pingInterval: TIMEOUT / 2,
    socket: {
      connectTimeout: TIMEOUT,
      socketTimeout: TIMEOUT,
      reconnectStrategy: (_, cause) => cause,
    },
  });
}

/**
 * Replaces its client when the connection is lost. The driver (5.12) can reconnect by itself, but then treats commands
 * written to the old connection just before its end as sent on the new one, and each later call receives the reply of
 * another. Calls wait for a connection attempt in progress, and fail between two attempts.
 */
export class RedisConnection {
  readonly #create: () => RedisClient;
  readonly #onReady: (client: RedisClient) => void;
  #client: RedisClient;
  #isClosed = false;

  private constructor(create: () => RedisClient, onReady: (client: RedisClient) => void = () => undefined) {
    this.#create = create;
    this.#onReady = onReady;
    this.#client = this.#begin();
  }

  /** Connect in the background, retrying until it succeeds. `onReady` is called after each connect and reconnect. */
  static start(driver: RedisDriver, url: string, onReady: (client: RedisClient) => void): RedisConnection {
    const connection = new RedisConnection(() => createRedisClient(driver, url), onReady);
    void connection.#connect();
    return connection;
  }

  /** Connect and ping the server. Rejects with the driver's error. */
  static async open(driver: RedisDriver, url: string): Promise<RedisConnection> {
    const connection = new RedisConnection(() => createRedisClient(driver, url));
    try {
      await connection.client.connect();
      await connection.client.ping();
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /**
   * The current client. Read it for each call: it changes on reconnect.
   * @throws StorageUnavailableError after the connection is closed (`storage_unavailable`)
   */
  get client(): RedisClient {
    if (this.#isClosed) throw new StorageUnavailableError("Redis is no longer in use: the storage is closed");
    return this.#client;
  }

  /** Close the connection. Pending calls fail. */
  close(): void {
    this.#isClosed = true;
    end(this.#client);
  }

  /** Create a client that is not connected yet. If it connects and then fails, it is replaced. */
  #begin(): RedisClient {
    const client = this.#create();
    let isReady = false;
    client.on("ready", () => {
      isReady = true;
      this.#onReady(client);
    });
    // Without a listener, a connection error would crash the process. Calls report the error.
    client.on("error", () => {
      if (!isReady) return;
      isReady = false;
      end(client);
      this.#client = this.#begin();
      void this.#connect();
    });
    return client;
  }

  async #connect(): Promise<void> {
    for (let attempt = 0; !this.#isClosed; attempt += 1) {
      try {
        return void (await this.#client.connect());
      } catch {
        await pause(Math.min(50 * 2 ** attempt, MAX_PAUSE), undefined, { ref: false });
      }
    }
  }
}

function end(client: RedisClient): void {
  if (client.isOpen) client.destroy();
}

/** The commands used in transactions; in the driver's own type, each call returns a new type. */
export interface Transaction {
  eval(script: string, options: { keys: string[]; arguments: (string | Buffer)[] }): Transaction;
  hDel(key: string, fields: string[]): Transaction;
  hSet(key: string, field: string, value: string | Buffer): Transaction;
  hSet(key: string, fields: Record<string, string | Buffer>): Transaction;
  hSetNX(key: string, field: string, value: Buffer): Transaction;
  pExpire(key: string, ms: number): Transaction;
  sAdd(key: string, member: string): Transaction;
  sRem(key: string, member: string): Transaction;
  set(
    key: string,
    value: string,
    options: { expiration: { type: "PX"; value: number }; condition: "NX" },
  ): Transaction;
  unlink(keys: string[]): Transaction;
  zAdd(key: string, member: { score: number; value: string }): Transaction;
  zRem(key: string, members: string[]): Transaction;
  exec(): Promise<unknown[]>;
}

export const beginTransaction = (client: RedisClient): Transaction => client.multi();
