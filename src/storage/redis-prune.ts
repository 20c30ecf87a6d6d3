/** Deletes a thread's keys, all or some. */
import type { CheckpointKey } from "./checkpointer.js";
import { beginTransaction, type RedisClient, type Transaction } from "./redis-client.js";
import type { NamespaceKeys, RedisKeys } from "./redis-keys.js";
import { fieldOf, readRefs } from "./redis-records.js";

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
