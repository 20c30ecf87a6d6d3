/** A stranger can follow a run, and a look at a thread: each crosses few files. The script says which, and how many may be. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");

type Crossed = Record<string, { most: number; files: string[] }>;

/** In a process of its own: V8 counts calls from its start, and code that it compiles for it. */
function crossed(): Crossed {
  const args = ["--import", "tsx", "scripts/files-crossed.mjs", "--json"];
  const { NODE_OPTIONS: _, ...env } = process.env;
  return JSON.parse(execFileSync(process.execPath, args, { cwd: ROOT, env, encoding: "utf8" })) as Crossed;
}

describe("the files that a walk crosses", () => {
  const walks = crossed();

  it.each(["stream", "inspect"])("are few: %s", (walk) => {
    const { most, files } = walks[walk] ?? { most: 0, files: ["none was measured"] };
    expect(files.slice(0, most), `${files.length} files, of ${most} at most`).toEqual(files);
  });
});
