import type { ChannelVersions, SerializerProtocol } from "@langchain/langgraph-checkpoint";
import type { CheckpointKey } from "../saver/checkpointer.js";
import { beginTransaction, type RedisClient, type RedisConnection, type Transaction } from "./client.js";

/** Names of keys. All of a thread's have the thread in braces, so that a cluster would keep them together. */

interface ThreadKeys {
  /** Set of the namespaces that have checkpoints. */
  namespaces: string;
  /** Stands while the thread's time to live need not be renewed. */
  renewed: string;
}

export interface NamespaceKeys {
  /** Sorted set of checkpoint ids, all of one score: in the order of their texts, which is that of time. */
  ids: string;
  /** Hash of channel values, by channel and the checkpoint that wrote it. */
  values: string;
  /** Hash of a checkpoint. */
  checkpoint(id: string): string;
  /** What stands before and after the encoded id in the name of a checkpoint's key. */
  aroundId: readonly [string, string];
  /** Hash of the pending writes of a checkpoint, by task and index. */
  writes(id: string): string;
}

const SUFFIX = ":namespaces";

export class RedisKeys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  thread(threadId: string): ThreadKeys {
    const thread = this.#thread(threadId);
    return { namespaces: thread + SUFFIX, renewed: `${thread}:renewed` };
  }

  namespace(threadId: string, namespace: string): NamespaceKeys {
    const thread = this.#thread(threadId);
    // The namespace comes last: it may hold any sign.
    const aroundId = [`${thread}:checkpoint:`, `:${namespace}`] as const;
    return {
      aroundId,
      ids: `${thread}:ids:${namespace}`,
      values: `${thread}:values:${namespace}`,
      checkpoint: (id) => aroundId.join(encoded(id)),
      writes: (id) => `${thread}:writes:${encoded(id)}:${namespace}`,
    };
  }

  /** Matches the `namespaces` key of every thread. */
  get everyThread(): string {
    return `${this.#prefix.replace(/[\\*?[\]]/g, "\\$&")}{*}${SUFFIX}`;
  }

  /** The thread of a `namespaces` key. */
  threadOf(key: string): string {
    return decodeURIComponent(key.slice(this.#prefix.length + 1, -SUFFIX.length - 1));
  }

  #thread(threadId: string): string {
    return `${this.#prefix}{${encoded(threadId)}}`;
  }
}

/** No colons or braces; a text that is no valid Unicode is no error here. */
const encoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

