import type { Database } from "better-sqlite3";
import type { JsonObject } from "../../models/common.js";
import type { ItemPage, ItemRow, ItemTable, ItemWrite, StoredItem } from "../contract/items.js";
import type { SqliteFile } from "./file.js";
import { boundsOf, boundsSql, LIVE_SQL, loadSqliteVec, nearestItems } from "./item-vectors.js";

interface Stored extends Omit<ItemRow, "value"> {
  value: string;
  vectors?: Uint8Array | null;
}

const COLUMNS = "namespace, key, value, created_at, updated_at, ttl_minutes";

const GET = `SELECT ${COLUMNS} FROM gs_items WHERE namespace = @namespace AND key = @key AND ${LIVE_SQL}`;
// An expired item counts as deleted: writing its key creates a new item.
const PUT = `INSERT INTO gs_items (${COLUMNS}, expires_at, vectors)
  VALUES (@namespace, @key, @value, @updated_at, @updated_at, @ttl_minutes, @expires_at, @vectors)
  ON CONFLICT (namespace, key) DO UPDATE SET
    created_at = CASE WHEN expires_at <= excluded.updated_at THEN excluded.created_at ELSE created_at END,
    value = excluded.value, updated_at = excluded.updated_at,
    ttl_minutes = excluded.ttl_minutes, expires_at = excluded.expires_at, vectors = excluded.vectors`;
const DELETE = "DELETE FROM gs_items WHERE namespace = ? AND key = ?";
const pageSql = (page: ItemPage): string =>
  `SELECT ${COLUMNS}, expires_at${page.vectors ? ", vectors" : ""} FROM gs_items
    WHERE ${boundsSql(page)} ORDER BY namespace, key LIMIT @limit`;
const RESTORE = `INSERT OR REPLACE INTO gs_items (${COLUMNS}, expires_at, vectors)
  VALUES (@namespace, @key, @value, @created_at, @updated_at, @ttl_minutes, @expires_at, @vectors)`;
const NAMESPACES = `SELECT DISTINCT namespace FROM gs_items WHERE ${LIVE_SQL} ORDER BY namespace`;
const TOUCH = "UPDATE gs_items SET expires_at = ? WHERE namespace = ? AND key = ?";
const EXPIRE = "DELETE FROM gs_items WHERE expires_at <= ?";

const store = <Item extends Pick<ItemWrite, "value" | "vectors">>(item: Item) => ({
  ...item,
  value: JSON.stringify(item.value),
  vectors: item.vectors ?? null,
});

const read = <Row extends Stored>({ vectors, ...row }: Row) => ({
  ...row,
  value: JSON.parse(row.value) as JsonObject,
  ...(vectors && { vectors }),
});

/**
 * Items in a SQLite file.
 * @param cwd project folder, which may provide sqlite-vec
 */
export function createSqliteItems(file: SqliteFile, db: Database, cwd: string): ItemTable {
  const all = <Row>(sql: string, params: object): Row[] => file.statement(sql).all(params) as Row[];
  const run = (sql: string, ...params: unknown[]): Promise<void> =>
    file.write(() => void file.statement(sql).run(...params));
  return {
    keepsVectors: true,
    get: (namespace, key, at) => file.read(() => all<Stored>(GET, { namespace, key, at }).map(read)[0]),
    put: (item) => run(PUT, store(item)),
    delete: (namespace, key) => run(DELETE, namespace, key),
    page: (page) =>
      file.read(() => {
        const values = { limit: page.limit, ...boundsOf(page) };
        return all<Stored & Pick<StoredItem, "expires_at">>(pageSql(page), values).map(read);
      }),
    restore: (item) => run(RESTORE, store(item)),
    namespaces: (at) =>
      file.read(() => all<{ namespace: string }>(NAMESPACES, { at }).map((row) => row.namespace)),
    touch: (namespace, key, expiresAt) => run(TOUCH, expiresAt, namespace, key),
    expire: (at) => run(EXPIRE, at),
    async openVectorSearch(format) {
      const loaded = loadSqliteVec(db, cwd);
      if ("reason" in loaded) return loaded;
      return { name: loaded.name, nearest: (query) => nearestItems(file, format, query) };
    },
  };
}
