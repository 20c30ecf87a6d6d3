import type { ItemRow, ItemTable, StoredItem } from "../contract/storage.js";
import { tableIn } from "./options.js";
import type { PostgresPool } from "./pool.js";
import { toJsonColumn } from "./rows.js";

const COLUMNS = "namespace, key, value, created_at, updated_at, ttl_minutes";

/** Long-term memory in a PostgreSQL schema. */
export function createPostgresItems({ query }: PostgresPool, schema: string): ItemTable {
  const items = tableIn(schema, "gs_items");
  const isLive = (at: string) => `(expires_at IS NULL OR expires_at > ${at})`;
  const get = `SELECT ${COLUMNS} FROM ${items} WHERE namespace = $1 AND key = $2 AND ${isLive("$3")}`;
  // An expired item counts as deleted: overwriting it creates a new item.
  const put = `INSERT INTO ${items} AS kept (${COLUMNS}, expires_at) VALUES ($1, $2, $3, $4, $4, $5, $6)
    ON CONFLICT (namespace, key) DO UPDATE SET
      created_at = CASE WHEN kept.expires_at <= excluded.updated_at THEN excluded.created_at ELSE kept.created_at END,
      value = excluded.value, updated_at = excluded.updated_at,
      ttl_minutes = excluded.ttl_minutes, expires_at = excluded.expires_at`;
  // "/" is the character after ".", so this range contains all names that start with the namespace and a full stop.
  const page = `SELECT ${COLUMNS}, expires_at FROM ${items}
    WHERE ($5 = '' OR namespace = $5 OR (namespace > $5 || '.' AND namespace < $5 || '/'))
      AND ($1::text IS NULL OR (namespace, key) > ($1, $2)) AND ${isLive("$3")} ORDER BY namespace, key LIMIT $4`;
  const restore = `INSERT INTO ${items} (${COLUMNS}, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, created_at = excluded.created_at,
      updated_at = excluded.updated_at, ttl_minutes = excluded.ttl_minutes, expires_at = excluded.expires_at`;
  const namespaces = `SELECT DISTINCT namespace FROM ${items} WHERE ${isLive("$1")} ORDER BY namespace`;
  return {
    get: async (namespace, key, at) => (await query<ItemRow>(get, [namespace, key, at]))[0],
    async put({ namespace, key, value, updated_at, ttl_minutes, expires_at }) {
      await query(put, [namespace, key, toJsonColumn(value), updated_at, ttl_minutes, expires_at]);
    },
    async delete(namespace, key) {
      await query(`DELETE FROM ${items} WHERE namespace = $1 AND key = $2`, [namespace, key]);
    },
    page: ({ under = "", after, limit, at }) =>
      query<StoredItem>(page, [after?.namespace ?? null, after?.key ?? null, at, limit, under]),
    async restore({ namespace, key, value, created_at, updated_at, ttl_minutes, expires_at }) {
      await query(restore, [
        namespace,
        key,
        toJsonColumn(value),
        created_at,
        updated_at,
        ttl_minutes,
        expires_at,
      ]);
    },
    async namespaces(at) {
      return (await query<{ namespace: string }>(namespaces, [at])).map(({ namespace }) => namespace);
    },
    async touch(namespace, key, expiresAt) {
      const sql = `UPDATE ${items} SET expires_at = $3 WHERE namespace = $1 AND key = $2`;
      await query(sql, [namespace, key, expiresAt]);
    },
    async expire(at) {
      await query(`DELETE FROM ${items} WHERE expires_at <= $1`, [at]);
    },
  };
}
