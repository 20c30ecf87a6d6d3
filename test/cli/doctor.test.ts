import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import { withOwnSchema } from "../helpers/postgres.js";
import { queueChecks } from "../../src/cli/doctor/package-checks.js";
import { nodeCheck, tracingCheck } from "../../src/cli/doctor/environment-checks.js";
import { isInRange } from "../../src/cli/doctor/version-range.js";
import type { LoadedConfig } from "../../src/config/load.js";
import { Database } from "../helpers/sqlite-database.js";
import { cli, createProject, echoGraph, type Project, startCli } from "./harness.js";

interface Check {
  check: string;
  status: string;
  detail: string;
  fix?: string;
}

let project: Project;
beforeEach(async () => {
  project = await createProject({
    "graph.ts": echoGraph(),
    "graph-server.config.json": { graphs: { agent: "./graph.ts:graph" } },
  });
});
afterEach(() => project.remove());

async function checks(
  ...argv: string[]
): Promise<{ code: number; items: Check[]; of: (name: string) => Check }> {
  const { code, stdout } = await cli(["doctor", ...argv, "--json"], { cwd: project.dir });
  const { items } = JSON.parse(stdout) as { items: Check[] };
  const of = (name: string) =>
    items.find(({ check }) => check === name) ?? { check: "", status: "", detail: "" };
  return { code, items, of };
}

/** A stored database of another release. */
const storedSql = (fixture: string): Promise<string> =>
  readFile(join(import.meta.dirname, "../fixtures/storage", fixture), "utf8");

describe("a healthy project", () => {
  itSqlite("every check passes", async () => {
    const { code, items, of } = await checks();
    expect(code).toBe(0);
    // Node 20 is a warning.
    expect(items.filter(({ check, status }) => status !== "ok" && check !== "node")).toEqual([]);
    expect(items.map(({ check }) => check)).toEqual([
      "node",
      "tracing",
      "@langchain/core",
      "@langchain/langgraph",
      "@langchain/langgraph-checkpoint",
      "one core",
      "config",
      "compat",
      "graph agent",
      "storage",
    ]);
    expect(of("storage").detail).toMatch(
      /^sqlite .*dev\.db: no tables yet, graph-serve start or the first run creates them$/,
    );
    expect(of("graph agent").detail).toContain("1 node");
  });

  itSqlite("an existing database is checked", async () => {
    await cli(["run", "--message", "hi"], { cwd: project.dir });
    const { of } = await checks();
    expect(of("storage").detail).toMatch(/^sqlite .*\.graph-serve\/dev\.db$/);
    expect(of("journal_mode")).toMatchObject({ status: "ok", detail: "journal mode wal" });
    expect(of("busy_timeout").status).toBe("ok");
    expect(of("stale runs")).toMatchObject({ status: "ok", detail: "none" });
  });

  itSqlite("the embedding function of store_index is called", async () => {
    await project.put("embed.ts", "export const embed = async (texts: string[]) => texts.map(() => [1, 2]);");
    const settings = (dims: number) =>
      project.put("graph-server.config.json", {
        graphs: { agent: "./graph.ts:graph" },
        store_index: { dims, embed: "./embed.ts:embed" },
      });
    await settings(2);
    expect((await checks()).of("store_index")).toMatchObject({
      status: "ok",
      detail: "./embed.ts:embed, 2 numbers per vector",
    });
    await cli(["run", "--message", "hi"], { cwd: project.dir });
    expect((await checks()).of("vector search")).toMatchObject({
      status: "ok",
      detail: expect.stringMatching(/^sqlite-vec v\d/) as string,
    });
    await settings(3);
    expect((await checks()).of("store_index")).toMatchObject({
      status: "fail",
      detail: "store_index: ./embed.ts:embed returned vectors of 2 numbers, and dims is 3",
      fix: "set dims to 2, or return vectors of 3 numbers",
    });
    await project.put("embed.ts", 'export const embed = () => { throw new Error("no quota"); };');
    const { code, of } = await checks();
    expect([code, of("store_index").detail]).toEqual([1, "store_index: ./embed.ts:embed failed: no quota"]);
  });

  itSqlite("expired threads are counted before a sweep deletes them", async () => {
    const settings = { graphs: { agent: "./graph.ts:graph" }, ttl: { threads: { minutes: 0.0001 } } };
    await cli(["run", "--message", "hi"], { cwd: project.dir });
    expect((await checks()).of("ttl")).toMatchObject({
      status: "ok",
      detail: "new threads are kept until they are deleted; no thread has expired",
    });
    await project.put("graph-server.config.json", settings);
    await cli(["run", "--message", "hi"], { cwd: project.dir });
    expect((await checks()).of("ttl").detail).toMatch(
      /^new threads are deleted 0\.0001 minutes after .*; 1 of 2 threads have expired and are deleted/,
    );
    const { stdout } = await cli(["threads", "list", "--json"], { cwd: project.dir });
    const { items } = JSON.parse(stdout) as { items: { thread_id: string }[] };
    const first = items.at(-1);
    await cli(["threads", "delete", first?.thread_id ?? "", "--yes"], { cwd: project.dir });
    expect((await checks()).of("ttl")).toMatchObject({
      status: "warn",
      detail: "every thread has expired: the next sweep deletes all 1",
    });
  });

  itSqlite("lines in a pipe are aligned and uncoloured", async () => {
    const { stdout, stderr } = await cli(["doctor"], { cwd: project.dir });
    expect(stdout).toMatch(/^(ok {2}|warn) {2}node {29}Node\.js /);
    expect(stdout + stderr).not.toContain("\u001b");
    expect(stderr).toMatch(/^(no problems found|0 errors, 1 warning)\n$/);
  });
});

