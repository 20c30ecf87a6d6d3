import { emptyCheckpoint, uuid6, type ChannelVersions } from "@langchain/langgraph-checkpoint";
import type { RunnableConfig } from "@langchain/core/runnables";
import { afterEach, describe, expect, it } from "vitest";
import { ConfigError, StorageUnavailableError, type GraphServeError } from "../../src/support/errors.js";
import { newId } from "../../src/support/ids.js";
import { openStorage } from "../../src/storage/open.js";
import { RedisConnection } from "../../src/storage/redis/client.js";
import { loadRedisDriver } from "../../src/storage/redis/options.js";
import { RedisSaver } from "../../src/storage/redis/saver.js";
import type { Checkpointer } from "../../src/storage/contract/checkpointer.js";
import { withRedis } from "../helpers/redis.js";

const METADATA = { source: "loop" as const, step: 0, parents: {} };
const at = (thread_id: string, checkpoint_ns = ""): RunnableConfig => ({
  configurable: { thread_id, checkpoint_ns },
});
let clock = 0;

type Saver = Pick<Checkpointer, "put" | "getTuple" | "putWrites">;

/** A checkpoint on top of `parent` in which the channels of `versions` are new. */
async function put(
  saver: Saver,
  parent: RunnableConfig,
  values: Record<string, unknown>,
  versions: ChannelVersions,
  unchanged: ChannelVersions = {},
): Promise<RunnableConfig> {
  const checkpoint = {
    ...emptyCheckpoint(),
    id: uuid6(clock++),
    channel_values: values,
    channel_versions: { ...unchanged, ...versions },
  };
  return saver.put(parent, checkpoint, METADATA, versions);
}

const failure = (opening: Promise<unknown>): Promise<GraphServeError> =>
  opening.then(
    () => Promise.reject(new Error("it opened")),
    (error: unknown) => error as GraphServeError,
  );

describe("redis settings", () => {
  const open = (checkpointer_options: object, checkpointer_uri?: string) =>
    openStorage({
      checkpointer_scheme: "redis",
      checkpointer_uri,
      checkpointer_options: { ...checkpointer_options },
      max_queued_runs: 2,
    });
  const ephemeral = { allow_ephemeral_metadata: true };

  it.each([{}, { allow_ephemeral_metadata: false }])(
    "options %j prevent the start with an explanation",
    async (given) => {
      const error = await failure(open(given, "redis://127.0.0.1:6379"));
      expect(error).toBeInstanceOf(ConfigError);
      expect(error.message).toContain("stores only checkpoints");
      expect(error.hint).toContain('"allow_ephemeral_metadata": true');
    },
  );

  it.each([
    [{ allow_ephemeral_metadata: "yes" }, "allow_ephemeral_metadata must be true or false"],
    [{ ...ephemeral, ttl_minutes: 0 }, "ttl_minutes must be a number above 0"],
    [{ ...ephemeral, key_prefix: "{x}" }, "key_prefix must be a string without braces"],
    [{ ...ephemeral, schema: "x" }, "schema is not known"],
  ])("option %j is rejected", async (given, message) => {
    const error = await failure(open(given, "redis://127.0.0.1:6379"));
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toContain(`checkpointer_options.${message}`);
  });

  it.each([undefined, "redis://", "postgres://host/db"])("the URI %s is rejected", async (uri) => {
    expect(await failure(open(ephemeral, uri))).toBeInstanceOf(ConfigError);
  });

  it("an unreachable server is reported without the password", async () => {
    const error = await failure(open(ephemeral, "redis://me:s3cret@127.0.0.1:9/0"));
    expect(error).toBeInstanceOf(StorageUnavailableError);
    expect(error.message).toBe("Redis at 127.0.0.1:9 cannot be reached");
    expect(error.hint).not.toContain("s3cret");
  });
});

