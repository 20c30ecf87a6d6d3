import { readFile } from "node:fs/promises";
import { join, matchesGlob } from "node:path";
import { validate } from "dockerfile-utils";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { assertQueue } from "../../src/config/queue-settings.js";
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

interface ComposeService {
  environment?: Record<string, string>;
  command?: string[];
  ports?: string[];
  depends_on?: object;
  healthcheck?: object;
}

const readCompose = async () =>
  parse(await read("compose.yaml"), { merge: true }) as {
    services: Record<string, ComposeService>;
    volumes: Record<string, null>;
  };

/** The settings of a container, as the server reads them from its environment. */
async function settingsOf({ environment = {} }: ComposeService = {}) {
  const values = Object.entries(environment).map(([name, text]) => [
    name,
    text.replace(/\$\{[^}]+\}/, "secret"),
  ]);
  const env = Object.fromEntries(values) as Record<string, string>;
  return (await loadConfig({ cwd: project.dir, env })).settings;
}

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

  it("warns if the package of the queue is not a dependency", async () => {
    await project.put("package-lock.json", "{}");
    await project.put("graph-server.config.json", {
      ...{ graphs: { agent: "./graph.ts:graph" }, queue: "postgres", stream: "postgres" },
      ...{ checkpointer_scheme: "postgres", checkpointer_uri: "postgresql://db/app" },
    });
    expect((await make()).stderr).toMatch(/the image needs .*pg-boss.*: npm install .*pg-boss/);
  });

  it("--compose adds PostgreSQL with a password from the environment", async () => {
    await project.put("package-lock.json", "{}");
    const { code, stderr } = await make("--compose");
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("npm install pg @langchain/langgraph-checkpoint-postgres"),
    ]);
    const { services } = await readCompose();
    expect(Object.keys(services)).toEqual(["graphs", "database"]);
    expect(services.database?.environment?.POSTGRES_PASSWORD).toMatch(/^\$\{POSTGRES_PASSWORD:\?/);
    expect(services.database?.healthcheck).toBeDefined();
    expect(services.graphs).toMatchObject({
      depends_on: { database: { condition: "service_healthy" } },
      stop_grace_period: "20s",
      ports: ["127.0.0.1:2024:2024"],
    });
    expect(await settingsOf(services.graphs)).toMatchObject({
      checkpointer_scheme: "postgres",
      checkpointer_uri: "postgresql://graphs:secret@database:5432/graphs",
      stream: "memory",
    });
  });

  it.each([
    [
      "redis",
      { stream: "redis", stream_uri: "redis://cache:6379" },
      ["database", "redis"],
      "redis://redis:6379",
    ],
    ["postgres", { stream: "postgres" }, ["database"], "postgresql://graphs:secret@database:5432/graphs"],
    ["postgres", {}, ["database"], "postgresql://graphs:secret@database:5432/graphs"],
  ])(
    "--compose with a queue starts API servers and workers, which share frames through %s",
    async (stream, settings, databases, stream_uri) => {
      await project.put("package-lock.json", "{}");
      await project.put("graph-server.config.json", {
        ...{ graphs: { agent: "./graph.ts" }, port: 8080, queue: "postgres", shutdown_grace_seconds: 30 },
        ...{ checkpointer_scheme: "postgres", checkpointer_uri: "postgresql://db/app", ...settings },
      });
      const { code, stderr } = await make("--compose");
      expect(code).toBe(0);
      expect(stderr.includes("redis")).toBe(stream === "redis");
      expect(stderr).toContain("pg-boss");
      const { services, volumes } = await readCompose();
      expect(Object.keys(services)).toEqual(["api", "worker", ...databases]);
      expect(Object.keys(volumes)).toEqual(["database"]);
      expect(services.api).toMatchObject({ ports: ["127.0.0.1:8080:8080"], stop_grace_period: "40s" });
      expect(services.worker?.ports).toBeUndefined();
      const end = ["--host", "0.0.0.0", "--port", "8080"];
      expect(services.api?.command?.slice(2)).toEqual(["start", "--role", "api", ...end]);
      expect(services.worker?.command?.slice(2)).toEqual(["worker", ...end]);
      for (const [name, role] of [
        ["api", "api"],
        ["worker", "worker"],
      ] as const) {
        const found = await settingsOf(services[name]);
        expect(found).toMatchObject({ queue: "postgres", stream, stream_uri });
        expect(Object.keys(services[name]?.depends_on ?? {})).toEqual(databases);
        // The settings that the server itself refuses if they contradict each other.
        expect(() => assertQueue({ ...found, role })).not.toThrow();
      }
    },
  );

  it("--compose keeps threads in Redis if the configuration does", async () => {
    await project.put("package-lock.json", "{}");
    await project.put("graph-server.config.json", {
      ...{ graphs: { agent: "./graph.ts" }, checkpointer_scheme: "redis", checkpointer_uri: "redis://cache" },
      checkpointer_options: { allow_ephemeral_metadata: true },
    });
    const { stderr } = await make("--compose");
    expect(stderr).toContain("npm install redis");
    expect(stderr).not.toContain("checkpoint-postgres");
    const { services, volumes } = await readCompose();
    expect(Object.keys(services)).toEqual(["graphs", "redis"]);
    expect(Object.keys(volumes)).toEqual(["redis"]);
    expect(await settingsOf(services.graphs)).toMatchObject({
      ...{ checkpointer_scheme: "redis", checkpointer_uri: "redis://redis:6379" },
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
