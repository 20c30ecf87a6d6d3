/** The driver that SQLite storages use in this process: better-sqlite3, or the one of Node.js if that does not load. */
import type BetterSqlite from "better-sqlite3";
import { NodeDatabase } from "../../src/storage/sqlite/node-driver.js";
import { loadSqliteDriver } from "../../src/storage/sqlite/open.js";

const opened = await loadSqliteDriver().then(
  ({ open }) => open(":memory:").close(),
  () => undefined,
);

export const Database = (opened?.constructor ?? NodeDatabase) as typeof BetterSqlite;
export type Database = BetterSqlite.Database;

/** An error as the drivers throw it. */
export class SqliteError extends Error {
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}
