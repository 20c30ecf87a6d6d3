import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  type PendingWrite,
  TASKS,
} from "@langchain/langgraph-checkpoint";
import type { CheckpointKey } from "../saver/wrap.js";
import { ThreadChangedError } from "../../support/errors.js";
import { knownHead } from "../saver/known-head.js";
import { compareTexts, containing } from "../rows/rows.js";
import { requiredCheckpointRef, type NamespaceRef, checkpointRef } from "../saver/ref.js";
import { isNeeded, isWriteNeeded, type NeededChannels, readingOf } from "../saver/reading.js";
import { addSends, storedVersions, tupleOf } from "../saver/tuple.js";
import { numbered } from "../saver/writes.js";
import { beginTransaction, type RedisConnection, type Transaction } from "./client.js";
import {
  fieldOf,
  type NamespaceKeys,
  pack,
  packValue,
  pruneThread,
  putIfNewest,
  readRefs,
  RedisExpiry,
  RedisKeys,
  unlinkThread,
  unpack,
  unpackValue,
  type ValueRef,
  writeRefs,
} from "./keys.js";

interface RedisSaverOptions {
  keyPrefix: string;
  /** Time to live in milliseconds; see `RedisExpiry`. */
  ttl?: number;
}

/**
 * Checkpoints on plain Redis 6.2 or newer, or Valkey. Each call that writes is one transaction (MULTI). Checkpoints share
 * channel values that did not change. Only a list of all threads scans the keys.
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
    const place = checkpointRef(config);
    const needed = readingOf(config).channels;
    if (place.checkpoint_id) return this.#tuples.get(place, place.checkpoint_id, needed);
    for await (const tuple of this.#tuples.newestFirst(place, { pageSize: 1, needed })) return tuple;
    return undefined;
  }

  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    yield* this.#tuples.list(config.configurable ?? {}, { ...options, needed: readingOf(config).channels });
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { checkpoint_id: parent, ...place } = checkpointRef(config);
    const { thread_id, checkpoint_ns } = place;
    const { channel_values: values, ...rest } = checkpoint;
    const keys = this.#keys.namespace(thread_id, checkpoint_ns);
    const inherited =
      parent === undefined ? [] : await this.#inherited(keys, parent, checkpoint, newVersions);
    // No values can be shared with an expired parent: write all of them again.
    const versions = inherited
      ? storedVersions(checkpoint, metadata, newVersions)
      : checkpoint.channel_versions;
    const isInherited = new Set(inherited?.map(({ channel }) => channel));
    const written = Object.entries(versions)
      .filter(([channel]) => Object.hasOwn(values, channel) && !isInherited.has(channel))
      .map(([channel, version]): ValueRef => ({ channel, version, id: checkpoint.id }));
    const refs = [...written, ...(inherited ?? [])];
    const packed = await Promise.all(
      written.map(async (ref) => [fieldOf(ref), await packValue(this.serde, values[ref.channel])] as const),
    );
    const fields = {
      checkpoint: await packValue(this.serde, rest),
      metadata: await packValue(this.serde, metadata),
      parent: parent ?? "",
      refs: writeRefs(refs),
    };
    const transaction = putIfNewest(beginTransaction(this.#connection.client), {
      namespace: checkpoint_ns,
      namespaces: this.#keys.thread(thread_id).namespaces,
      keys,
      id: checkpoint.id,
      known: knownHead(config),
      fields: Object.entries(fields),
      values: packed,
    });
    const [newer] = await this.#expiry.execute(transaction, thread_id, keys, checkpoint.id);
    if (newer) throw new ThreadChangedError(thread_id);
    return { configurable: { ...place, checkpoint_id: checkpoint.id } };
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const { thread_id, checkpoint_ns, checkpoint_id } = requiredCheckpointRef(config);
    const keys = this.#keys.namespace(thread_id, checkpoint_ns);
    const { writes: own, replace } = numbered(writes);
    const transaction = this.#begin(thread_id, checkpoint_ns, checkpoint_id);
    for (const { idx, channel, value } of own) {
      const field = JSON.stringify([taskId, idx]);
      const [type, bytes] = await this.serde.dumpsTyped(value);
      const record = pack([channel, type], bytes);
      if (replace) transaction.hSet(keys.writes(checkpoint_id), field, record);
      else transaction.hSetNX(keys.writes(checkpoint_id), field, record);
    }
    await this.#expiry.execute(transaction, thread_id, keys, checkpoint_id);
  }

  async deleteThread(threadId: string): Promise<void> {
    await unlinkThread(this.#connection.client, this.#keys, threadId);
  }

  /** See `WrapOptions.keepOnly`. */
  async keepOnly(
    threadId: string,
    keep: readonly CheckpointKey[],
    newest: readonly CheckpointKey[],
  ): Promise<void> {
    await pruneThread(this.#connection.client, this.#keys, threadId, { keep, newest });
  }

  /** See `WrapOptions.namespaces`. */
  async namespaces(threadId: string): Promise<string[]> {
    const { client } = this.#connection;
    return (await client.sMembers(this.#keys.thread(threadId).namespaces)).map(String);
  }

  /** Registers the checkpoint's id: writes may be stored before their checkpoint, and must be found when it is deleted. */
  #begin(threadId: string, namespace: string, id: string): Transaction {
    return beginTransaction(this.#connection.client)
      .sAdd(this.#keys.thread(threadId).namespaces, namespace)
      .zAdd(this.#keys.namespace(threadId, namespace).ids, { score: 0, value: id });
  }

  /** The values that the checkpoint shares with its parent; undefined if the parent no longer exists. */
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

// Reads checkpoints.

/** Checkpoints read per page of a list, with all their values. */
const PAGE = 25;

type Saver = Pick<BaseCheckpointSaver, "serde">;

interface PageOptions {
  /** Only checkpoints with lower ids. */
  before?: string;
  pageSize?: number;
  needed?: NeededChannels;
}

class RedisTuples {
  readonly #connection: RedisConnection;
  readonly #keys: RedisKeys;
  readonly #saver: Saver;

  constructor(connection: RedisConnection, keys: RedisKeys, saver: Saver) {
    this.#connection = connection;
    this.#keys = keys;
    this.#saver = saver;
  }

  async get(place: NamespaceRef, id: string, needed?: NeededChannels): Promise<CheckpointTuple | undefined> {
    const keys = this.#keys.namespace(place.thread_id, place.checkpoint_ns);
    const [record, pendingWrites] = await Promise.all([
      this.#connection.client.hGetAll(keys.checkpoint(id)),
      this.#writes(keys, id, needed),
    ]);
    // Writes may be stored before their checkpoint.
    if (!record.checkpoint || !record.metadata) return undefined;
    const parent = record.parent?.toString() ?? "";
    const checkpoint = (await unpackValue(this.#saver.serde, record.checkpoint)) as Checkpoint;
    checkpoint.channel_values = await this.#values(keys, record.refs, needed);
    if (checkpoint.v < 4 && parent !== "") addSends(checkpoint, await this.#sendsOf(keys, parent));
    const metadata = await unpackValue(this.#saver.serde, record.metadata);
    return tupleOf(place, { id, parent, checkpoint, metadata, pendingWrites });
  }

  /** Checkpoints of a namespace with ids below `before`, newest first. */
  async *newestFirst(
    place: NamespaceRef,
    { before, pageSize = PAGE, needed }: PageOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { ids } = this.#keys.namespace(place.thread_id, place.checkpoint_ns);
    for (let end = before; ;) {
      const page = await this.#connection.client.zRange(ids, end === undefined ? "+" : `(${end}`, "-", {
        BY: "LEX",
        REV: true,
        LIMIT: { offset: 0, count: pageSize },
      });
      const tuples = await Promise.all(page.map((id) => this.get(place, id.toString(), needed)));
      for (const tuple of tuples) if (tuple) yield tuple;
      if (page.length < pageSize) return;
      end = page.at(-1)?.toString();
    }
  }

  /** Like `BaseCheckpointSaver.list`; lists all threads or namespaces if the reference does not name one. */
  async *list(
    place: Partial<NamespaceRef>,
    { limit = Infinity, before, filter = {}, needed }: CheckpointListOptions & Pick<PageOptions, "needed">,
  ): AsyncGenerator<CheckpointTuple> {
    const places = await this.#places(place);
    const options = { before: before?.configurable?.checkpoint_id as string | undefined, needed };
    const [only] = places;
    const tuples =
      places.length === 1 && only ? this.newestFirst(only, options) : this.#merged(places, options);
    const hasMetadata = containing(filter);
    let remaining = limit;
    for await (const tuple of tuples) {
      if (remaining <= 0) return;
      if (!hasMetadata(tuple.metadata)) continue;
      yield tuple;
      remaining -= 1;
    }
  }

  async *#merged(places: NamespaceRef[], options: PageOptions): AsyncGenerator<CheckpointTuple> {
    const all: CheckpointTuple[] = [];
    for (const place of places) {
      for await (const tuple of this.newestFirst(place, options)) all.push(tuple);
    }
    yield* all.sort((a, b) => (a.checkpoint.id < b.checkpoint.id ? 1 : -1));
  }

  async #places({ thread_id, checkpoint_ns }: Partial<NamespaceRef>): Promise<NamespaceRef[]> {
    const threads = thread_id === undefined ? await this.#threads() : [thread_id];
    const places: NamespaceRef[] = [];
    for (const thread of threads) {
      const namespaces =
        checkpoint_ns === undefined
          ? (await this.#connection.client.sMembers(this.#keys.thread(thread).namespaces)).map(String)
          : [checkpoint_ns];
      for (const namespace of namespaces) places.push({ thread_id: thread, checkpoint_ns: namespace });
    }
    return places;
  }

  async #threads(): Promise<string[]> {
    const threads = new Set<string>();
    // The iterator compares the final cursor as a string, and would never end with Buffers.
    const client = this.#connection.client.withTypeMapping({});
    for await (const keys of client.scanIterator({ MATCH: this.#keys.everyThread, COUNT: 1000 })) {
      for (const key of keys) threads.add(this.#keys.threadOf(key));
    }
    return [...threads];
  }

  async #values(
    keys: NamespaceKeys,
    text: Buffer | undefined,
    needed: NeededChannels | undefined,
  ): Promise<Record<string, unknown>> {
    const refs = readRefs(text).filter(({ channel }) => isNeeded(channel, needed));
    if (refs.length === 0) return {};
    const records = await this.#connection.client.hmGet(keys.values, refs.map(fieldOf));
    const entries = await Promise.all(
      refs.map(async ({ channel }, index): Promise<[string, unknown][]> => {
        const record = records[index];
        return record ? [[channel, await unpackValue(this.#saver.serde, record)]] : [];
      }),
    );
    return Object.fromEntries(entries.flat());
  }

  /** Pending writes, ordered by task and index. */
  async #writes(keys: NamespaceKeys, id: string, needed?: NeededChannels): Promise<CheckpointPendingWrite[]> {
    const fields = Object.entries(await this.#connection.client.hGetAll(keys.writes(id)));
    const all = fields.map(([field, record]) => {
      const [taskId, index] = JSON.parse(field) as [string, number];
      const { head, body } = unpack<[channel: string, type: string]>(record);
      return { taskId, index, channel: head[0], type: head[1], body };
    });
    const writes = all.filter(({ taskId, channel }) => isWriteNeeded(taskId, channel, needed));
    writes.sort((a, b) => compareTexts(a.taskId, b.taskId) || a.index - b.index);
    return Promise.all(
      writes.map(async ({ taskId, channel, type, body }): Promise<CheckpointPendingWrite> => [
        taskId,
        channel,
        await this.#saver.serde.loadsTyped(type, body),
      ]),
    );
  }

  async #sendsOf(keys: NamespaceKeys, parent: string): Promise<unknown[]> {
    const writes = await this.#writes(keys, parent);
    return writes.filter(([, channel]) => channel === TASKS).map(([, , value]) => value);
  }
}
