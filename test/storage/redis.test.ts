import { beforeAll } from "vitest";
import { openStorage } from "../../src/storage/open.js";
import { RedisConnection } from "../../src/storage/redis/client.js";
import { loadRedisDriver } from "../../src/storage/redis/options.js";
import { RedisSaver } from "../../src/storage/redis/saver.js";
import { withRedis } from "../helpers/redis.js";
import { conformance } from "./conformance.js";
import { storageContract } from "./contract.js";

withRedis("redis contract", (redis) => {
  async function open() {
    await redis.empty();
    return openStorage(redis.options());
  }

  // The rows are stored in memory; allow_ephemeral_metadata accepts that they are lost with the process.
  storageContract("redis", open, { durable: false });
});

withRedis("redis conformance", (redis) => {
  let connection: RedisConnection;
  beforeAll(async () => {
    connection = await RedisConnection.open(await loadRedisDriver(), redis.uri);
    return () => connection.close();
  });

  conformance("RedisSaver", async () => {
    await redis.empty();
    return new RedisSaver(connection, { keyPrefix: redis.prefix });
  });
});
