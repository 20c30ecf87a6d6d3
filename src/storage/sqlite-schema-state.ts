import { existsSync } from "node:fs";
import type { Database } from "better-sqlite3";
import type { SchemaState } from "./schema-state.js";
import { locationOf, openError, type SqliteOptions } from "./sqlite.js";
import { loadSqliteDriver } from "./sqlite-driver.js";
import { IN_MEMORY } from "./sqlite-location.js";
import { openUnchanged } from "./sqlite-read-only.js";
import { SCHEMA_VERSION } from "./sqlite-schema.js";

/** What a SQLite file stands at. */
export async function sqliteSchema(options: SqliteOptions): Promise<SchemaState> {
  const location = locationOf(options);
  const driver = await loadSqliteDriver();
  const state = (version: number): SchemaState => ({
    location,
    parts: [{ name: "tables", version, wanted: SCHEMA_VERSION }],
  });
  if (location === IN_MEMORY || !existsSync(location)) return state(0);
  let db: Database | undefined;
  try {
    db = openUnchanged(location, driver);
    return state(versionOf(db));
  } catch (error) {
    throw openError(location, error);
  } finally {
    db?.close();
  }
}

function versionOf(db: Database): number {
  const hasVersion = db
    .prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'gs_schema'")
    .get();
  if (!hasVersion) return 0;
  return (db.prepare("SELECT max(version) FROM gs_schema").pluck().get() as number | null) ?? 0;
}
