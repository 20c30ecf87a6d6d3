import { setTimeout as pause } from "node:timers/promises";
import { StorageUnavailableError } from "../../support/errors.js";
import type { RedisDriver } from "./options.js";

/** How long a call waits for the server, in milliseconds; a connection is tried for as long. */
const TIMEOUT = 10_000;
const LONGEST_PAUSE = 2_000;

export type RedisClient = ReturnType<typeof createRedisClient>;

/** A client that reads texts as bytes, on one connection; when that is lost the client has ended. */
function createRedisClient({ createClient, RESP_TYPES }: RedisDriver, url: string) {
  return createClient({
    url,
    name: "graph-serve",
    commandOptions: { timeout: TIMEOUT, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    // A connection that says nothing for so long is dead: a ping goes out more often than that.
    pingInterval: TIMEOUT / 2,
    socket: {
      connectTimeout: TIMEOUT,
      socketTimeout: TIMEOUT,
      reconnectStrategy: (_, cause) => cause,
    },
  });
}

/**
 * A client, and another one when its connection is lost. The driver (5.12) could connect again by itself, but takes
 * commands that it wrote to the old connection at its very end for sent on the new one: from then on each call would get
 * the answer of another. Calls wait for an attempt to connect that is under way, and fail between two of them.
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

  /** One that is tried until it is there; `onReady` hears of each that has come about. */
  static start(driver: RedisDriver, url: string, onReady: (client: RedisClient) => void): RedisConnection {
    const connection = new RedisConnection(() => createRedisClient(driver, url), onReady);
    void connection.#connect();
    return connection;
  }

  /** Resolves when the server has answered; rejects with the driver's error when it does not. */
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
   * That of now: to be asked for with each call.
   * @throws StorageUnavailableError once the connection is closed (`storage_unavailable`)
   */
  get client(): RedisClient {
    if (this.#isClosed) throw new StorageUnavailableError("Redis is no longer in use: the storage is closed");
    return this.#client;
  }

  /** Calls that still wait fail. */
  close(): void {
    this.#isClosed = true;
    end(this.#client);
  }

  /** A client that has not connected yet. Once it has, its end is the beginning of another. */
  #begin(): RedisClient {
    const client = this.#create();
    let isReady = false;
    client.on("ready", () => {
      isReady = true;
      this.#onReady(client);
    });
    // Without a listener an error of the connection would end the process; calls report it.
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
        await pause(Math.min(50 * 2 ** attempt, LONGEST_PAUSE), undefined, { ref: false });
      }
    }
  }
}

function end(client: RedisClient): void {
  if (client.isOpen) client.destroy();
}

/** The commands of a transaction that are used here; the driver's own type changes with each command that is added. */
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
  /** All or nothing. */
  exec(): Promise<unknown[]>;
}

export const beginTransaction = (client: RedisClient): Transaction => client.multi();
