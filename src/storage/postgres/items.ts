import type { ItemRow, ItemTable, StoredItem } from "../contract/items.js";
import { belowSql, liveSql, PostgresVectors } from "./item-vectors.js";
import { type PostgresOptions, tableIn } from "./options.js";
import type { PostgresPool } from "./pool.js";
import { toJsonColumn } from "./rows.js";

const COLUMNS = "namespace, key, value, created_at, updated_at, ttl_minutes";

/** Long-term memory in a PostgreSQL schema. */
export function createPostgresItems(
  pool: PostgresPool,
  { schema, readOnly }: Pick<PostgresOptions, "schema" | "readOnly">,
): ItemTable {
  const { query } = pool;
  /** Set if the database has pgvector. */
  let vectorTable: PostgresVectors | undefined;
  const items = tableIn(schema, "gs_items");
  const get = `SELECT ${COLUMNS} FROM ${items} WHERE namespace = $1 AND key = $2 AND ${liveSql("$3")}`;
  // An expired item counts as deleted: overwriting it creates a new item.
  const put = `INSERT INTO ${items} AS kept (${COLUMNS}, expires_at, vectors) VALUES ($1, $2, $3, $4, $4, $5, $6, $7)
    ON CONFLICT (namespace, key) DO UPDATE SET
      created_at = CASE WHEN kept.expires_at <= excluded.updated_at THEN excluded.created_at ELSE kept.created_at END,
      value = excluded.value, updated_at = excluded.updated_at,
      ttl_minutes = excluded.ttl_minutes, expires_at = excluded.expires_at, vectors = excluded.vectors`;
  const page = (columns: string) => `SELECT ${columns}, expires_at FROM ${items}
    WHERE ${belowSql("$5")} AND ($1::text IS NULL OR (namespace, key) > ($1, $2)) AND ${liveSql("$3")} ORDER BY namespace, key LIMIT $4`;
  const [itemPage, vectorPage] = [page(COLUMNS), page(`${COLUMNS}, vectors`)];
  const restore = `INSERT INTO ${items} (${COLUMNS}, expires_at, vectors) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, created_at = excluded.created_at,
      updated_at = excluded.updated_at, ttl_minutes = excluded.ttl_minutes, expires_at = excluded.expires_at,
      vectors = excluded.vectors`;
  const namespaces = `SELECT DISTINCT namespace FROM ${items} WHERE ${liveSql("$1")} ORDER BY namespace`;
  return {
    keepsVectors: true,
    get: async (namespace, key, at) => (await query<ItemRow>(get, [namespace, key, at]))[0],
    async put({ namespace, key, value, updated_at, ttl_minutes, expires_at, vectors = null }) {
      const values = [namespace, key, toJsonColumn(value), updated_at, ttl_minutes, expires_at, vectors];
      if (!(vectors && (await vectorTable?.put(put, values, vectors)))) await query(put, values);
    },
    async delete(namespace, key) {
      await query(`DELETE FROM ${items} WHERE namespace = $1 AND key = $2`, [namespace, key]);
    },
    async page({ under = "", after, limit, at, vectors }) {
      const values = [after?.namespace ?? null, after?.key ?? null, at, limit, under];
      if (!vectors) return query<StoredItem>(itemPage, values);
      const rows = await query<StoredItem & { vectors: Uint8Array | null }>(vectorPage, values);
      return rows.map(({ vectors: kept, ...item }) => (kept ? { ...item, vectors: kept } : item));
    },
    async restore(item) {
      await query(restore, restoredColumns(item));
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
    async openVectorSearch(format) {
      vectorTable ??= await PostgresVectors.open(pool, schema, readOnly);
      return vectorTable.search(format);
    },
  };
}

const restoredColumns = ({ namespace, key, value, vectors, ...times }: StoredItem): unknown[] => {
  const { created_at, updated_at, ttl_minutes, expires_at } = times;
  return [
    namespace,
    key,
    toJsonColumn(value),
    created_at,
    updated_at,
    ttl_minutes,
    expires_at,
    vectors ?? null,
  ];
};
