import type { RedisDriver } from "./redis-driver.js";

/** How long a call waits for the server, in milliseconds; a connection is tried for as long. */
const TIMEOUT = 10_000;
const LONGEST_PAUSE = 2_000;

export type RedisClient = ReturnType<typeof createRedisClient>;

/** A client that reads texts as bytes, on one connection, which it makes anew when it is lost. */
function createRedisClient({ createClient, RESP_TYPES }: RedisDriver, url: string) {
  let wasConnected = false;
  const client = createClient({
    url,
    name: "graph-serve",
    commandOptions: { timeout: TIMEOUT, typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    // A connection that says nothing for so long is dead: a ping goes out more often than that.
    pingInterval: TIMEOUT / 2,
    socket: {
      connectTimeout: TIMEOUT,
      socketTimeout: TIMEOUT,
      // At the start the first refusal is the answer; later the server may come back at any time.
      reconnectStrategy: (retries, cause) =>
        wasConnected ? Math.min(50 * 2 ** retries, LONGEST_PAUSE) : cause,
    },
  });
  client.on("ready", () => (wasConnected = true));
  // Without a listener an error of the connection would end the process; calls report it.
  client.on("error", () => undefined);
  return client;
}

/** A client whose server has answered. */
export async function connect(driver: RedisDriver, url: string): Promise<RedisClient> {
  const client = createRedisClient(driver, url);
  try {
    await client.connect();
    await client.ping();
    return client;
  } catch (error) {
    close(client);
    throw error;
  }
}

/** Calls that still wait fail. */
export function close(client: RedisClient): void {
  if (client.isOpen) client.destroy();
}

/** The commands of a transaction that are used here; the driver's own type changes with each command that is added. */
export interface Transaction {
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
