/** `graph-serve/testing` from an installed package, in each test runner as a separate process. */
import { execFile } from "node:child_process";
import { rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPackage } from "../helpers/compiled.js";
import { markedBlocks, ROOT } from "../helpers/markdown.js";
import { createProject, echoGraph, type Project } from "../cli/harness.js";

const CASES = `graph: ./graph.ts
cases:
  - name: answers
    input: { messages: [{ role: user, content: hi }] }
    expect: { values: { "messages[-1].content": "echo: hi" } }
`;
const FAILING = CASES.replace("echo: hi", "echo: ho").replace("answers", "answers otherwise");

let installed: string;
let project: Project;
beforeAll(async () => {
  installed = await installPackage();
  project = await createProject({
    "package.json": { type: "module" },
    "graph.ts": echoGraph(),
    "cases/good.graph.yaml": CASES,
    "bad/bad.graph.yaml": FAILING.replace("./graph", "../graph"),
    "cases/graph.ts": echoGraph(),
  });
  // The project has only this package installed; other packages resolve to this checkout.
  await rm(join(project.dir, "node_modules"));
  await project.put("node_modules/.keep", "");
  for (const name of ["@langchain", "vitest", "zod"])
    await symlink(join(ROOT, "node_modules", name), join(project.dir, "node_modules", name), "junction");
  await symlink(installed, join(project.dir, "node_modules/graph-serve"), "junction");
}, 120_000);
afterAll(async () => {
  await project.remove();
  await rm(installed, { recursive: true, force: true });
});

const example = (name: string): string => {
  const found = markedBlocks("docs/testing.md").find((block) => block.name === name);
  if (!found) throw new Error(`docs/testing.md has no ${name}`);
  return found.text;
};

interface Finished {
  code: number;
  output: string;
}

/** Runs node in the project. A failure is returned, not thrown. */
async function node(...args: string[]): Promise<Finished> {
  const own = Object.entries(process.env).filter(([name]) => !/^(CI|NODE_|VITEST)/.test(name));
  const env = { ...Object.fromEntries(own), FORCE_COLOR: "0" };
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: project.dir, env });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}

const RUNNERS: [string, string, string, (file: string) => string[]][] = [
  ["vitest", "vitest", "graphs.test.ts", (file) => ["node_modules/vitest/vitest.mjs", "run", file]],
  ["node:test", "node", "graphs.test.mjs", (file) => ["--test", file]],
];

describe.each(RUNNERS)("the documented test with %s", (_runner, name, file, argv) => {
  it("passes for passing cases", async () => {
    await project.put(file, example(name).replace("runCases()", 'runCases({ paths: ["cases"] })'));
    const { code, output } = await node(...argv(file));
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output).toMatch(/answers|1 passed/);
  });

  it("fails for a failing case and prints the reason", async () => {
    await project.put(file, example(name));
    const { code, output } = await node(...argv(file));
    expect(code).not.toBe(0);
    expect(output).toContain("answers otherwise");
    expect(output).toContain("echo: ho");
  });
});
