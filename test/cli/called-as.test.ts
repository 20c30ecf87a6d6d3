import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withCommandPrefix, COMMAND_NAMES } from "../../src/cli/terminal/called-as.js";
import { COMMAND_GROUPS } from "../../src/cli/commands.js";
import { cli, createProject, echoGraph, type Project } from "./harness.js";
import { itSqlite } from "../helpers/with-sqlite.js";

// Environment variables as observed from each package manager.
const npm = { npm_config_user_agent: "npm/11.19.1 node/v20.20.2 linux x64 workspaces/false" };
const pnpm = { npm_config_user_agent: "pnpm/10.34.9 npm/? node/v20.20.2 linux x64" };
const yarn = { npm_config_user_agent: "yarn/1.22.22 npm/? node/v20.20.2 linux x64" };
const bun = { npm_config_user_agent: "bun/1.4.5 npm/? node/v26.3.0 linux x64" };
const script = (name: string, line: string) => ({ npm_lifecycle_event: name, npm_lifecycle_script: line });
const LOCAL = "/project/node_modules/graph-serve/bin/graph-serve.js";

describe("the command prefix in messages", () => {
  it.each([
    ["npx", { ...npm, ...script("npx", "'graph-serve'") }, LOCAL, "npx graph-serve"],
    ["npm run dev", { ...npm, ...script("dev", "graph-serve dev") }, LOCAL, "npx graph-serve"],
    ["npm run gs", { ...npm, ...script("gs", "graph-serve") }, LOCAL, "npm run gs --"],
    ["pnpm exec", pnpm, LOCAL, "pnpm exec graph-serve"],
    ["pnpm gs", { ...pnpm, ...script("gs", "graph-serve") }, LOCAL, "pnpm gs"],
    [
      "pnpm dlx",
      pnpm,
      "/home/me/.cache/pnpm/dlx/77b6/1a20/node_modules/graph-serve/bin/graph-serve.js",
      "pnpm dlx graph-serve",
    ],
    ["yarn", { ...yarn, ...script("graph-serve", "graph-serve") }, LOCAL, "yarn graph-serve"],
    ["yarn dlx", yarn, "/tmp/xfs-1/dlx-24/node_modules/.bin/graph-serve", "yarn dlx graph-serve"],
    ["bunx", { ...bun, ...script("bunx", "graph-serve") }, LOCAL, "bunx graph-serve"],
    ["bun run gs", { ...bun, ...script("gs", "graph-serve") }, LOCAL, "bun run gs"],
    ["a file path", { PATH: "/nowhere" }, LOCAL, "npx graph-serve"],
    ["a test", {}, undefined, "graph-serve"],
  ])("the prefix matches a call through %s", (_, env, program, call) => {
    expect(withCommandPrefix("see graph-serve run --help", { env, program })).toBe(`see ${call} run --help`);
  });

  it("a program on the PATH is shown by its name", async () => {
    const project = await createProject({ "bin/graph-serve": "" });
    const env = { PATH: `/nowhere:${project.dir}/bin` };
    expect(withCommandPrefix("graph-serve dev", { env, program: `${project.dir}/bin/graph-serve` })).toBe(
      "graph-serve dev",
    );
    await project.remove();
  });

  it("the name in a sentence and a command with a prefix stay unchanged", () => {
    const text =
      "graph-serve needs it: npx graph-serve dev, pnpm exec graph-serve run, graph-serve ready in 3 ms";
    expect(withCommandPrefix(text, { env: npm, program: LOCAL })).toBe(text);
  });

  it("a command with only program options gets the prefix", () => {
    expect(withCommandPrefix("see graph-serve --help", { env: npm, program: LOCAL })).toBe(
      "see npx graph-serve --help",
    );
  });

  it("every line of a help starts with the prefix", async () => {
    for (const argv of [["--help"], ["dev", "--help"], ["threads", "--help"], ["help", "config"]]) {
      const { stdout } = await cli(argv, { env: npm });
      expect(stdout).toMatch(/^Usage: npx graph-serve /);
      expect(stdout.match(/(?<!npx )\bgraph-serve [[a-z-]/)).toBeNull();
    }
  });

  it("a command that a help wraps starts with the prefix", async () => {
    for (let columns = 60; columns < 120; columns += 1) {
      const { stdout } = await cli(["crons", "--help"], { env: npm, columns });
      expect(stdout, `${columns} columns`).not.toMatch(/(?<!npx )\bgraph-serve\s+--help/);
    }
  });

  it("COMMAND_NAMES lists every command", () => {
    const names = Object.values(COMMAND_GROUPS).flatMap((entries) => entries.map(({ name }) => name));
    expect([...COMMAND_NAMES].sort()).toEqual(names.sort());
  });
});

describe("messages under pnpm", () => {
  let project: Project;
  const run = (...argv: string[]) => cli(argv, { cwd: project.dir, env: pnpm });

  beforeAll(async () => {
    project = await createProject({ "graph.ts": echoGraph() });
  });
  afterAll(() => project.remove());

  itSqlite("next steps, fixes, notes and examples start with pnpm", async () => {
    expect((await run("run", "./graph.ts", "--message", "hi")).stderr).toContain(
      "next    pnpm exec graph-serve run",
    );
    expect((await run("dev", "--prot")).stderr).toContain("(pnpm exec graph-serve dev --help)");
    expect((await run("start", "--json")).stdout).toContain(
      "or create a project: pnpm exec graph-serve init",
    );
    expect((await run("run", "--help")).stdout).toContain("  pnpm exec graph-serve run --message");
    expect((await run("doctor")).stdout).toContain("pnpm exec graph-serve init my-agent");
    const id = "0198c0de-0000-7000-8000-000000000001";
    expect((await run("threads", "get", id)).stderr).toContain(
      "this command was renamed to pnpm exec graph-serve inspect",
    );
  });
});
