import type { ExplainError } from "../driver/errors.js";

/** How long a call waits for another process's write, in milliseconds (docs/specification.md#storage, 7). */
export const BUSY_TIMEOUT = 10_000;

const MEANINGS: Record<string, { message: string; hint?: string }> = {
  SQLITE_FULL: {
    message: "the disk of the database is full",
    hint: "free some space; nothing stored is lost",
  },
  SQLITE_READONLY: {
    message: "the database is read-only",
    hint: "make the file and its folder writable for the server's user",
  },
  SQLITE_BUSY: {
    message: `the database is busy: another process has kept it locked for ${BUSY_TIMEOUT / 1000} s`,
    hint: "end the process that holds a transaction open on the file",
  },
  SQLITE_CANTOPEN: {
    message: "the database file cannot be opened",
    hint: "check that checkpointer_uri names a file, not a folder, that the server's user may write",
  },
  SQLITE_IOERR: { message: "the disk failed to read or write the database" },
  SQLITE_CORRUPT: { message: "the database file is damaged", hint: "restore it from a backup" },
  SQLITE_NOTADB: {
    message: "the file is not a SQLite database",
    hint: "set checkpointer_uri to another file; a missing one is created",
  },
};
const LOCKED_CODES: Record<string, string> = { SQLITE_LOCKED: "SQLITE_BUSY", SQLITE_PROTOCOL: "SQLITE_BUSY" };

/** Explains errors of better-sqlite3. Leaves out the driver's own message, which may contain paths and SQL. */
export const explainSqlite: ExplainError = (error) => {
  if (!(error instanceof Error)) return undefined;
  if (error instanceof TypeError && /database connection is not open/.test(error.message)) {
    return { message: "the storage is closed" };
  }
  const { code } = error as { code?: unknown };
  if (typeof code !== "string" || !code.startsWith("SQLITE_")) return undefined;
  // Extended codes append to the primary code: SQLITE_IOERR_WRITE.
  const [primary = ""] = /^SQLITE_[A-Z]+/.exec(code) ?? [];
  return MEANINGS[LOCKED_CODES[primary] ?? primary] ?? { message: "the database refused a call" };
};

/** Whether the error means that another process has locked the database. */
export function isBusy(error: unknown): boolean {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code);
}
