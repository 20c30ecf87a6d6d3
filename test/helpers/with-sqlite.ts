/** `describe` and `it` for tests that need SQLite. They are skipped with the reason if no driver loads. */
import { describe, it } from "vitest";
import { loadSqliteDriver } from "../../src/storage/sqlite/open.js";
import { GraphServeError } from "../../src/support/errors.js";

/** Why no driver of SQLite loads; undefined if one does. */
const lacking = await whyLacking();

/**
 * Without a driver the tests are skipped with the reason in their title and on stderr, and their hooks do not run. If
 * GRAPH_SERVE_REQUIRE_BACKENDS lists sqlite, the file fails instead.
 */
export const describeSqlite = unlessLacking(describe);
export const itSqlite = unlessLacking(it);

function unlessLacking<T extends typeof describe | typeof it>(declare: T): T {
  if (lacking === undefined) return declare;
  return new Proxy(declare.skip as object as T, {
    apply: (skip, self, [title, ...rest]: unknown[]) =>
      Reflect.apply(skip, self, [`${String(title)}: skipped, no SQLite (${lacking})`, ...rest]) as unknown,
  });
}

async function whyLacking(): Promise<string | undefined> {
  try {
    await loadSqliteDriver();
    return undefined;
  } catch (error) {
    if (!(error instanceof GraphServeError)) throw error;
    const reason = `${error.message}; ${error.hint ?? ""}`;
    if (process.env.GRAPH_SERVE_REQUIRE_BACKENDS?.split(",").includes("sqlite"))
      throw new Error(`GRAPH_SERVE_REQUIRE_BACKENDS requires sqlite: ${reason}`, { cause: error });
    process.stderr.write(`SQLite tests are skipped: ${reason}.\n`);
    return reason;
  }
}
