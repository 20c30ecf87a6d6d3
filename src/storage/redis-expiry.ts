/**
 * Time to live of threads: their checkpoints go `ttl` after the last write, all together. Each write renews the keys it
 * touches; the others of the thread, which may be many, are renewed at the first write in each tenth of the time.
 */
import type { RedisConnection, Transaction } from "./redis-client.js";
import type { NamespaceKeys, RedisKeys } from "./redis-keys.js";

const PORTION = 10;

export class RedisExpiry {
  readonly #connection: RedisConnection;
  readonly #keys: RedisKeys;
  readonly #ttl: number | undefined;

  constructor(connection: RedisConnection, keys: RedisKeys, ttl: number | undefined) {
    this.#connection = connection;
    this.#keys = keys;
    this.#ttl = ttl;
  }

  /** Execute a transaction that wrote to the checkpoint `id`, and renew the thread's time. */
  async execute(transaction: Transaction, threadId: string, keys: NamespaceKeys, id: string): Promise<void> {
    if (this.#ttl === undefined) {
      await transaction.exec();
      return;
    }
    const { namespaces, renewed } = this.#keys.thread(threadId);
    for (const key of [namespaces, keys.ids, keys.values, keys.checkpoint(id), keys.writes(id)]) {
      transaction.pExpire(key, this.#ttl);
    }
    transaction.set(renewed, "1", {
      expiration: { type: "PX", value: Math.ceil(this.#ttl / PORTION) },
      condition: "NX",
    });
    const replies = await transaction.exec();
    if (replies.at(-1) !== null) await this.#renewAll(threadId, this.#ttl);
  }

  async #renewAll(threadId: string, ttl: number): Promise<void> {
    const namespaces = await this.#connection.client.sMembers(this.#keys.thread(threadId).namespaces);
    for (const namespace of namespaces) {
      const keys = this.#keys.namespace(threadId, namespace.toString());
      const ids = (await this.#connection.client.zRange(keys.ids, 0, -1)).map(String);
      const all = [keys.ids, keys.values, ...ids.flatMap((id) => [keys.checkpoint(id), keys.writes(id)])];
      await Promise.all(all.map((key) => this.#connection.client.pExpire(key, ttl)));
    }
  }
}