withRedis("redis storage", (redis) => {
  afterEach(async () => {
    await redis.close();
    await redis.empty();
  });

  it("the location contains no password", async () => {
    const { location, scheme } = await redis.open();
    expect(location).toMatch(/^rediss?:\/\/[^@]+$/);
    expect(scheme).toBe("redis");
  });

  it("checkpoints survive a reopened storage, rows do not", async () => {
    const thread = newId();
    const first = await redis.open();
    const config = await put(first.checkpointer, at(thread), { a: 1 }, { a: 1 });
    await redis.close();
    const second = await redis.open();
    expect((await second.checkpointer.getTuple(config))?.checkpoint.channel_values).toEqual({ a: 1 });
    expect(await second.threads.count({})).toBe(0);
  });

  it("unchanged values are stored once", async () => {
    const { checkpointer } = await redis.open();
    const thread = newId();
    let config = await put(checkpointer, at(thread), { big: "x", n: 0 }, { big: 1, n: 1 });
    for (let n = 1; n <= 5; n += 1) {
      config = await put(checkpointer, config, { big: "x", n }, { n: n + 1 }, { big: 1 });
    }
    expect((await checkpointer.getTuple(config))?.checkpoint.channel_values).toEqual({ big: "x", n: 5 });
    const values = (await redis.keys()).find((key) => key.includes(":values:"));
    expect(await redis.client.hLen(values!)).toBe(7);
  });

  it("forks with the same version keep their own values", async () => {
    const { checkpointer } = await redis.open();
    const root = await put(checkpointer, at(newId()), { a: "root" }, { a: 1 });
    const [left, right] = [
      await put(checkpointer, root, { a: "left" }, { a: 2 }),
      await put(checkpointer, root, { a: "right" }, { a: 2 }),
    ];
    const leaf = await put(checkpointer, left, { a: "left", b: 1 }, { b: 3 }, { a: 2 });
    const values = async (config: RunnableConfig) =>
      (await checkpointer.getTuple(config))?.checkpoint.channel_values;
    expect(await values(left)).toEqual({ a: "left" });
    expect(await values(right)).toEqual({ a: "right" });
    expect(await values(leaf)).toEqual({ a: "left", b: 1 });
  });

  it("writes can be stored before their checkpoint", async () => {
    const { checkpointer } = await redis.open();
    const thread = newId();
    const first = await put(checkpointer, at(thread), {}, {});
    const checkpoint = { ...emptyCheckpoint(), id: uuid6(clock++) };
    const early = { configurable: { ...at(thread).configurable, checkpoint_id: checkpoint.id } };
    await checkpointer.putWrites(early, [["a", 1]], "task");
    expect((await checkpointer.getTuple(at(thread)))?.config).toEqual(first);
    await checkpointer.put(first, checkpoint, METADATA, {});
    expect((await checkpointer.getTuple(at(thread)))?.pendingWrites).toEqual([["task", "a", 1]]);
  });

  it("deleting and pruning leave no keys", async () => {
    const { checkpointer } = await redis.open();
    const [thread, other] = [newId(), newId()];
    let config = at(thread);
    for (let n = 1; n <= 3; n += 1) {
      config = await put(checkpointer, config, { n }, { n });
      await checkpointer.putWrites(config, [["n", n]], "task");
    }
    await put(checkpointer, at(thread, "child"), { n: 1 }, { n: 1 });
    await checkpointer.keepLatest(thread, [""]);
    // Namespaces, ids, values, one checkpoint and its writes.
    expect(await redis.keys()).toHaveLength(5);
    const values = (await redis.keys()).find((key) => key.includes(":values:"));
    expect(await redis.client.hLen(values!)).toBe(1);
    expect((await checkpointer.getTuple(at(thread)))?.checkpoint.channel_values).toEqual({ n: 3 });
    await put(checkpointer, at(other), {}, {});
    await checkpointer.deleteThread(thread);
    expect((await redis.keys()).every((key) => key.includes(other))).toBe(true);
  });

  it.each(["*", "{a}:b", "a\nb", "?[x]", "%7D"])(
    "thread and namespace %j are treated as data",
    async (odd) => {
      const { checkpointer } = await redis.open();
      const [usual, strange] = [
        await put(checkpointer, at("usual"), { v: 1 }, { v: 1 }),
        await put(checkpointer, at(odd, odd), { v: 2 }, { v: 1 }),
      ];
      expect((await checkpointer.getTuple(strange))?.checkpoint.channel_values).toEqual({ v: 2 });
      expect(await checkpointer.getTuple(at("usual", odd))).toBeUndefined();
      await checkpointer.deleteThread(odd);
      expect(await checkpointer.getTuple(strange)).toBeUndefined();
      expect((await checkpointer.getTuple(usual))?.checkpoint.channel_values).toEqual({ v: 1 });
    },
  );

  describe("time to live", () => {
    const TTL = 60 * 60_000;
    const timesLeft = async () => {
      const keys = (await redis.keys()).filter((key) => !key.endsWith(":renewed"));
      return Promise.all(keys.map((key) => redis.client.pTTL(key)));
    };

    it("every key of a thread expires", async () => {
      const { checkpointer } = await redis.open({ ttl_minutes: 60 });
      const config = await put(checkpointer, at(newId()), { a: 1 }, { a: 1 });
      await checkpointer.putWrites(config, [["a", 1]], "task");
      const left = await timesLeft();
      expect(left).toHaveLength(5);
      for (const time of left) expect(time > 0 && time <= TTL).toBe(true);
    });

    it("a write extends the time to live of the whole thread", async () => {
      const { checkpointer } = await redis.open({ ttl_minutes: 60 });
      const first = await put(checkpointer, at(newId()), { a: 1 }, { a: 1 });
      for (const key of await redis.keys()) await redis.client.pExpire(key, TTL / 2);
      // Removing the marker simulates that a tenth of the time to live has passed.
      await redis.client.unlink((await redis.keys()).filter((key) => key.endsWith(":renewed")));
      await put(checkpointer, first, { a: 1, b: 1 }, { b: 2 }, { a: 1 });
      for (const time of await timesLeft()) expect(time).toBeGreaterThan(TTL / 2);
    });

    it("a run that takes longer than the time to live keeps its values", async () => {
      const { checkpointer } = await redis.open({ ttl_minutes: 60 });
      const first = await put(checkpointer, at(newId()), { a: 1, b: 1 }, { a: 1, b: 1 });
      // The node that writes `b` took longer than the time to live.
      await redis.empty();
      const second = await put(checkpointer, first, { a: 1, b: 2 }, { b: 2 }, { a: 1 });
      expect((await checkpointer.getTuple(second))?.checkpoint.channel_values).toEqual({ a: 1, b: 2 });
    });

    it("nothing expires without ttl_minutes", async () => {
      const { checkpointer } = await redis.open();
      await put(checkpointer, at(newId()), { a: 1 }, { a: 1 });
      expect(new Set(await timesLeft())).toEqual(new Set([-1]));
    });
  });

  it("a killed connection is replaced", async () => {
    const connection = await RedisConnection.open(await loadRedisDriver(), redis.uri);
    try {
      const saver = new RedisSaver(connection, { keyPrefix: redis.prefix });
      const config = await put(saver, at(newId()), { a: 1 }, { a: 1 });
      for (let round = 0; round < 3; round += 1) {
        const before = await connection.client.clientId();
        await redis.client.sendCommand(["CLIENT", "KILL", "ID", String(before)]);
        // A pending call may fail; later calls wait for the new connection.
        const tuple = await saver.getTuple(config).catch(() => saver.getTuple(config));
        expect(tuple?.checkpoint.channel_values).toEqual({ a: 1 });
        expect(await connection.client.clientId()).not.toBe(before);
      }
    } finally {
      connection.close();
    }
  });

  it("a closed storage rejects calls", async () => {
    const storage = await openStorage(redis.options());
    await storage.close();
    const reading = storage.checkpointer.getTuple(at(newId()));
    await expect(reading).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining("is no longer in use") as string,
    });
  });
});
