import {
  BaseCheckpointSaver,
  WRITES_IDX_MAP,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointKey } from "./checkpointer.js";
import { beginTransaction, type RedisConnection, type Transaction } from "./redis-client.js";
import { RedisExpiry } from "./redis-expiry.js";
import { RedisKeys, type NamespaceKeys } from "./redis-keys.js";
import { pruneThread, unlinkThread } from "./redis-prune.js";
import { fieldOf, pack, packValue, readRefs, writeRefs, type ValueRef } from "./redis-records.js";
import { RedisTuples } from "./redis-tuples.js";

export interface RedisSaverOptions {
  keyPrefix: string;
  /** Milliseconds; see ./redis-expiry.ts. */
  ttl?: number;
}

interface Place {
  thread_id: string;
  checkpoint_ns: string;
  checkpoint_id: string | undefined;
}

/**
 * Checkpoints on plain Redis or Valkey, from 6.2 on. Each call that writes is one transaction (MULTI). A channel's value
 * is kept once for all checkpoints that share it, and no call searches the keys but a list of all threads.
 */
export class RedisSaver extends BaseCheckpointSaver {
  readonly #connection: RedisConnection;
  readonly #keys: RedisKeys;
  readonly #expiry: RedisExpiry;
  readonly #tuples: RedisTuples;

  constructor(connection: RedisConnection, { keyPrefix, ttl }: RedisSaverOptions) {
    super();
    this.#connection = connection;
    this.#keys = new RedisKeys(keyPrefix);
    this.#expiry = new RedisExpiry(connection, this.#keys, ttl);
    this.#tuples = new RedisTuples(connection, this.#keys, this);
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (!config.configurable?.thread_id) return undefined;
    const place = placeOf(config);
    if (place.checkpoint_id) return this.#tuples.get(place, place.checkpoint_id);
    for await (const tuple of this.#tuples.newestFirst(place, { pageSize: 1 })) return tuple;
    return undefined;
  }

  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    yield* this.#tuples.list(config.configurable ?? {}, options);
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread_id, checkpoint_ns, checkpoint_id: parent } = placeOf(config);
    const { channel_values: values, ...rest } = checkpoint;
    const keys = this.#keys.namespace(thread_id, checkpoint_ns);
    const inherited =
      parent === undefined ? [] : await this.#inherited(keys, parent, checkpoint, newVersions);
    // Of a parent whose time to live is over nothing can be shared: all values are written anew.
    const versions = inherited ? newVersions : checkpoint.channel_versions;
    const written = Object.entries(versions)
      .filter(([channel]) => Object.hasOwn(values, channel))
      .map(([channel, version]): ValueRef => ({ channel, version, id: checkpoint.id }));
    const refs = [...written, ...(inherited ?? [])];
    const packed = await Promise.all(
      written.map(async (ref) => [fieldOf(ref), await packValue(this.serde, values[ref.channel])] as const),
    );
    const transaction = this.#begin(thread_id, checkpoint_ns, checkpoint.id).hSet(
      keys.checkpoint(checkpoint.id),
      {
        checkpoint: await packValue(this.serde, rest),
        metadata: await packValue(this.serde, metadata),
        parent: parent ?? "",
        refs: writeRefs(refs),
      },
    );
    for (const [field, value] of packed) transaction.hSet(keys.values, field, value);
    await this.#expiry.execute(transaction, thread_id, keys, checkpoint.id);
    return { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } };
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const { thread_id, checkpoint_ns, checkpoint_id } = placeOf(config);
    if (checkpoint_id === undefined) throw new Error("configurable.checkpoint_id is needed to store writes");
    const keys = this.#keys.namespace(thread_id, checkpoint_ns);
    const areSpecial = writes.every(([channel]) => channel in WRITES_IDX_MAP);
    const transaction = this.#begin(thread_id, checkpoint_ns, checkpoint_id);
    for (const [index, [channel, value]] of writes.entries()) {
      const field = JSON.stringify([taskId, WRITES_IDX_MAP[channel] ?? index]);
      const [type, bytes] = await this.serde.dumpsTyped(value);
      const record = pack([channel, type], bytes);
      // An ordinary write that is there was made by an earlier attempt of the same task: it stays.
      if (areSpecial) transaction.hSet(keys.writes(checkpoint_id), field, record);
      else transaction.hSetNX(keys.writes(checkpoint_id), field, record);
    }
    await this.#expiry.execute(transaction, thread_id, keys, checkpoint_id);
  }

  async deleteThread(threadId: string): Promise<void> {
    await unlinkThread(this.#connection.client, this.#keys, threadId);
  }

  /** Deletes a thread's checkpoints and writes but these; see `WrapOptions.keepOnly`. */
  async keepOnly(threadId: string, keep: readonly CheckpointKey[]): Promise<void> {
    await pruneThread(this.#connection.client, this.#keys, threadId, keep);
  }

  /** A transaction that makes the checkpoint known; writes may come before it does, and must be found when it goes. */
  #begin(threadId: string, namespace: string, id: string): Transaction {
    return beginTransaction(this.#connection.client)
      .sAdd(this.#keys.thread(threadId).namespaces, namespace)
      .zAdd(this.#keys.namespace(threadId, namespace).ids, { score: 0, value: id });
  }

  /** The values that the checkpoint shares with its parent; undefined when that is gone. */
  async #inherited(
    keys: NamespaceKeys,
    parent: string,
    { channel_versions: versions }: Checkpoint,
    newVersions: ChannelVersions,
  ): Promise<ValueRef[] | undefined> {
    const refs = await this.#connection.client.hGet(keys.checkpoint(parent), "refs");
    if (refs === null) return undefined;
    return readRefs(refs).filter(
      ({ channel, version }) => !Object.hasOwn(newVersions, channel) && versions[channel] === version,
    );
  }
}

function placeOf({ configurable = {} }: RunnableConfig): Place {
  const { thread_id, checkpoint_ns, checkpoint_id } = configurable as Record<string, unknown>;
  if (typeof thread_id !== "string") throw new Error("configurable.thread_id must be a text");
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
  return { thread_id, checkpoint_ns: text(checkpoint_ns) ?? "", checkpoint_id: text(checkpoint_id) };
}