// Time to live of threads: their checkpoints go `ttl` after the last write, all together. Each write renews the keys it
// touches; the others of the thread, which may be many, are renewed at the first write in each tenth of the time.

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
  async execute(
    transaction: Transaction,
    threadId: string,
    keys: NamespaceKeys,
    id: string,
  ): Promise<unknown[]> {
    if (this.#ttl === undefined) return transaction.exec();
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
    return replies;
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

// Stores a checkpoint, if its writer knows the newest one.

/**
 * Ids without a checkpoint are of writes whose checkpoint never came, so they do not count. An id that has characters
 * to be encoded is not time-based, and is not found here.
 */
const PUT_IF_NEWEST = `
local known, id, head, tail = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if known ~= "" then
  for _, newer in ipairs(redis.call("ZRANGE", KEYS[2], "+", known, "BYLEX", "REV")) do
    if newer ~= id and redis.call("EXISTS", head .. newer .. tail) == 1 then return newer end
  end
end
redis.call("SADD", KEYS[1], ARGV[5])
redis.call("ZADD", KEYS[2], 0, id)
local values = 7 + 2 * tonumber(ARGV[6])
for at = 7, #ARGV, 2 do
  redis.call("HSET", at < values and KEYS[3] or KEYS[4], ARGV[at], ARGV[at + 1])
end
return false
`;

interface NewCheckpoint {
  namespace: string;
  /** See `ThreadKeys`. */
  namespaces: string;
  keys: NamespaceKeys;
  id: string;
  /** See `knownHead`. */
  known: string | undefined;
  fields: readonly (readonly [string, string | Buffer])[];
  values: readonly (readonly [string, Buffer])[];
}

/** The first reply is the id of a newer checkpoint that the writer does not know, and null if this one was stored. */
export function putIfNewest(transaction: Transaction, checkpoint: NewCheckpoint): Transaction {
  const { namespace, namespaces, keys, id, known, fields, values } = checkpoint;
  const after = known === undefined ? "" : known === "" ? "-" : `(${known}`;
  return transaction.eval(PUT_IF_NEWEST, {
    keys: [namespaces, keys.ids, keys.checkpoint(id), keys.values],
    arguments: [
      after,
      id,
      ...keys.aroundId,
      namespace,
      String(fields.length),
      ...fields.flat(),
      ...values.flat(),
    ],
  });
}

// Deletes a thread's keys, all or some.

const idsOf = async (client: RedisClient, keys: NamespaceKeys): Promise<string[]> =>
  (await client.zRange(keys.ids, 0, -1)).map(String);

/** Delete everything of the thread, in one step. */
export async function unlinkThread(client: RedisClient, keys: RedisKeys, threadId: string): Promise<void> {
  await pruneThread(client, keys, threadId, []);
}

/** Delete the thread's checkpoints but these, in one step; parents that are gone are forgotten. */
export async function pruneThread(
  client: RedisClient,
  keys: RedisKeys,
  threadId: string,
  keep: readonly CheckpointKey[],
): Promise<void> {
  const { namespaces, renewed } = keys.thread(threadId);
  const transaction = beginTransaction(client).unlink([renewed]);
  for (const namespace of (await client.sMembers(namespaces)).map(String)) {
    const own = keys.namespace(threadId, namespace);
    const ids = await idsOf(client, own);
    const wanted = new Set(
      keep.filter((key) => key.checkpoint_ns === namespace).map((key) => key.checkpoint_id),
    );
    const kept = ids.filter((id) => wanted.has(id));
    unlinkCheckpoints(
      transaction,
      own,
      ids.filter((id) => !wanted.has(id)),
    );
    if (kept.length > 0) await pruneNamespace(client, transaction, own, kept);
    else transaction.unlink([own.ids, own.values]).sRem(namespaces, namespace);
  }
  await transaction.exec();
}

function unlinkCheckpoints(transaction: Transaction, keys: NamespaceKeys, ids: readonly string[]): void {
  if (ids.length === 0) return;
  transaction.zRem(keys.ids, [...ids]);
  for (const id of ids) transaction.unlink([keys.checkpoint(id), keys.writes(id)]);
}

/** Values that no checkpoint refers to any more go as well. */
async function pruneNamespace(
  client: RedisClient,
  transaction: Transaction,
  keys: NamespaceKeys,
  kept: readonly string[],
): Promise<void> {
  const [fields, ...checkpoints] = await Promise.all([
    client.hKeys(keys.values),
    ...kept.map((id) => client.hmGet(keys.checkpoint(id), ["refs", "parent"])),
  ]);
  const used = new Set(checkpoints.flatMap(([refs]) => readRefs(refs).map(fieldOf)));
  const unused = fields.map(String).filter((field) => !used.has(field));
  if (unused.length > 0) transaction.hDel(keys.values, unused);
  for (const [index, id] of kept.entries()) {
    const parent = checkpoints[index]?.[1]?.toString() ?? "";
    if (parent !== "" && !kept.includes(parent)) transaction.hSet(keys.checkpoint(id), "parent", "");
  }
}

// How checkpoints, their channel values and their pending writes are kept: a line that says what follows, then bytes.

const NEW_LINE = 0x0a;

/** `head` as a line of JSON, then `body`. */
export function pack(head: unknown, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body]);
}

export function unpack<Head>(record: Buffer): { head: Head; body: Uint8Array } {
  const end = record.indexOf(NEW_LINE);
  return {
    head: JSON.parse(record.toString("utf8", 0, end)) as Head,
    body: new Uint8Array(record.subarray(end + 1)),
  };
}

export async function packValue(serde: SerializerProtocol, value: unknown): Promise<Buffer> {
  return pack(...(await serde.dumpsTyped(value)));
}

export async function unpackValue(serde: SerializerProtocol, record: Buffer): Promise<unknown> {
  const { head: type, body } = unpack<string>(record);
  return (await serde.loadsTyped(type, body)) as unknown;
}

/**
 * Where a checkpoint finds the value of a channel: in the checkpoint that wrote it. Versions alone do not tell values
 * apart: two forks of one checkpoint give the same number to different values.
 */
export interface ValueRef {
  channel: string;
  version: ChannelVersions[string];
  /** Checkpoint that wrote it. */
  id: string;
}

export const fieldOf = ({ channel, id }: Pick<ValueRef, "channel" | "id">): string =>
  JSON.stringify([channel, id]);

export const writeRefs = (refs: readonly ValueRef[]): string => JSON.stringify(refs);

export const readRefs = (text: Buffer | string | null | undefined): ValueRef[] =>
  text ? (JSON.parse(text.toString()) as ValueRef[]) : [];
