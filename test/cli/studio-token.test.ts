/** The address of `dev`'s Studio survives a restart: its token is kept in the project, for its owner only. */
import { chmod, readFile, stat, symlink, writeFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createProject, echoGraph, type Project, startCli } from "./harness.js";

let project: Project;
beforeEach(async () => {
  project = await createProject({ "graph.ts": echoGraph() });
});
afterEach(() => project.remove());

const file = () => join(project.dir, ".graph-serve/studio-token");

/** Starts `dev`, reads the token from its Studio address, asks its helpers, and stops it. */
async function startOnce(): Promise<{ token: string; stderr: string }> {
  const dev = startCli(["dev", "./graph.ts", "--db", "memory", "-p", "0"], { cwd: project.dir });
  const [, url = "", token = ""] = await dev.stderr.until(/studio (http.+?)\/studio\/#token=(\w+)\n/);
  const hello = (given: string) =>
    fetch(`${url}/studio/api/hello`, {
      headers: { "x-studio-token": given, "sec-fetch-site": "same-origin" },
    });
  expect((await hello(token)).status).toBe(200);
  expect((await hello(token.replace(/^./, (first) => (first === "0" ? "1" : "0")))).status).toBe(403);
  dev.stop();
  expect(await dev.exit).toBe(0);
  return { token, stderr: dev.stderr.text };
}

it("a restart keeps the token, in a file that only its owner can read", async () => {
  const first = await startOnce();
  expect(first.token).toMatch(/^[0-9a-f]{32}$/);
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  const second = await startOnce();
  expect(second.token).toBe(first.token);
  expect(second.stderr).not.toContain("studio-token");
});

it.each([
  ["a file that other users can read", () => chmod(file(), 0o644), "was readable by other users"],
  ["a damaged file", () => writeFile(file(), "abc\n"), "was damaged"],
  [
    "a symbolic link",
    async () => {
      await rm(file());
      await writeFile(join(project.dir, "theirs"), "0".repeat(32));
      await symlink(join(project.dir, "theirs"), file());
    },
    "was readable by other users",
  ],
] as const)("%s is replaced, and a warning says so", async (_, spoil, why) => {
  const first = await startOnce();
  await spoil();
  const second = await startOnce();
  expect(second.token).not.toBe(first.token);
  expect(second.stderr).toContain(
    `.graph-serve/studio-token ${why}: the token was replaced, so the Studio has a new address`,
  );
  expect((await stat(file())).mode & 0o777).toBe(0o600);
  expect((await readFile(file(), "utf8")).trim()).toBe(second.token);
});
