import type { Binary, Db, Filter } from "mongodb";
import type { JsonObject } from "../../models/common.js";
import type { ItemPage, ItemRow, ItemTable, ItemWrite, StoredItem } from "../contract/items.js";
import { isDuplicate } from "./errors.js";
import { toText } from "./rows.js";

interface Stored extends Omit<ItemRow, "value"> {
  /** Namespace and key as one string, so that items are unique. */
  _id: string;
  value: string;
  expires_at: string | null;
  /** Left out by reads that do not request it. */
  vectors?: Binary | null;
}

const idOf = (namespace: string, key: string): string => JSON.stringify([namespace, key]);
const isLive = (at: string) => ({ $or: [{ expires_at: null }, { expires_at: { $gt: at } }] });

const readStored = ({ _id, vectors, ...row }: Stored): StoredItem => ({
  ...row,
  value: JSON.parse(row.value) as JsonObject,
  ...(vectors && { vectors: vectors.value() }),
});

const NO_VECTORS = { projection: { vectors: 0 } };

function read(stored: Stored): ItemRow {
  const { expires_at: _, ...row } = readStored(stored);
  return row;
}

function isAfter(last: ItemPage["after"]): Filter<Stored> {
  if (last === undefined) return {};
  const { namespace, key } = last;
  return { $or: [{ namespace: { $gt: namespace } }, { namespace, key: { $gt: key } }] };
}

/** "/" is the character after ".", so the range contains all names that start with the namespace and a full stop. */
const isBelow = (namespace: string): Filter<Stored> =>
  namespace === ""
    ? {}
    : { $or: [{ namespace }, { namespace: { $gt: `${namespace}.`, $lt: `${namespace}/` } }] };

/** The driver stores the bytes as binary data. */
const binaryOf = (vectors: Uint8Array | null | undefined) => (vectors ?? null) as Binary | null;

/** Long-term memory in a MongoDB database. */
export function createMongodbItems(db: Db): ItemTable {
  const items = db.collection<Stored>("gs_items");

  async function put({ namespace, key, value, updated_at, ttl_minutes, expires_at, vectors }: ItemWrite) {
    const _id = idOf(namespace, key);
    const fields = {
      ...{ namespace, key, value: toText(value), updated_at, ttl_minutes, expires_at },
      vectors: binaryOf(vectors),
    };
    const kept = await items.updateOne({ _id, ...isLive(updated_at) }, { $set: fields });
    if (kept.matchedCount > 0) return;
    // The item is new, or it overwrites an expired item, which counts as deleted.
    await items.replaceOne({ _id }, { ...fields, created_at: updated_at }, { upsert: true });
  }

  return {
    keepsVectors: true,
    async get(namespace, key, at) {
      const stored = await items.findOne({ _id: idOf(namespace, key), ...isLive(at) }, NO_VECTORS);
      return stored ? read(stored) : undefined;
    },
    async put(item) {
      try {
        await put(item);
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        // Another process inserted the same item: retry, which finds and updates it.
        await put(item);
      }
    },
    async delete(namespace, key) {
      await items.deleteOne({ _id: idOf(namespace, key) });
    },
    async page({ under = "", after, limit, at, vectors }) {
      const wanted = { $and: [isBelow(under), isAfter(after), isLive(at)] };
      const found = items
        .find(wanted, vectors ? {} : NO_VECTORS)
        .sort({ namespace: 1, key: 1 })
        .limit(limit);
      return (await found.toArray()).map(readStored);
    },
    async restore({ namespace, key, value, vectors, ...times }) {
      const stored = { namespace, key, value: toText(value), ...times, vectors: binaryOf(vectors) };
      await items.replaceOne({ _id: idOf(namespace, key) }, stored, { upsert: true });
    },
    async namespaces(at) {
      const found = items.find(isLive(at)).project<Pick<Stored, "namespace">>({ namespace: 1 });
      return [...new Set((await found.toArray()).map(({ namespace }) => namespace))].sort();
    },
    async touch(namespace, key, expiresAt) {
      await items.updateOne({ _id: idOf(namespace, key) }, { $set: { expires_at: expiresAt } });
    },
    async expire(at) {
      await items.deleteMany({ expires_at: { $ne: null, $lte: at } });
    },
  };
}
