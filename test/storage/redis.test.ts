import { beforeAll } from "vitest";
import { openStorage } from "../../src/storage/open.js";
import { close, connect, type RedisClient } from "../../src/storage/redis-client.js";
import { loadRedisDriver } from "../../src/storage/redis-driver.js";
import { RedisSaver } from "../../src/storage/redis-saver.js";
import { withRedis } from "../helpers/redis.js";
import { conformance } from "./conformance.js";
import { storageContract } from "./contract.js";

withRedis("redis contract", (redis) => {
  async function open() {
    await redis.empty();
    return openStorage(redis.options());
  }

  // The rows are those of memory: that they end with the process is what the option accepts.
  storageContract("redis", open, { durable: false });
});

withRedis("redis conformance", (redis) => {
  let client: RedisClient;
  beforeAll(async () => {
    client = await connect(await loadRedisDriver(), redis.uri);
    return () => close(client);
  });

  conformance("RedisSaver", async () => {
    await redis.empty();
    return new RedisSaver(client, { keyPrefix: redis.prefix });
  });
});
