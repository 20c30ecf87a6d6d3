import type { ChannelVersions, SerializerProtocol } from "@langchain/langgraph-checkpoint";
import type { CheckpointKey } from "../saver/wrap.js";
import { beginTransaction, type RedisClient, type RedisConnection, type Transaction } from "./client.js";

// Key names. All keys of a thread contain its id in braces, so that a cluster stores them in the same slot.

interface ThreadKeys {
  /** Set of namespaces that have checkpoints. */
  namespaces: string;
  /** Exists as long as the thread's time to live does not need to be renewed. */
  renewed: string;
}

export interface NamespaceKeys {
  /** Sorted set of checkpoint ids. All have the same score, so they sort by id, which is by time. */
  ids: string;
  /** Hash of channel values, by channel and the checkpoint that wrote them. */
  values: string;
  /** Hash of a checkpoint. */
  checkpoint(id: string): string;
  /** Parts of a checkpoint's key before and after the encoded id. */
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
    // The namespace comes last, because it may contain any character.
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

/** Percent-encodes colons and braces. The Buffer replaces lone surrogates, at which encodeURIComponent would throw. */
const encoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

// Time to live of threads: all checkpoints of a thread expire together, `ttl` after its last write. Each write renews the
// keys it touches. The thread's other keys, of which there may be many, are renewed by at most one write per tenth of
// the time to live.

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

  /** Execute a transaction that writes to the checkpoint `id`, and renew the thread's time to live. */
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

// Stores a checkpoint if its writer knows the newest one.

/**
 * Ids without a checkpoint belong to writes whose checkpoint was never stored, and are ignored. Ids with characters that
 * need encoding are not time-based, and do not match here.
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

/** The first reply is null if the checkpoint was stored; otherwise the id of a newer one that the writer does not know. */
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

// Deletes all or some of a thread's keys.

const idsOf = async (client: RedisClient, keys: NamespaceKeys): Promise<string[]> =>
  (await client.zRange(keys.ids, 0, -1)).map(String);

/** Atomically delete all keys of the thread. */
export async function unlinkThread(client: RedisClient, keys: RedisKeys, threadId: string): Promise<void> {
  const { namespaces, renewed } = keys.thread(threadId);
  const transaction = beginTransaction(client).unlink([renewed]);
  for (const namespace of (await client.sMembers(namespaces)).map(String)) {
    const own = keys.namespace(threadId, namespace);
    unlinkCheckpoints(transaction, own, await idsOf(client, own));
    transaction.unlink([own.ids, own.values]).sRem(namespaces, namespace);
  }
  await transaction.exec();
}

/** Removes a namespace without checkpoints: another process may have written one since they were read. */
const REMOVE_IF_EMPTY = `
if redis.call("EXISTS", KEYS[2]) == 0 then redis.call("SREM", KEYS[1], ARGV[1]) end
return false
`;

/** See `WrapOptions.keepOnly`. */
export async function pruneThread(
  client: RedisClient,
  keys: RedisKeys,
  threadId: string,
  { keep, newest }: { keep: readonly CheckpointKey[]; newest: readonly CheckpointKey[] },
): Promise<void> {
  const { namespaces, renewed } = keys.thread(threadId);
  const transaction = beginTransaction(client).unlink([renewed]);
  for (const { checkpoint_ns: namespace, checkpoint_id: last } of newest) {
    const own = keys.namespace(threadId, namespace);
    // Before the checkpoints: if one is written in between, its values are not in this list.
    const fields = (await client.hKeys(own.values)).map(String);
    const ids = await idsOf(client, own);
    const wanted = new Set(
      keep.filter((key) => key.checkpoint_ns === namespace).map((key) => key.checkpoint_id),
    );
    const isKept = (id: string) => id > last || wanted.has(id);
    unlinkCheckpoints(
      transaction,
      own,
      ids.filter((id) => !isKept(id)),
    );
    await pruneNamespace(client, transaction, own, { kept: ids.filter(isKept), fields });
    transaction.eval(REMOVE_IF_EMPTY, { keys: [namespaces, own.ids], arguments: [namespace] });
  }
  await transaction.exec();
}

function unlinkCheckpoints(transaction: Transaction, keys: NamespaceKeys, ids: readonly string[]): void {
  if (ids.length === 0) return;
  transaction.zRem(keys.ids, [...ids]);
  for (const id of ids) transaction.unlink([keys.checkpoint(id), keys.writes(id)]);
}

/** Delete values that no remaining checkpoint refers to. */
async function pruneNamespace(
  client: RedisClient,
  transaction: Transaction,
  keys: NamespaceKeys,
  { kept, fields }: { kept: readonly string[]; fields: readonly string[] },
): Promise<void> {
  const checkpoints = await Promise.all(
    kept.map((id) => client.hmGet(keys.checkpoint(id), ["refs", "parent"])),
  );
  const used = new Set(checkpoints.flatMap(([refs]) => readRefs(refs).map(fieldOf)));
  const unused = fields.filter((field) => !used.has(field));
  if (unused.length > 0) transaction.hDel(keys.values, unused);
  for (const [index, id] of kept.entries()) {
    const parent = checkpoints[index]?.[1]?.toString() ?? "";
    if (parent !== "" && !kept.includes(parent)) transaction.hSet(keys.checkpoint(id), "parent", "");
  }
}

// Format of checkpoints, channel values and pending writes: a line of JSON that describes the bytes, then the bytes.

const NEW_LINE = 0x0a;

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
 * Reference to a channel's value, stored under the checkpoint that wrote it. A version alone does not identify a value:
 * two forks of one checkpoint may use the same version for different values.
 */
export interface ValueRef {
  channel: string;
  version: ChannelVersions[string];
  /** Id of the checkpoint that wrote the value. */
  id: string;
}

export const fieldOf = ({ channel, id }: Pick<ValueRef, "channel" | "id">): string =>
  JSON.stringify([channel, id]);

export const writeRefs = (refs: readonly ValueRef[]): string => JSON.stringify(refs);

export const readRefs = (text: Buffer | string | null | undefined): ValueRef[] =>
  text ? (JSON.parse(text.toString()) as ValueRef[]) : [];
