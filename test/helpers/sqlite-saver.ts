/**
 * LangGraph's SqliteSaver, fetched from the registry. It is not a dependency: it requires a built better-sqlite3, without
 * which `npm ci` must work.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import type BetterSqlite from "better-sqlite3";
import { afterAll, describe, it } from "vitest";

const NAME = "@langchain/langgraph-checkpoint-sqlite";
export const SAVER_VERSION = "1.0.4";
const INTEGRITY =
  "sha512-tcfDU6mwy9Su7BQKjGLTrWPL2CZzaGwb5XzEttqRRhcI3g4P6a/S7qFoJf6jcP/vP71bere7JRDZPTzahhHqog==";
const ROOT = join(import.meta.dirname, "../..");
const LIMIT_MS = 60_000;

export type OfficialSaver = BaseCheckpointSaver & { db: BetterSqlite.Database };
export interface OfficialSaverClass {
  fromConnString(file: string): OfficialSaver;
}

/** Declares tests with the saver. Skips them with the reason if it cannot be fetched, or if better-sqlite3 does not load. */
export async function withSqliteSaver(
  title: string,
  declare: (saver: OfficialSaverClass) => void,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "graph-serve-sqlite-saver-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  try {
    const { SqliteSaver } = await load(folder);
    SqliteSaver.fromConnString(":memory:").db.close();
    describe(title, () => declare(SqliteSaver));
  } catch (error) {
    const [reason = ""] = String(error).split("\n");
    process.stderr.write(`${title}: skipped, no ${NAME} ${SAVER_VERSION}: ${reason}\n`);
    it.skip(`${title}: skipped, no ${NAME} ${SAVER_VERSION}`, () => undefined);
  }
}

/** Its dependencies come from this checkout. */
async function load(folder: string): Promise<{ SqliteSaver: OfficialSaverClass }> {
  const flags = ["--json", "--prefer-offline", "--pack-destination", folder];
  const printed = execFileSync("npm", ["pack", `${NAME}@${SAVER_VERSION}`, ...flags], {
    ...{ cwd: folder, encoding: "utf8", timeout: LIMIT_MS, stdio: ["ignore", "pipe", "pipe"] },
  });
  const [{ filename, integrity }] = JSON.parse(printed) as [{ filename: string; integrity: string }];
  if (integrity !== INTEGRITY) throw new Error(`its tarball has the integrity ${integrity}`);
  const own = join(folder, "node_modules", NAME);
  mkdirSync(own, { recursive: true });
  execFileSync("tar", ["-xzf", join(folder, filename), "-C", own, "--strip-components=1"]);
  symlinkSync(join(ROOT, "node_modules"), join(own, "node_modules"), "junction");
  return (await import(pathToFileURL(join(own, "dist/index.js")).href)) as {
    SqliteSaver: OfficialSaverClass;
  };
}
