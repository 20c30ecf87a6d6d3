/** Creates a project from each template with `init`: it must typecheck, serve, and match its README. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.js";
import { loadConfig } from "../../src/config/load.js";
import { openService } from "../../src/service/open.js";
import { serve } from "../helpers/app.js";

const REPOSITORY = join(import.meta.dirname, "../..");
const TEMPLATES = {
  chat: '"content":"said: "',
  "agent-tools": "6 * 7 = 42",
  hitl: "paid 5 to Ada",
  minimal: "6 words",
};
const names = Object.keys(TEMPLATES) as (keyof typeof TEMPLATES)[];
const run = promisify(execFile);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "graph-serve-init-"));
  // Replaces `npm install`: the templates' dependencies are already installed here.
  await symlink(join(REPOSITORY, "node_modules"), join(folder, "node_modules"), "dir");
  for (const name of names) await initialise(name);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function initialise(name: string): Promise<void> {
  const output = new PassThrough();
  const io = { stdout: output, stderr: output, stdin: Readable.from([]), env: {}, cwd: folder };
  const code = await main(["init", name, "-t", name], io);
  expect(code, String(output.read())).toBe(0);
}

function diagnosticsOf(projects: string[]): string[] {
  const configs = projects.map((project) => {
    const { config } = ts.readConfigFile(join(project, "tsconfig.json"), (file) => ts.sys.readFile(file)) as {
      config: unknown;
    };
    return ts.parseJsonConfigFileContent(config, ts.sys, project);
  });
  const options = configs[0]?.options ?? {};
  const files = configs.flatMap(({ fileNames }) => fileNames);
  return ts
    .getPreEmitDiagnostics(ts.createProgram(files, options))
    .map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
    );
}

/** Runs the curl commands of a README against `url` and returns their output. */
async function runCurls(readme: string, url: string): Promise<string> {
  const blocks = [...readme.matchAll(/```sh\n(curl[^]*?)```/g)].map(([, block]) => block ?? "");
  expect(blocks).not.toEqual([]);
  const script = blocks.join("\n").replaceAll("http://127.0.0.1:2024", url).replaceAll("curl ", "curl -sS ");
  return (await run("bash", ["-euc", script])).stdout;
}

describe("projects created by init", () => {
  it.each(names)("%s has its own name and .gitignore", async (name) => {
    const manifest = JSON.parse(await readFile(join(folder, name, "package.json"), "utf8")) as {
      name: string;
      dependencies: Record<string, string>;
    };
    expect(manifest.name).toBe(name);
    expect(manifest.dependencies["graph-serve"]).toMatch(/^file:/);
    expect(await readFile(join(folder, name, ".gitignore"), "utf8")).toContain("node_modules/");
  });

  it.each(names)("%s pins the versions tested here", async (name) => {
    const read = async (path: string) =>
      JSON.parse(await readFile(path, "utf8")) as Record<string, Record<string, string>>;
    const own = await read(join(REPOSITORY, "package.json"));
    const made = await read(join(folder, name, "package.json"));
    const { "graph-serve": _2, ...pinned } = { ...made.dependencies, ...made.devDependencies };
    expect(own.devDependencies).toMatchObject(pinned);
    // This repository's other overrides are for clients under test that depend on other versions of the SDK.
    const { "@langchain/langgraph-sdk": sdk, ...overrides } = made.overrides ?? {};
    expect(own.overrides).toMatchObject(overrides);
    const installed = await read(join(REPOSITORY, "node_modules/@langchain/langgraph-sdk/package.json"));
    expect(sdk).toBe(installed.version);
  });

  it("all projects typecheck", () => {
    expect(diagnosticsOf(names.map((name) => join(folder, name)))).toEqual([]);
  });

  it.each(names)("%s returns the results shown in its README", async (name) => {
    const project = join(folder, name);
    const { settings, baseDir } = await loadConfig({ cwd: project, env: {} });
    const { url } = await serve(await openService({ settings, cwd: baseDir }));
    const printed = await runCurls(await readFile(join(project, "README.md"), "utf8"), url);
    expect(printed).toContain(TEMPLATES[name]);
    expect(printed).not.toContain('"detail"');
  });
});
