/** Streaming a run and inspecting a thread execute few functions. The script lists them and sets the limits. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { itSqlite } from "./helpers/with-sqlite.js";
import { NodeDatabase } from "../src/storage/sqlite/node-driver.js";
import { Database } from "./helpers/sqlite-database.js";

const ROOT = join(import.meta.dirname, "..");

type Crossed = Record<string, { most: number; functions: string[] }>;

/** In a separate process: V8 coverage must be enabled from its start, before code is compiled. */
function crossed(walk: string): Crossed {
  const args = ["--import", "tsx", "scripts/files-crossed.mjs", walk, "--json"];
  const { NODE_OPTIONS: _, ...env } = process.env;
  return JSON.parse(execFileSync(process.execPath, args, { cwd: ROOT, env, encoding: "utf8" })) as Crossed;
}

describe("functions executed by an operation", () => {
  const staysWithin = (walk: string) => {
    const { most, functions } = crossed(walk)[walk] ?? { most: 0, functions: ["not measured"] };
    expect(functions.slice(0, most), `${functions.length} functions, limit ${most}`).toEqual(functions);
  };

  it("stay within the limit: stream", () => staysWithin("stream"));

  // The driver of Node.js adds functions of its own.
  itSqlite.skipIf((Database as unknown) === NodeDatabase)("stay within the limit: inspect", () =>
    staysWithin("inspect"),
  );
});
