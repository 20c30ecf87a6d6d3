import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { packageSource } from "../../src/cli/init/source.js";
import { VERSION } from "../../src/support/own-package.js";
import { cli, createProject, type Project } from "./harness.js";

const ROOT = process.cwd();

let project: Project;
beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

const init = (...argv: string[]) => cli(["init", ...argv], { cwd: project.dir });
const read = (path: string) => readFile(join(project.dir, path), "utf8");

describe("init", () => {
  it.each(["chat", "agent-tools", "hitl", "minimal"])(
    "template %s creates a valid project",
    async (template) => {
      expect(await init("My App!", "-t", template)).toMatchObject({ code: 0 });
      const manifest = JSON.parse(await read("My App!/package.json")) as {
        name: string;
        dependencies: Record<string, string>;
      };
      expect(manifest.name).toBe("my-app");
      const { "graph-serve": dependency = "" } = manifest.dependencies;
      expect(resolve(project.dir, "My App!", dependency.replace(/^file:/, ""))).toBe(ROOT);
      expect(await readdir(join(project.dir, "My App!"))).toContain(".gitignore");
      const validated = await cli(["validate", "--cwd", "My App!"], { cwd: project.dir });
      expect(validated).toMatchObject({ code: 0, stderr: "" });
      expect(validated.stdout).toMatch(/ok +graph agent/);
    },
  );

  it("the output lists the files and the next steps", async () => {
    const { stdout } = await init("bot", "-t", "minimal", "--pm", "pnpm");
    expect(stdout).toContain("  graph.ts\n");
    expect(stdout).toMatch(/next\n {2}cd bot\n {2}pnpm install\n {2}pnpm dev\n$/);
  });

  it("the next steps quote the folder for a shell", async () => {
    const { stdout } = await init("it's $HOME", "-t", "minimal");
    expect(stdout).toContain("  cd 'it'\\''s $HOME'\n");
  });

  it("a pnpm project has pnpm settings and commands", async () => {
    const env = { npm_config_user_agent: "pnpm/10.34.9 npm/? node/v20.20.2 linux x64" };
    expect(await cli(["init", "bot", "-t", "chat"], { cwd: project.dir, env })).toMatchObject({ code: 0 });
    const manifest = JSON.parse(await read("bot/package.json")) as Record<string, unknown>;
    expect(manifest).toMatchObject({ packageManager: "pnpm@10.34.9" });
    expect(manifest).not.toHaveProperty("overrides");
    expect(parse(await read("bot/pnpm-workspace.yaml"))).toMatchObject({
      packages: ["."],
      onlyBuiltDependencies: ["better-sqlite3"],
      allowBuilds: { "better-sqlite3": true },
      overrides: { "@langchain/protocol": expect.any(String) as string },
    });
    const readme = await read("bot/README.md");
    expect(readme).toContain("pnpm install\npnpm dev");
    expect(readme).toContain("pnpm exec graph-serve run");
    expect(readme).not.toMatch(/\bnp[mx] /);
    const workflow = await read("bot/.github/workflows/graphs.yml");
    expect(workflow).toContain("- uses: pnpm/action-setup@v4\n      - uses: actions/setup-node@v4");
    expect(workflow).toContain("cache: pnpm\n      - run: pnpm install --frozen-lockfile");
    expect(parse(workflow)).toMatchObject({ name: "graphs" });
  });

  it("yarn and bun projects allow the build of native packages", async () => {
    await init("yarned", "-t", "chat", "--pm", "yarn");
    const yarned = JSON.parse(await read("yarned/package.json")) as Record<string, unknown>;
    expect(yarned).toMatchObject({
      resolutions: { "@langchain/protocol": expect.any(String) as string },
      dependenciesMeta: { "better-sqlite3": { built: true } },
    });
    expect(yarned).not.toHaveProperty("packageManager");
    expect(await read("yarned/.yarnrc.yml")).toBe("nodeLinker: node-modules\n");
    await init("bunned", "-t", "chat", "--pm", "bun");
    const bunned = JSON.parse(await read("bunned/package.json")) as Record<string, unknown>;
    expect(bunned).toMatchObject({
      overrides: { "@langchain/protocol": expect.any(String) as string },
      trustedDependencies: ["better-sqlite3"],
    });
    expect(await read("bunned/.github/workflows/graphs.yml")).toContain("oven-sh/setup-bun@v2");
    expect(await read("bunned/README.md")).toContain("bunx graph-serve");
  });

  it("the calling package manager is detected", async () => {
    const env = { npm_config_user_agent: "yarn/4.1.0 npm/? node/v20.0.0" };
    expect((await cli(["init", "bot"], { cwd: project.dir, env })).stdout).toContain("yarn install");
  });

  it("existing files are not overwritten", async () => {
    await project.put("bot/graph.ts", "mine");
    const { code, stderr } = await init("bot", "-t", "minimal");
    expect(code).toBe(2);
    expect(stderr).toContain("already exists: graph.ts");
    expect(await read("bot/graph.ts")).toBe("mine");
    expect(await readdir(join(project.dir, "bot"))).toEqual(["graph.ts"]);
  });

  it("an empty folder name is refused instead of filling the current folder", async () => {
    const before = await readdir(project.dir);
    const { code, stderr } = await init("", "-t", "minimal");
    expect([code, stderr]).toEqual([2, expect.stringContaining("name a folder")]);
    expect(await readdir(project.dir)).toEqual(before);
  });

  it("an existing project gets a hint to use --config-only", async () => {
    await project.put("bot/package.json", {});
    const asked = await cli(["init", "bot"], { cwd: project.dir, isTTY: true });
    expect([asked.code, asked.stderr]).toEqual([
      2,
      expect.stringContaining("graph-serve init bot --config-only"),
    ]);
    await project.put("package.json", {});
    expect((await init("-t", "minimal")).stderr).toContain("graph-serve init --config-only");
    expect(await init("--config-only")).toMatchObject({ code: 0 });
    expect((await init("--config-only")).stderr).not.toContain("--config-only");
  });

  it("--force overwrites existing files", async () => {
    await project.put("bot/graph.ts", "mine");
    expect(await init("bot", "-t", "minimal", "--force")).toMatchObject({ code: 0 });
    expect(await read("bot/graph.ts")).toContain("StateGraph");
  });

  it("--config-only configures the graph file it finds", async () => {
    await project.put("src/agent.ts", "export const graph = 1;");
    const { code, stdout } = await init("--config-only", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ template: null, files: ["graph-server.config.json"] });
    expect(JSON.parse(await read("graph-server.config.json"))).toEqual({
      $schema: "./node_modules/graph-serve/graph-server.schema.json",
      graphs: { agent: "./src/agent.ts" },
    });
  });
});

