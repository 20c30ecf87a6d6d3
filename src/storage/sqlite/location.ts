/** Where a SQLite database is: a path, a URI or in memory. Loads no driver. */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { ConfigError } from "../../support/errors.js";
import type { StorageOptions } from "../contract/storage.js";

export type SqliteOptions = StorageOptions & { cwd?: string };

export const IN_MEMORY = ":memory:";

/** @throws ConfigError (`config_invalid`) */
export function sqlitePath({ checkpointer_uri: uri, cwd = process.cwd() }: SqliteOptions): string {
  if (uri && isSqliteUri(uri)) return sqliteLocation(uri, cwd);
  throw new ConfigError("checkpointer_scheme sqlite needs a checkpointer_uri that names its file", {
    hint: `set checkpointer_uri to a path such as "./graph-serve.db", or to "${IN_MEMORY}"`,
  });
}

/** Whether `uri` names a SQLite database: a path, `file:`, `sqlite:` or `:memory:`, but not another `scheme://`. */
export function isSqliteUri(uri: string): boolean {
  return /^(file|sqlite):/i.test(uri) || !/^[a-z][a-z0-9+.-]+:\/\//i.test(uri);
}

/**
 * The absolute path of the database file, or `:memory:`. Relative paths are resolved against `cwd`. The query string of a
 * URI is ignored.
 */
function sqliteLocation(uri: string, cwd: string): string {
  const named = /^(file|sqlite):/i.test(uri) ? pathOfUri(uri) : uri;
  return named === "" || named === IN_MEMORY ? IN_MEMORY : path.resolve(cwd, named);
}

/** Accepts `file:./x.db`, `file:///abs/x.db`, and SQLAlchemy's `sqlite:///x.db` and `sqlite:////abs/x.db`. */
function pathOfUri(uri: string): string {
  const [address = ""] = uri.split("?");
  try {
    if (/^file:\/\//i.test(address)) return fileURLToPath(address);
    return decodeURIComponent(address.replace(/^sqlite:\/\/\/?/i, "").replace(/^(file|sqlite):/i, ""));
  } catch (cause) {
    throw new ConfigError(`checkpointer_uri ${JSON.stringify(uri)} is not a valid file URI`, {
      hint: "write a path such as ./graph-serve.db, or file:///absolute/path.db",
      cause,
    });
  }
}
