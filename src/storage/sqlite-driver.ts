import type { Database, Options } from "better-sqlite3";
import type { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { StorageUnavailableError } from "../errors.js";
import { BUSY_TIMEOUT } from "./sqlite-errors.js";

export interface SqliteDriver {
  open: (location: string, options?: Options) => Database;
  SqliteSaver: new (db: Database) => SqliteSaver;
}

/**
 * The packages of this backend, loaded when it is first opened.
 * @throws StorageUnavailableError when one is missing or was not built for this Node.js (`storage_unavailable`)
 */
export async function loadSqliteDriver(): Promise<SqliteDriver> {
  try {
    const { default: Driver } = await import("better-sqlite3");
    const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
    // The native part loads with the first database, not with the import.
    new Driver(":memory:").close();
    return {
      open: (location, options) => new Driver(location, { timeout: BUSY_TIMEOUT, ...options }),
      SqliteSaver,
    };
  } catch (cause) {
    throw new StorageUnavailableError(
      "checkpointer_scheme sqlite needs better-sqlite3, which does not load",
      {
        hint: "run: npm install better-sqlite3 @langchain/langgraph-checkpoint-sqlite",
        cause,
      },
    );
  }
}
