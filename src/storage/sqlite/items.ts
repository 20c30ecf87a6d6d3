import type { Database } from "better-sqlite3";
import type { JsonObject } from "../../models/common.js";
import { guarded } from "../driver-errors.js";
import type { ItemRow, ItemTable, ItemWrite, StoredItem } from "../storage.js";
import { explainSqlite } from "./errors.js";

interface Stored extends Omit<ItemRow, "value"> {
  value: string;
}

const COLUMNS = "namespace, key, value, created_at, updated_at, ttl_minutes";
const LIVES = "(expires_at IS NULL OR expires_at > @at)";

const read = <Row extends Stored>(row: Row): Omit<Row, "value"> & Pick<ItemRow, "value"> => ({
  ...row,
  value: JSON.parse(row.value) as JsonObject,
});

/** Items in a SQLite file. */
export function createSqliteItems(db: Database): ItemTable {
  const get = db.prepare(
    `SELECT ${COLUMNS} FROM gs_items WHERE namespace = @namespace AND key = @key AND ${LIVES}`,
  );
  // What has expired is gone: an item put in its place is a new one.
  const put = db.prepare(
    `INSERT INTO gs_items (${COLUMNS}, expires_at)
     VALUES (@namespace, @key, @value, @updated_at, @updated_at, @ttl_minutes, @expires_at)
     ON CONFLICT (namespace, key) DO UPDATE SET
       created_at = CASE WHEN expires_at <= excluded.updated_at THEN excluded.created_at ELSE created_at END,
       value = excluded.value, updated_at = excluded.updated_at,
       ttl_minutes = excluded.ttl_minutes, expires_at = excluded.expires_at`,
  );
  const remove = db.prepare("DELETE FROM gs_items WHERE namespace = ? AND key = ?");
  // "/" follows "." in the order of characters, so this range is what begins with the namespace and a full stop.
  const under = db.prepare(
    `SELECT ${COLUMNS} FROM gs_items
     WHERE (@namespace = '' OR namespace = @namespace OR (namespace > @namespace || '.' AND namespace < @namespace || '/'))
       AND ${LIVES} ORDER BY namespace, key`,
  );
  const page = db.prepare(
    `SELECT ${COLUMNS}, expires_at FROM gs_items
     WHERE (@namespace IS NULL OR (namespace, key) > (@namespace, @key)) AND ${LIVES}
     ORDER BY namespace, key LIMIT @limit`,
  );
  const restore = db.prepare(
    `INSERT OR REPLACE INTO gs_items (${COLUMNS}, expires_at)
     VALUES (@namespace, @key, @value, @created_at, @updated_at, @ttl_minutes, @expires_at)`,
  );
  const namespaces = db.prepare(`SELECT DISTINCT namespace FROM gs_items WHERE ${LIVES} ORDER BY namespace`);
  const touch = db.prepare("UPDATE gs_items SET expires_at = ? WHERE namespace = ? AND key = ?");
  const expire = db.prepare("DELETE FROM gs_items WHERE expires_at <= ?");
  const call = <T>(work: () => T): Promise<T> => guarded(explainSqlite, work);
  return {
    get: (namespace, key, at) =>
      call(() => {
        const row = get.get({ namespace, key, at }) as Stored | undefined;
        return row && read(row);
      }),
    put: (item: ItemWrite) => call(() => void put.run({ ...item, value: JSON.stringify(item.value) })),
    delete: (namespace, key) => call(() => void remove.run(namespace, key)),
    under: (namespace, at) => call(() => (under.all({ namespace, at }) as Stored[]).map(read)),
    page: ({ after = { namespace: null, key: null }, limit, at }) =>
      call(() => {
        const { namespace, key } = after;
        return (page.all({ namespace, key, limit, at }) as (Stored & StoredItem)[]).map(read);
      }),
    restore: (item) => call(() => void restore.run({ ...item, value: JSON.stringify(item.value) })),
    namespaces: (at) =>
      call(() => (namespaces.all({ at }) as { namespace: string }[]).map((row) => row.namespace)),
    touch: (namespace, key, expiresAt) => call(() => void touch.run(expiresAt, namespace, key)),
    expire: (at) => call(() => void expire.run(at)),
  };
}
