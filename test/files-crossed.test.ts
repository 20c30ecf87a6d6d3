/** Following a run and inspecting a thread execute few source files. The script lists them and sets the limits. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");

type Crossed = Record<string, { most: number; files: string[] }>;

/** In a separate process: V8 coverage must be enabled from its start, before code is compiled. */
function crossed(): Crossed {
  const args = ["--import", "tsx", "scripts/files-crossed.mjs", "--json"];
  const { NODE_OPTIONS: _, ...env } = process.env;
  return JSON.parse(execFileSync(process.execPath, args, { cwd: ROOT, env, encoding: "utf8" })) as Crossed;
}

describe("source files executed by an operation", () => {
  const walks = crossed();

  it.each(["stream", "inspect"])("stay within the limit: %s", (walk) => {
    const { most, files } = walks[walk] ?? { most: 0, files: ["not measured"] };
    expect(files.slice(0, most), `${files.length} files, limit ${most}`).toEqual(files);
  });
});
