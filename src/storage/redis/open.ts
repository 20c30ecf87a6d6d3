import { wrapCheckpointer } from "../saver/wrap.js";
import { guarded, storageError } from "../driver/errors.js";
import type { Storage, StorageOptions } from "../contract/storage.js";
import { RedisConnection } from "./client.js";
import { explainRedis } from "./errors.js";
import { loadRedisDriver, readRedisOptions } from "./options.js";
import { RedisSaver } from "./saver.js";

/**
 * Checkpoints on a Redis or Valkey server, without modules. Rows, items and locks come from `openRows`: they live in
 * this process's memory, so `checkpointer_options.allow_ephemeral_metadata` must be set and the storage is not durable.
 * After a restart, a thread is unknown until it is created again with the same id; its checkpoints are then available.
 * @throws ConfigError if the URI or an option is invalid, or ephemeral rows are not allowed (`config_invalid`)
 * @throws StorageUnavailableError if the server cannot be used or redis cannot be loaded (`storage_unavailable`)
 */
export async function openRedis(
  options: StorageOptions,
  openRows: (options: StorageOptions) => Promise<Storage>,
): Promise<Storage> {
  const { uri, location, host, keyPrefix, ttl } = readRedisOptions(options);
  const explain = explainRedis(host);
  const driver = await loadRedisDriver();
  const connection = await RedisConnection.open(driver, uri).catch((error: unknown) => {
    throw storageError(error, explain);
  });
  const rows = await openRows(options);
  const saver = new RedisSaver(connection, { keyPrefix, ttl });
  return {
    ...rows,
    scheme: "redis",
    durable: false,
    location,
    now: () => guarded(explain, () => timeOf(connection)),
    checkpointer: wrapCheckpointer(saver, {
      keepOnly: (threadId, keep, newest) => saver.keepOnly(threadId, keep, newest),
      namespaces: (threadId) => saver.namespaces(threadId),
      explain,
    }),
    close: async () => {
      connection.close();
      await rows.close();
    },
  };
}

async function timeOf({ client }: RedisConnection): Promise<number> {
  const [seconds, microseconds] = (await client.sendCommand(["TIME"])) as unknown as [string, string];
  return Number(seconds) * 1000 + Number(microseconds) / 1000;
}
