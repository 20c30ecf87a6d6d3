/** The driver that SQLite storages use in this process: better-sqlite3, or the one of Node.js if that does not load. */
import BetterSqlite from "better-sqlite3";
import { hasNodeDriver, NodeDatabase } from "../../src/storage/sqlite/node-driver.js";

function loads(): boolean {
  try {
    new BetterSqlite(":memory:").close();
    return true;
  } catch {
    return false;
  }
}

const usesNode = !loads() && hasNodeDriver();

export const Database = (usesNode ? NodeDatabase : BetterSqlite) as typeof BetterSqlite;
export type Database = BetterSqlite.Database;
export const { SqliteError } = BetterSqlite;
