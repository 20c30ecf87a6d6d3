/**
 * A Redis server for tests. Each test file uses one key prefix, removed at the end. Tests are skipped with a
 * message if there is no server.
 */
import { randomBytes } from "node:crypto";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, it } from "vitest";
import { openStorage } from "../../src/storage/open.js";
import type { Storage, StorageOptions } from "../../src/storage/contract/storage.js";

const URI_VARIABLE = "GRAPH_SERVE_TEST_REDIS_URI";
const uri = process.env[URI_VARIABLE] ?? "redis://127.0.0.1:6379";

export class TestRedis {
  readonly uri = uri;
  readonly prefix = `test-${randomBytes(6).toString("hex")}:`;
  /** Direct access to the keys of the storage. */
  readonly client = createClient({ url: uri }).on("error", () => undefined);
  readonly #opened: Storage[] = [];

  /** Options to open a storage with the key prefix of this file. */
  options(checkpointer_options: StorageOptions["checkpointer_options"] = {}): StorageOptions {
    return {
      checkpointer_scheme: "redis",
      checkpointer_uri: uri,
      checkpointer_options: {
        allow_ephemeral_metadata: true,
        key_prefix: this.prefix,
        ...checkpointer_options,
      },
      max_queued_runs: 2,
    };
  }

  /** Opens a storage; `close()` of this class closes it. */
  async open(checkpointer_options?: StorageOptions["checkpointer_options"]): Promise<Storage> {
    const storage = await openStorage(this.options(checkpointer_options));
    this.#opened.push(storage);
    return storage;
  }

  async close(): Promise<void> {
    for (const storage of this.#opened.splice(0)) await storage.close();
  }

  /** All keys with the prefix of this file. */
  async keys(): Promise<string[]> {
    const found: string[] = [];
    for await (const keys of this.client.scanIterator({ MATCH: `${this.prefix}*`, COUNT: 1000 })) {
      found.push(...keys);
    }
    return found;
  }

  async empty(): Promise<void> {
    const keys = await this.keys();
    if (keys.length > 0) await this.client.unlink(keys);
  }
}

const unreachable = await whyUnreachable();

/**
 * Declares tests on the Redis server at GRAPH_SERVE_TEST_REDIS_URI, by default 127.0.0.1:6379. Without a
 * server they are skipped with the reason in their title, or fail if GRAPH_SERVE_REQUIRE_BACKENDS lists
 * redis.
 */
export function withRedis(title: string, declare: (redis: TestRedis) => void): void {
  if (unreachable !== undefined) {
    it.skip(`${title}: skipped, no Redis (${unreachable})`, () => undefined);
    return;
  }
  describe(title, () => {
    const redis = new TestRedis();
    beforeAll(async () => {
      await redis.client.connect();
    });
    afterAll(async () => {
      await redis.close();
      await redis.empty();
      redis.client.destroy();
    });
    declare(redis);
  });
}

async function whyUnreachable(): Promise<string | undefined> {
  const client = createClient({ url: uri, socket: { connectTimeout: 3000, reconnectStrategy: false } });
  client.on("error", () => undefined);
  try {
    await client.connect();
    client.destroy();
    return undefined;
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const reason = message || code || "no answer";
    if (process.env.GRAPH_SERVE_REQUIRE_BACKENDS?.split(",").includes("redis")) {
      throw new Error(`GRAPH_SERVE_REQUIRE_BACKENDS requires redis: ${reason}`);
    }
    process.stderr.write(`Redis tests are skipped: ${reason}. Set ${URI_VARIABLE} to the URI of a server.\n`);
    return reason;
  }
}
