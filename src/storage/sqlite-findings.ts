import type { Database } from "better-sqlite3";
import type { StorageFinding } from "./storage.js";

/** What lets several processes use one file: a write-ahead log, and patience when it is locked. */
export function sqliteFindings(db: Database): StorageFinding[] {
  const mode = String(db.pragma("journal_mode", { simple: true }));
  const timeout = Number(db.pragma("busy_timeout", { simple: true }));
  const isSafe = mode === "wal" || mode === "memory";
  return [
    {
      name: "journal_mode",
      ok: isSafe,
      detail: `journal mode ${mode}`,
      ...(!isSafe && {
        fix: "start a server on it once: it sets WAL, so that readers and a writer do not wait",
      }),
    },
    {
      name: "busy_timeout",
      ok: timeout > 0,
      detail: `busy timeout ${timeout} ms`,
      ...(timeout <= 0 && { fix: "open it with a timeout, or a locked file fails at once" }),
    },
  ];
}
