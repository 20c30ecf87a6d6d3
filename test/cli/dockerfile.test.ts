import { readFile } from "node:fs/promises";
import { join, matchesGlob } from "node:path";
import { validate } from "dockerfile-utils";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/load.js";
import { markedBlocks } from "../helpers/markdown.js";
import { cli, createProject, type Project } from "./harness.js";

let project: Project;
beforeEach(async () => {
  project = await createProject({
    "package.json": { dependencies: { "graph-serve": "0.1.0" } },
    "graph-server.config.json": { graphs: { agent: "./graph.ts" } },
  });
});
afterEach(() => project.remove());

const make = (...flags: string[]) => cli(["dockerfile", ...flags], { cwd: project.dir });
const read = (path: string) => readFile(join(project.dir, path), "utf8");

/** All messages of the linter, including warnings. */
const problems = (text: string) => validate(text).map(({ message }) => message);

describe("dockerfile", () => {
  it.each([
    ["npm", { "package-lock.json": "{}" }, ["package-lock.json"], "RUN npm ci --omit=dev\n"],
    [
      "pnpm",
      { "pnpm-lock.yaml": "", "pnpm-workspace.yaml": "" },
      ["pnpm-lock.yaml", "pnpm-workspace.yaml"],
      "RUN corepack enable\nRUN pnpm install --frozen-lockfile --prod\n",
    ],
    ["yarn 1", { "yarn.lock": "# yarn lockfile v1\n" }, ["yarn.lock"], "--frozen-lockfile --production\n"],
    ["yarn 4", { "yarn.lock": "__metadata:\n  version: 8\n" }, ["yarn.lock"], "focus --all --production\n"],
    ["bun", { "bun.lock": "{}" }, ["bun.lock"], "RUN bun install --frozen-lockfile --production\n"],
  ])(
    "the Dockerfile for %s passes the linter and installs from the lock file",
    async (_, files, copied, step) => {
      for (const [path, text] of Object.entries(files)) await project.put(path, text);
      expect(await make()).toEqual({
        code: 0,
        stdout: "",
        stderr: "wrote Dockerfile\nwrote .dockerignore\n",
      });
      const text = await read("Dockerfile");
      expect(problems(text)).toEqual([]);
      expect(text).toContain(`COPY package.json ${copied.join(" ")} ./\n`);
      expect(text).toContain(step);
      expect(text.match(/^FROM /gm)).toHaveLength(2);
      expect(text).toMatch(/\nUSER node\n[^]*\nHEALTHCHECK .* CMD \[/);
      expect(text).toContain('"start", "--host", "0.0.0.0", "--port", "2024"]');
      expect((await read(".dockerignore")).split("\n")).toEqual(
        expect.arrayContaining(["**/node_modules", "**/.graph-serve", "**/.env"]),
      );
    },
  );

  it(".dockerignore excludes secrets and databases in every folder, but not examples", async () => {
    await project.put("package-lock.json", "{}");
    await make();
    const patterns = (await read(".dockerignore")).split("\n").filter(Boolean);
    /** Docker's rules: patterns are relative to the root, and the last match wins. */
    const isIgnored = (path: string): boolean => {
      const last = patterns.findLast((pattern) => matchesGlob(path, pattern.replace(/^!/, "")));
      return last !== undefined && !last.startsWith("!");
    };
    const secrets = [".env", ".env.local", ".npmrc", "threads.db", "threads.db-wal", ".graph-serve"];
    for (const path of [...secrets, ...secrets.map((name) => `packages/app/${name}`), "app/node_modules"])
      expect([path, isIgnored(path)]).toEqual([path, true]);
    for (const path of [".env.example", "app/.env.example", "src/graph.ts", "package.json"])
      expect([path, isIgnored(path)]).toEqual([path, false]);
  });

  it("the Dockerfile matches the one in docs/deployment.md", async () => {
    await project.put("package-lock.json", "{}");
    const shown = markedBlocks("docs/deployment.md").find(({ name }) => name === "Dockerfile");
    const { stdout } = await make("--stdout");
    expect(stdout.trimEnd()).toBe(shown?.text.trimEnd());
    await expect(read("Dockerfile")).rejects.toThrow();
  });

  it("the Dockerfile serves the named graphs and port, and builds SQLite only if it is used", async () => {
    await project.put("package-lock.json", "{}");
    expect((await make("--stdout")).stdout).toContain("better-sqlite3");
    const config = { port: 8080, checkpointer_scheme: "postgres", checkpointer_uri: "postgresql://db/app" };
    await project.put("graph-server.config.json", config);
    const { stdout } = await make("./graph.ts:graph", "--stdout");
    expect(problems(stdout)).toEqual([]);
    expect(stdout).toContain('"start", "./graph.ts:graph", "--host", "0.0.0.0", "--port", "8080"]');
    expect(stdout).toContain("EXPOSE 8080\n");
    expect(stdout).not.toContain("better-sqlite3");
  });

  it("--compose adds PostgreSQL with a password from the environment", async () => {
    await project.put("package-lock.json", "{}");
    const { code, stderr } = await make("--compose");
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("npm install pg @langchain/langgraph-checkpoint-postgres"),
    ]);
    const { services } = parse(await read("compose.yaml")) as {
      services: Record<"graphs" | "database", { environment: Record<string, string>; healthcheck?: object }>;
    };
    const { environment } = services.graphs;
    expect(services.database.environment.POSTGRES_PASSWORD).toMatch(/^\$\{POSTGRES_PASSWORD:\?/);
    expect(services.database.healthcheck).toBeDefined();
    expect(services.graphs).toMatchObject({ depends_on: { database: { condition: "service_healthy" } } });
    const env = Object.fromEntries(
      Object.entries(environment).map(([name, text]) => [name, text.replace(/\$\{[^}]+\}/, "secret")]),
    );
    expect((await loadConfig({ cwd: project.dir, env })).settings).toMatchObject({
      checkpointer_scheme: "postgres",
      checkpointer_uri: "postgresql://graphs:secret@database:5432/graphs",
    });
  });

  it("files are overwritten only with --force, and an existing .dockerignore is kept", async () => {
    await project.put("package-lock.json", "{}");
    await project.put("Dockerfile", "mine");
    await project.put(".dockerignore", "mine");
    const refused = await make();
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining("already exists: Dockerfile"),
    ]);
    expect(await read("Dockerfile")).toBe("mine");
    expect((await make("--force", "--json")).stdout).toContain('"Dockerfile"');
    expect(await read("Dockerfile")).toContain("FROM ");
    expect(await read(".dockerignore")).toBe("mine");
  });

  it.each([
    ["no lock file", {}, "run npm install"],
    [
      "no graph",
      { "package-lock.json": "{}", "graph-server.config.json": "{}" },
      "graph-serve dockerfile ./graph.ts:graph",
    ],
  ])("a project with %s is rejected with a fix", async (_, files, hint) => {
    for (const [path, text] of Object.entries(files)) await project.put(path, text);
    const { code, stderr } = await make();
    expect([code, stderr]).toEqual([2, expect.stringContaining(hint)]);
  });

  it("graph-serve in devDependencies is reported", async () => {
    await project.put("package-lock.json", "{}");
    await project.put("package.json", { devDependencies: { "graph-serve": "0.1.0" } });
    expect((await make()).stderr).toContain(
      "the image needs graph-serve in `dependencies`: npm install graph-serve",
    );
  });
});
