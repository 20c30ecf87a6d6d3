/** A Redis connection that is lost during calls: a call never receives the answer of another call. */
import { expect, it, onTestFinished } from "vitest";
import { RedisConnection } from "../../src/storage/redis/client.js";
import { loadRedisDriver } from "../../src/storage/redis/options.js";
import { withRedis } from "../helpers/redis.js";
import { TcpRelay } from "../helpers/tcp-relay.js";

const CUTS = 40;
const READERS = 8;

withRedis("answers of redis", (redis) => {
  it(
    "answers belong to their calls, however often the connection is lost",
    { timeout: 120_000 },
    async () => {
      const { relay, uri } = await TcpRelay.before(redis.uri, 6379);
      onTestFinished(() => relay.close());
      const connection = await RedisConnection.open(await loadRedisDriver(), uri);
      onTestFinished(() => connection.close());
      const keys = Array.from({ length: READERS }, (_, index) => `${redis.prefix}key ${index}`);
      for (const key of keys) await redis.client.set(key, key);

      let answers = 0;
      const wrong: string[] = [];
      const read = async (key: string) => {
        const { client } = connection;
        const [value] = await Promise.all([client.get(key), client.multi().exists(key).exec()]);
        answers += 1;
        if (String(value) !== key) wrong.push(String(value));
      };
      // One call per turn of the event loop, so that a call is always pending when the connection is lost.
      let isOver = false;
      let turn = 0;
      const go = () => {
        turn += 1;
        read(keys[turn % READERS] ?? "").catch(() => undefined);
        if (!isOver) setImmediate(go);
      };
      go();
      onTestFinished(() => void (isOver = true));
      for (let cut = 0; cut < CUTS; cut += 1) {
        const from = answers;
        await expect.poll(() => answers, { timeout: 20_000 }).toBeGreaterThan(from + 50);
        relay.cut();
      }
      expect(wrong).toEqual([]);
    },
  );
});
