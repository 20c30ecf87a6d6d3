import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, readdir, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, extname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SHARED_PACKAGES, langgraphVersion, useLangGraphOf } from "../src/support/user-langgraph.js";

const root = resolve(import.meta.dirname, "..");
const packages = dirname(dirname(createRequire(import.meta.url).resolve("@langchain/core/package.json")));
const dependencies = dirname(packages);

interface Report {
  result?: { shared: boolean; versions: Record<string, { ours?: string; theirs?: string }> };
  same: { command: boolean; message: boolean; saver: boolean };
  notices: (string | null)[];
}

async function runChild(project: string, mode: "redirect" | "plain"): Promise<Report> {
  const child = resolve(root, "test/fixtures/user-langgraph-child.ts");
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", child, project, mode], {
    cwd: root,
  });
  return JSON.parse(stdout) as Report;
}

const versionOf = async (folder: string, name: string): Promise<string> => {
  const manifest = await readFile(join(folder, name, "package.json"), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
};

/**
 * Creates a project with its own copies of LangGraph's packages at a changed version; other packages are
 * linked to ours.
 */
async function makeProject(): Promise<string> {
  const project = await realpath(await mkdtemp(join(tmpdir(), "graph-serve-copy-")));
  const modules = join(project, "node_modules");
  await mkdir(modules);
  for (const name of await readdir(dependencies)) {
    if (name !== "@langchain" && !name.startsWith("."))
      await symlink(join(dependencies, name), join(modules, name));
  }
  for (const name of ["core", "langgraph", "langgraph-checkpoint", "langgraph-sdk"]) {
    await cp(join(packages, name), join(modules, "@langchain", name), {
      recursive: true,
      filter: (file) => ["", ".js", ".json"].includes(extname(file)) || !/\.(cjs|map|ts|cts|md)$/.test(file),
    });
  }
  await symlink(join(packages, "protocol"), join(modules, "@langchain/protocol"));
  for (const name of SHARED_PACKAGES) {
    const manifest = join(modules, name, "package.json");
    const fields = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
    await writeFile(manifest, JSON.stringify({ ...fields, version: `${fields.version}-theirs` }));
  }
  await writeFile(
    join(project, "graph.mjs"),
    [
      `export { Command } from "@langchain/langgraph";`,
      `export { HumanMessage } from "@langchain/core/messages";`,
      `export { MemorySaver } from "@langchain/langgraph-checkpoint";`,
    ].join("\n"),
  );
  return project;
}

describe("a project with its own copy of LangGraph", () => {
  let project = "";
  beforeAll(async () => {
    project = await makeProject();
  });
  afterAll(() => rm(project, { recursive: true, force: true }));

  test("our imports resolve to the user's copy", async () => {
    const { result, same, notices } = await runChild(project, "redirect");
    expect(same).toEqual({ command: true, message: true, saver: true });
    expect(result?.shared).toBe(false);
    for (const name of SHARED_PACKAGES) {
      const ours = await versionOf(dependencies, name);
      expect(result?.versions[name]).toEqual({ ours, theirs: `${ours}-theirs` });
    }
    expect(notices[1] ?? undefined).toBeUndefined();
  });

  test("two copies are loaded and reported without redirection", async () => {
    const { same, notices } = await runChild(project, "plain");
    expect(same).toEqual({ command: false, message: false, saver: false });
    expect(notices[0]).toMatch(
      /^two copies of @langchain\/core: [\d.]+-theirs for the graph, [\d.]+ for graph-serve; install/,
    );
  });

  test("langgraphVersion returns the version of the project", async () => {
    expect(langgraphVersion(project)).toBe(`${await versionOf(dependencies, "@langchain/langgraph")}-theirs`);
  });
});

describe("a project that shares our copy of LangGraph", () => {
  test("imports are not redirected", async () => {
    const { shared, versions } = useLangGraphOf(resolve(root, "test/fixtures/graphs"));
    expect(shared).toBe(true);
    expect(versions["@langchain/core"].ours).toBe(versions["@langchain/core"].theirs);
  });

  test("a folder without LangGraph has no version", () => {
    expect(langgraphVersion("/")).toBeUndefined();
    expect(useLangGraphOf("/").shared).toBe(true);
  });
});
