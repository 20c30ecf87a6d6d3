/** Package managers that skip build scripts install better-sqlite3 without its native module. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { hasNodeDriver } from "../../src/storage/sqlite/node-driver.js";
import { installPackage } from "../helpers/compiled.js";
import { createProject, echoGraph, type Project } from "./harness.js";

const UNBUILT = join(process.cwd(), "test/fixtures/storage/unbuilt-sqlite.mjs");
const NEWER = join(process.cwd(), "test/fixtures/storage/newer-sqlite.mjs");
const PNPM = { npm_config_user_agent: "pnpm/10.34.9 npm/? node/v20.20.2 linux x64" };

let installed: string;
beforeAll(async () => {
  installed = await installPackage();
});
afterAll(() => rm(installed, { recursive: true, force: true }));

let project: Project;
let children: ChildProcess[] = [];
beforeEach(async () => {
  project = await createProject({ "graph.ts": echoGraph() });
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
  await project.remove();
});

function graphServe(env: Record<string, string>, ...argv: string[]) {
  return graphServeWith(UNBUILT, env, ...argv);
}

function graphServeWith(fixture: string, env: Record<string, string>, ...argv: string[]) {
  const { npm_config_user_agent: _, ...inherited } = process.env;
  const flags = ["--import", fixture, join(installed, "bin/graph-serve.js")];
  const child = spawn(process.execPath, [...flags, ...argv], {
    cwd: project.dir,
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  return child;
}

/** Reads stderr until it contains `words`. */
async function saidUntil({ stderr }: ReturnType<typeof graphServe>, words: string): Promise<string> {
  let said = "";
  while (!said.includes(words)) {
    const [part] = (await once(stderr, "data")) as [Buffer];
    said += String(part);
  }
  return said;
}

async function finished(child: ReturnType<typeof graphServe>) {
  const exit = once(child, "exit") as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { code, stdout, stderr };
}

describe.skipIf(hasNodeDriver())("better-sqlite3 without its native module", () => {
  it("dev falls back to memory, prints the build command, and serves other commands", async () => {
    const dev = graphServe(PNPM, "dev", "./graph.ts", "-p", "0");
    const said = await saidUntil(dev, "storage memory");
    expect(said).toContain("threads are kept in memory");
    expect(said).toContain("run: pnpm approve-builds better-sqlite3");
    const run = await finished(graphServe(PNPM, "run", "./graph.ts", "--message", "hi", "--json"));
    expect(run.code).toBe(0);
    expect(run.stderr).toContain("using the dev server");
    expect(existsSync(join(project.dir, ".graph-serve/dev.db"))).toBe(false);
  });

  it("a named database file is an error with the build command", async () => {
    await project.put("bun.lock", "");
    const { code, stderr } = await finished(
      graphServe({}, "run", "./graph.ts", "--message", "hi", "--db", "./threads.db"),
    );
    expect(code).toBe(3);
    expect(stderr).toContain("better-sqlite3, which was not built for this Node.js");
    expect(stderr).toContain("fix  run: bun pm trust better-sqlite3");
  });

  it("doctor reports the missing build", async () => {
    await project.put("package-lock.json", "{}");
    const { stdout } = await finished(graphServe({}, "doctor", "--json"));
    const { items } = JSON.parse(stdout) as { items: { check: string }[] };
    expect(items.find(({ check }) => check === "storage")).toMatchObject({
      status: "warn",
      fix: "run: npm rebuild better-sqlite3",
    });
  });
});

it.runIf(hasNodeDriver())("Node.js keeps the threads of dev if better-sqlite3 is not built", async () => {
  const { code, stderr } = await finished(graphServe({}, "run", "./graph.ts", "--message", "hi"));
  expect(code).toBe(0);
  expect(stderr).not.toMatch(/warn|sqlite/i);
  const { stdout } = await finished(graphServe({}, "threads", "list", "--json"));
  expect((JSON.parse(stdout) as { items: unknown[] }).items).toHaveLength(1);
});

it.skipIf(hasNodeDriver())("a better-sqlite3 for a later Node.js is reported and not loaded", async () => {
  const { code, stderr } = await finished(
    graphServeWith(NEWER, PNPM, "run", "./graph.ts", "--message", "hi", "--db", "./threads.db"),
  );
  expect(code).toBe(3);
  expect(stderr).toContain("better-sqlite3, which needs Node.js 22.14 as of version 13");
  expect(stderr).toContain("fix  run: pnpm add better-sqlite3@12");
});