describe("the source of graph-serve in a new project", () => {
  it("is the clone, whose packages a project inside it uses", async () => {
    expect(await packageSource(join(ROOT, "my-agent"))).toEqual({
      dependency: "file:..",
      needsInstall: false,
    });
    expect(await packageSource(project.dir)).toMatchObject({ needsInstall: true });
  });

  it("is the tarball that npm installed it from", async () => {
    await project.put("graph-serve-0.2.0.tgz", "");
    const packages = { "node_modules/graph-serve": { resolved: "file:../graph-serve-0.2.0.tgz" } };
    await project.put("caller/node_modules/.package-lock.json", { packages });
    const root = join(project.dir, "caller/node_modules/graph-serve");
    expect(await packageSource(join(project.dir, "new/bot"), root)).toEqual({
      dependency: "file:../../graph-serve-0.2.0.tgz",
      needsInstall: true,
    });
  });

  it("is the registry if npm installed it from there", async () => {
    const resolved = `https://registry.npmjs.org/graph-serve/-/graph-serve-${VERSION}.tgz`;
    const packages = { "node_modules/graph-serve": { resolved } };
    await project.put("caller/node_modules/.package-lock.json", { packages });
    const root = join(project.dir, "caller/node_modules/graph-serve");
    expect(await packageSource(join(project.dir, "bot"), root)).toEqual({
      dependency: VERSION,
      needsInstall: true,
    });
  });

  it("is reported as missing from the registry otherwise", async () => {
    const root = join(project.dir, "caller/node_modules/graph-serve");
    const { dependency, warning } = await packageSource(join(project.dir, "bot"), root);
    expect(dependency).toBe(VERSION);
    expect(warning).toContain("is not on the npm registry");
    expect(warning).toContain('"file:../graph-serve"');
  });
});
