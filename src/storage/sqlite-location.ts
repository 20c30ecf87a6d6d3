import { fileURLToPath } from "node:url";
import path from "node:path";
import { ConfigError } from "../errors.js";

/** A database that lives as long as its connection. */
export const IN_MEMORY = ":memory:";

/** Whether `uri` names a SQLite database: a path, `file:`, `sqlite:`, or `:memory:`; no other `scheme://`. */
export function isSqliteUri(uri: string): boolean {
  return /^(file|sqlite):/i.test(uri) || !/^[a-z][a-z0-9+.-]+:\/\//i.test(uri);
}

/**
 * The absolute path of the database's file, or `:memory:`. Relative paths are resolved against `cwd`; what follows a
 * `?` in a URI is left out.
 */
export function sqliteLocation(uri: string, cwd: string): string {
  const named = /^(file|sqlite):/i.test(uri) ? pathOfUri(uri) : uri;
  return named === "" || named === IN_MEMORY ? IN_MEMORY : path.resolve(cwd, named);
}

/** `file:./x.db`, `file:///abs/x.db`, and the forms that SQLAlchemy made common: `sqlite:///x.db`, `sqlite:////abs/x.db`. */
function pathOfUri(uri: string): string {
  const [address = ""] = uri.split("?");
  try {
    if (/^file:\/\//i.test(address)) return fileURLToPath(address);
    return decodeURIComponent(address.replace(/^sqlite:\/\/\/?/i, "").replace(/^(file|sqlite):/i, ""));
  } catch (cause) {
    throw new ConfigError(`checkpointer_uri ${JSON.stringify(uri)} is not a valid URI of a file`, {
      hint: "write a path such as ./graph-serve.db, or file:///absolute/path.db",
      cause,
    });
  }
}
