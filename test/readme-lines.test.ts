/** The two lines at the top of README.md, which `.ci/run` executes. */
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { markedBlocks, ROOT } from "./helpers/markdown.js";

const FIRST_SCREEN = 24;
const lines = markedBlocks("README.md").filter(({ kind }) => kind === "line");
const text = (file: string) => readFile(join(ROOT, file), "utf8");

describe("the first screen of README.md", () => {
  it("has one line that runs the demo and one that runs the tests", async () => {
    expect(lines.map(({ name, text: line }) => [name, line])).toEqual([
      ["demo", "npm ci && npx graph-serve demo\n"],
      ["test", "npm ci && npm test\n"],
    ]);
    const screen = (await text("README.md")).split("\n").slice(0, FIRST_SCREEN).join("\n");
    for (const { text: line } of lines) expect(screen).toContain(line);
    expect(screen.match(/```sh/g)).toHaveLength(lines.length);
    expect(screen).toContain("not published on npm yet");
  });

  it.each(lines.map(({ name, text: line }) => [name, line]))(
    ".ci/run executes the line %s unchanged",
    async (name, line) => {
      const printed = execFileSync("node", ["scripts/readme-line.mjs", name], {
        cwd: ROOT,
        encoding: "utf8",
      });
      expect(printed).toBe(line);
      const script = await text(".ci/run");
      expect(script).toContain(`${name}="$(node scripts/readme-line.mjs ${name})"`);
      expect(script).toMatch(new RegExp(`^step .*(bash -euc|first-minute.mjs) "\\$${name} `, "m"));
    },
  );
});
