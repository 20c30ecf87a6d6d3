import type { Database, Options } from "better-sqlite3";
import { StorageUnavailableError } from "../errors.js";
import { BUSY_TIMEOUT } from "./sqlite-errors.js";

export interface SqliteDriver {
  open: (location: string, options?: Options) => Database;
}

/**
 * The package of this backend, loaded when it is first opened.
 * @throws StorageUnavailableError when it is missing or was not built for this Node.js (`storage_unavailable`)
 */
export async function loadSqliteDriver(): Promise<SqliteDriver> {
  try {
    const { default: Driver } = await import("better-sqlite3");
    // The native part loads with the first database, not with the import.
    new Driver(":memory:").close();
    return { open: (location, options) => new Driver(location, { timeout: BUSY_TIMEOUT, ...options }) };
  } catch (cause) {
    throw new StorageUnavailableError(
      "checkpointer_scheme sqlite needs better-sqlite3, which does not load",
      {
        hint: "run: npm install better-sqlite3",
        cause,
      },
    );
  }
}