it.each([40, 80])("lines fit %i columns", async (columns) => {
  await project.put("graph-server.config.json", {
    graphs: { agent: "./nowhere/at/all/to/be/found.ts:graph" },
  });
  const { stdout, exit } = startCli(["doctor"], { cwd: project.dir, isTTY: true, env: { NO_COLOR: "1" } });
  Object.assign(stdout, { columns });
  expect(await exit).toBe(1);
  expect(Math.max(...stdout.text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(columns);
  expect(stdout.text).not.toContain("\u001b");
  expect(stdout.text).toMatch(/fix /);
});

describe("problems in the project", () => {
  it("an invalid configuration is reported with the other checks", async () => {
    await project.put("graph-server.config.json", '{ "prot": 1 }');
    const { code, of } = await checks();
    expect(code).toBe(1);
    expect(of("config")).toMatchObject({ status: "fail" });
    expect(of("config").fix).toContain("port");
    expect(of("node").status).not.toBe("fail");
  });

  it("each graph that does not load is reported", async () => {
    await project.put("wrapper.ts", "export const graph = { graph: 'later' };");
    await project.put("broken.ts", "export const graph = ;");
    await project.put("graph-server.config.json", {
      graphs: { agent: "./graph.ts:graph", wrapper: "./wrapper.ts:graph", broken: "./broken.ts" },
    });
    const { code, of } = await checks();
    expect(code).toBe(1);
    expect(of("graph agent").status).toBe("ok");
    expect(of("graph wrapper")).toMatchObject({
      status: "fail",
      detail: "./wrapper.ts:graph is an object, not a graph",
      fix: "export a compiled graph, or a function that returns one",
    });
    expect(of("graph broken")).toMatchObject({ status: "fail" });
    expect(of("graph broken").fix).not.toBe("");
  });

  it("the package of the queue is checked", async () => {
    await project.put("graph-server.config.json", {
      ...{ graphs: { agent: "./graph.ts:graph" }, queue: "postgres", stream: "postgres" },
      ...{ checkpointer_scheme: "postgres", checkpointer_uri: "postgresql://127.0.0.1:1/none" },
    });
    expect((await checks()).of("queue")).toMatchObject({
      status: "ok",
      detail: expect.stringMatching(/^postgres, on pg-boss 12\./) as string,
    });
    const config = { settings: { queue: "postgres" }, baseDir: process.cwd() } as LoadedConfig;
    expect(queueChecks(config, { "pg-boss": "^11.0.0" })).toMatchObject([
      {
        status: "fail",
        detail: expect.stringMatching(
          /^pg-boss 12\..* is not supported: graph-serve requires \^11/,
        ) as string,
        fix: 'npm install "pg-boss@^11.0.0"',
      },
    ]);
  });

  it("a missing env file is reported with how to create it", async () => {
    const graphs = { agent: "./graph.ts:graph" };
    await project.put("graph-server.config.json", { graphs, env: ".env", checkpointer_scheme: "memory" });
    await project.put(".env.example", "NAME=value\n");
    const { code, items } = await checks();
    expect(code).toBe(0);
    expect(items).toContainEqual({
      check: "config",
      status: "warn",
      detail: "env file .env does not exist",
      fix: "copy .env.example to it, or remove env from the configuration",
    });
  });

  withOwnSchema("on PostgreSQL", (postgres) => {
    const storageOf = async () => {
      const { checkpointer_scheme, checkpointer_uri, checkpointer_options } = postgres.options();
      const storage = { checkpointer_scheme, checkpointer_uri, checkpointer_options };
      await project.put("graph-server.config.json", { graphs: { agent: "./graph.ts:graph" }, ...storage });
      const { code, of } = await checks();
      return { code, ...of("storage") };
    };

    it("an empty database passes, because a server creates its tables", async () => {
      expect(await storageOf()).toMatchObject({
        code: 0,
        status: "ok",
        detail: expect.stringMatching(
          /^postgres postgresql:\/\/.*: no tables yet, graph-serve start or the first run creates them$/,
        ) as string,
      });
    });

    it("a database of an earlier release without the tables of checkpoints is a warning", async () => {
      const stored = (await storedSql("postgres-2.sql")).replaceAll("stored.", `"${postgres.schema}".`);
      await postgres.sql(stored.replace("SCHEMA stored", `SCHEMA "${postgres.schema}"`));
      expect(await storageOf()).toMatchObject({
        code: 0,
        status: "warn",
        detail: expect.stringContaining("tables of an earlier release") as string,
      });
    });
  });

  describe("a database of another release", () => {
    async function storageCheck(fixture: string, more = "") {
      const db = new Database(join(project.dir, "threads.db"));
      db.exec(await storedSql(fixture));
      db.exec(more);
      db.close();
      const { code, of } = await checks("--db", "./threads.db");
      return { code, ...of("storage") };
    }

    itSqlite.each(["threads-0.1.0.sql", "sqlite-8.sql"])(
      "passes with a warning if a server migrates it: %s",
      async (fixture) => {
        expect(await storageCheck(fixture)).toEqual({
          code: 0,
          check: "storage",
          status: "warn",
          detail: expect.stringMatching(
            /^sqlite .*threads\.db: tables of an earlier release, which graph-serve start migrates$/,
          ) as string,
          fix: expect.stringContaining("graph-serve migrate up") as string,
        });
        const { code } = await cli(["migrate", "up", "--db", "./threads.db"], { cwd: project.dir });
        expect(code).toBe(0);
        expect((await checks("--db", "./threads.db")).of("storage").status).toBe("ok");
      },
    );

    itSqlite("fails if a later release wrote it", async () => {
      expect(await storageCheck("sqlite-8.sql", "UPDATE gs_schema SET version = 9999")).toMatchObject({
        code: 1,
        status: "fail",
        detail: expect.stringContaining("a later graph-serve") as string,
        fix: "upgrade graph-serve",
      });
    });
  });

  it("an unreadable storage is reported", async () => {
    await project.put("notes.db", "this is not a database".repeat(100));
    const { code, of } = await checks("--checkpointer-scheme", "sqlite", "--checkpointer-uri", "./notes.db");
    expect(code).toBe(1);
    expect(of("storage")).toMatchObject({ status: "fail", fix: expect.any(String) as string });
  });

  it("warnings exit with code 0", async () => {
    await project.put("graph-server.config.json", {
      graphs: { agent: "./own.ts:graph" },
      checkpointer_scheme: "memory",
    });
    await project.put(
      "own.ts",
      `import { MemorySaver } from "@langchain/langgraph";\n${echoGraph().replace(".compile()", ".compile({ checkpointer: new MemorySaver() })")}`,
    );
    const { code, items, of } = await checks();
    expect(code).toBe(0);
    expect(of("storage").detail).toBe("memory: threads are lost when the server exits");
    expect(items.filter(({ check, status }) => status === "warn" && check !== "node")).toMatchObject([
      { check: "graph agent", fix: "compile it without a checkpointer" },
    ]);
  });

  itSqlite("tracing enabled by the environment is a warning", async () => {
    const { code, stdout, stderr } = await cli(["doctor"], {
      cwd: project.dir,
      env: { LANGSMITH_TRACING: "true" },
    });
    expect(code).toBe(0);
    expect(stdout).toContain(
      "LANGSMITH_TRACING is on: inputs and outputs of every run are sent to LangSmith",
    );
    expect(stderr).toMatch(/^0 errors, [12] warnings?\n$/);
  });
});

describe("individual checks", () => {
  it("a Node.js past its end of life is a warning", () => {
    expect(nodeCheck("20.20.2", ">=20.19")).toMatchObject({
      check: "node",
      status: "warn",
      fix: "install Node.js 24",
    });
  });

  it("an old Node.js version fails", () => {
    expect(nodeCheck("24.1.0", ">=20.19")).toEqual({
      check: "node",
      status: "ok",
      detail: "Node.js 24.1.0",
    });
    expect(nodeCheck("20.9.1", ">=20.19")).toMatchObject({
      status: "fail",
      fix: "install Node.js 20.19 or later",
    });
  });

  it.each([
    ["1.4.0", "^1.4.0", true],
    ["1.10.2", "^1.4.0", true],
    ["1.3.9", "^1.4.0", false],
    ["2.0.0", "^1.4.0", false],
    ["1.4.1-rc.1", "^1.4.0", true],
    ["0.4.9", ">=0.4 <2", true],
    ["1.7.3", ">=0.4 <2", true],
    ["0.3.12", ">=0.4 <2", false],
    ["2.0.0", ">=0.4 <2", false],
  ])("version %s in range %s is %s", (version, range, expected) => {
    expect(isInRange(version, range)).toBe(expected);
  });

  it.each([
    [{ LANGCHAIN_TRACING_V2: "TRUE" }, "warn"],
    [{ LANGSMITH_TRACING: "false" }, "ok"],
    [{}, "ok"],
  ])("the tracing check of %j is %s", (env, expected) => {
    expect(tracingCheck(env).status).toBe(expected);
  });
});
