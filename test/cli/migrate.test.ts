import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import { MONGODB_SCHEMA_VERSION as MONGODB_VERSION } from "../../src/storage/mongodb/schema.js";
import { POSTGRES_SCHEMA_VERSION as POSTGRES_VERSION } from "../../src/storage/postgres/schema.js";
import { SQLITE_SCHEMA_VERSION as SQLITE_VERSION } from "../../src/storage/sqlite/schema.js";
import { withMongodb } from "../helpers/mongodb.js";
import { withOwnSchema } from "../helpers/postgres.js";
import { Database } from "../helpers/sqlite-database.js";
import { cli, createProject, echoGraph, type Project } from "./harness.js";

let project: Project;
beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

const migrate = (...argv: string[]) => cli(["migrate", ...argv], { cwd: project.dir });

async function asked(...argv: string[]): Promise<[number, { items: object[] }]> {
  const { code, stdout } = await migrate(...argv, "--json");
  return [code, JSON.parse(stdout) as { items: object[] }];
}

const part = (name: string, version: number, wanted: number, state: string) => ({
  name,
  version,
  wanted,
  state,
});

describe("migrate on sqlite", () => {
  const at = ["--checkpointer-uri", "./threads.db"];
  const file = () => join(project.dir, "threads.db");

  itSqlite("a missing file is created by up and not by status", async () => {
    expect(await asked("status", ...at)).toMatchObject([
      1,
      {
        scheme: "sqlite",
        location: file(),
        items: [part("tables", 0, SQLITE_VERSION, "missing")],
      },
    ]);
    expect(existsSync(file())).toBe(false);
    expect(await asked("up", ...at)).toMatchObject([0, { items: [{ before: 0 }] }]);
    expect(await asked("up", ...at)).toMatchObject([0, { items: [{ before: SQLITE_VERSION }] }]);
    expect(await asked("status", ...at)).toMatchObject([
      0,
      { items: [part("tables", SQLITE_VERSION, SQLITE_VERSION, "current")] },
    ]);
    expect(readdirSync(project.dir)).toEqual(expect.not.arrayContaining(["threads.db-wal"]));
  });

  itSqlite("text output is a table", async () => {
    const { stdout, stderr } = await migrate("status", ...at);
    expect(stdout).toMatch(/^PART +VERSION +REQUIRED +ACTION\ntables +missing +\d+ +create\n/);
    expect(stderr).toContain("apply: graph-serve migrate up");
    expect((await migrate("up", ...at)).stdout).toMatch(/BEFORE\ntables +\d+ +\d+ +0\n/);
  });

  itSqlite("a file from a later release is rejected", async () => {
    await migrate("up", ...at);
    const db = new Database(file());
    db.exec(`UPDATE gs_schema SET version = ${SQLITE_VERSION + 1}`);
    db.close();
    expect(await asked("status", ...at)).toMatchObject([1, { items: [{ state: "newer" }] }]);
    expect((await migrate("status", ...at)).stderr).toContain("upgrade graph-serve");
    expect((await migrate("up", ...at)).code).toBe(3);
  });

  itSqlite("a command that opens the storage migrates it", async () => {
    await project.put("graph.ts", echoGraph());
    await cli(["run", "./graph.ts", "--message", "hi", "--checkpointer-scheme", "sqlite", ...at], {
      cwd: project.dir,
    });
    expect((await migrate("status", ...at)).code).toBe(0);
  });

  it("scheme memory has nothing to migrate", async () => {
    const { code, stderr } = await migrate("status", "--checkpointer-scheme", "memory");
    expect([code, stderr]).toEqual([0, "memory\nthis storage has no schema versions: nothing to migrate\n"]);
  });
});

withOwnSchema("migrate on postgres", (postgres) => {
  const configure = () => {
    const { max_queued_runs: _, ...settings } = postgres.options();
    return project.put("graph-server.config.json", settings);
  };
  const current = [
    part("rows", POSTGRES_VERSION, POSTGRES_VERSION, "current"),
    part("checkpoints", 5, 5, "current"),
  ];

  it("concurrent migrations create the tables once", async () => {
    await configure();
    expect(await asked("status")).toMatchObject([
      1,
      { items: [part("rows", 0, POSTGRES_VERSION, "missing"), part("checkpoints", 0, 5, "missing")] },
    ]);
    const found = await postgres.sql("SELECT 1 FROM pg_namespace WHERE nspname = $1", [postgres.schema]);
    expect(found).toEqual([]);
    const ups = await Promise.all([1, 2, 3, 4].map(() => migrate("up")));
    expect(ups.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(await asked("status")).toMatchObject([0, { items: current }]);
  });

  it("an unreachable server exits with code 3", async () => {
    const away = ["--checkpointer-uri", "postgresql://postgres@127.0.0.1:1/test"];
    for (const command of ["status", "up"]) expect((await migrate(command, ...away)).code).toBe(3);
  });
});

withMongodb("migrate on mongodb", (mongodb) => {
  it("status changes nothing, and up creates the documents", async () => {
    const at = ["--checkpointer-uri", mongodb().uri];
    expect(await asked("status", ...at)).toMatchObject([
      1,
      { items: [part("documents", 0, MONGODB_VERSION, "missing")] },
    ]);
    for (const { name } of await mongodb().db.listCollections().toArray())
      expect(await mongodb().db.collection(name).findOne({})).toBeNull();
    expect((await migrate("up", ...at)).code).toBe(0);
    expect((await asked("status", ...at))[0]).toBe(0);
  });
});
