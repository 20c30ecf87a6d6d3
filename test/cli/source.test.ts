import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import type { RunningServer } from "../../src/http/listen.js";
import { cli, type CliResult } from "./harness.js";
import { filesOf, seedProject, serveSeeded, type Seeded } from "./seeded.js";

let seeded: Seeded;
beforeAll(async () => {
  seeded = await seedProject();
});
afterAll(() => seeded.project.remove());

const read = (argv: string[]): Promise<CliResult> => cli(argv, { cwd: seeded.project.dir });

/** Every read command, with arguments for the seeded threads. */
const readings = ({ chat, asking, vault, run, fork }: Seeded): string[][] => [
  ["threads", "list"],
  ["threads", "list", "--limit", "2", "--sort", "created_at:asc"],
  ["threads", "list", "--metadata", "user=ada", "--metadata", "count=3"],
  ["threads", "list", "--values", "topic=cats"],
  ["threads", "list", "--status", "busy"],
  ["inspect", "thread", chat],
  ["inspect", "thread", vault],
  ["runs", "list", chat, "--limit", "2"],
  ["runs", "list", asking, "--status", "error"],
  ["inspect", "run", run, "--thread", chat],
  ["inspect", "thread", chat],
  ["inspect", "thread", asking],
  ["inspect", "run", run],
  ["inspect", "checkpoint", chat],
  ["inspect", "checkpoint", chat, "1"],
  ["inspect", "checkpoint", chat, fork],
  ["inspect", "state", chat, "--checkpoint", "-2"],
  ["inspect", "state", chat, "--path", "messages[-1].content"],
  ["history", chat],
  ["history", chat, "--limit", "3"],
  ["history", chat, "--run", run, "--reverse"],
  ["history", chat, "--node", "reply"],
  ["history", chat, "--before", fork],
  ["diff", `${chat}@${fork}`, chat],
  ["diff", `${chat}@0`, `${chat}@-1`, "--format", "json-patch", "--path", "messages"],
];

/** Modification time and hash of the main database file. */
function databaseOf({ project }: Seeded): { time: number; hash: string } {
  const path = join(project.dir, ".graph-serve/dev.db");
  return {
    time: statSync(path).mtimeMs,
    hash: createHash("sha256").update(readFileSync(path)).digest("hex"),
  };
}

describe("offline and through a server", () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await serveSeeded(seeded.project);
  });
  afterAll(() => server.close(0));

  it("the JSON output is identical", async () => {
    for (const argv of readings(seeded)) {
      const offline = await read([...argv, "--json"]);
      const online = await read([...argv, "--json", "--url", server.url]);
      expect({ argv, code: offline.code, stderr: offline.stderr }).toEqual({ argv, code: 0, stderr: "" });
      expect({ argv, ...online }).toEqual({ argv, ...offline });
      expect(() => JSON.parse(offline.stdout) as unknown).not.toThrow();
    }
  });

  it("the error location of a failed run is available only offline", async () => {
    const argv = ["inspect", "thread", seeded.failed];
    const offline = JSON.parse((await read([...argv, "--json"])).stdout) as { fault?: object };
    const online = JSON.parse((await read([...argv, "--json", "--url", server.url])).stdout) as object;
    const { fault, ...others } = offline;
    expect(fault).toMatchObject({ message: "kaboom", location: { line: 6 } });
    expect(online).toEqual(others);
    const { stdout } = await read([...argv, "--url", server.url]);
    expect(stdout).toContain("RangeError: kaboom");
    expect(stdout).not.toContain("throw new");
  });

  it("the text output differs only in the --url flag", async () => {
    for (const argv of readings(seeded)) {
      const offline = await read(argv);
      const online = await read([...argv, "--url", server.url]);
      expect(online.stdout.replace(` --url ${server.url}`, "")).toBe(offline.stdout);
    }
  });

  it.each([
    [["inspect", "thread", "0198c0de-0000-7000-8000-000000000000"], 4, "thread_not_found"],
    [["inspect", "thread", "0198c0de"], 4, "thread_not_found"],
    [["runs", "list", "0198c0de-0000-7000-8000-000000000000"], 4, "thread_not_found"],
    [["inspect", "run", "0198c0de-0000-7000-8000-000000000000"], 4, "run_not_found"],
    [["inspect", "run", "nothing"], 2, "invalid_request"],
    [["inspect", "thread", "not an id"], 2, "invalid_request"],
    [["threads", "list", "--limit", "none"], 2, "invalid_request"],
    [["threads", "list", "--metadata", "user"], 2, "invalid_request"],
    [["threads", "list", "--sort", "age"], 2, "invalid_request"],
    [["threads", "list", "--since", "yesterday"], 2, "invalid_request"],
    [["threads", "list", "--status", "idel"], 2, "invalid_request"],
  ])("%j fails with the same error", async (argv, code, errorCode) => {
    const offline = await read([...argv, "--json"]);
    const online = await read([...argv, "--json", "--url", server.url]);
    expect(offline.code).toBe(code);
    expect(JSON.parse(offline.stdout)).toMatchObject({ error: { code: errorCode } });
    expect(placeless(online)).toEqual(placeless(offline));
  });

  /** The answer without the storage or server that an error names, and the flag for it. */
  const placeless = ({ stdout, ...answer }: Awaited<ReturnType<typeof read>>) => ({
    ...answer,
    stdout: stdout.replace(/ (in sqlite|on http:)[^"]*/, "").replace(/ --url [^"]+/, ""),
  });

  it("an unknown checkpoint fails with the same error", async () => {
    for (const at of ["99", "-99", "0198c0de-0000-6000-8000-000000000000", "abcd"]) {
      const argv = ["inspect", "checkpoint", seeded.chat, at, "--json"];
      const argvOf = at.startsWith("-")
        ? ["inspect", "state", seeded.chat, "--checkpoint", at, "--json"]
        : argv;
      const offline = await read(argvOf);
      expect({ at, code: offline.code }).toEqual({ at, code: 4 });
      expect(placeless(await read([...argvOf, "--url", server.url]))).toEqual(placeless(offline));
    }
  });

  it("--raw is rejected with --url", async () => {
    const { code, stderr } = await read(["threads", "list", "--raw", "--url", server.url]);
    expect(code).toBe(2);
    expect(stderr).toContain("--raw works only offline");
  });
});

describe("read commands", () => {
  it("read commands leave the folder unchanged", async () => {
    const before = filesOf(seeded.project);
    for (const argv of readings(seeded)) {
      expect({ argv, code: (await read(argv)).code }).toEqual({ argv, code: 0 });
      expect(filesOf(seeded.project)).toEqual(before);
    }
  });

  it("read commands leave the folder of a running server unchanged", async () => {
    const server = await serveSeeded(seeded.project);
    try {
      const before = filesOf(seeded.project).map((line) => line.split(" ", 1)[0]);
      const database = databaseOf(seeded);
      for (const argv of readings(seeded)) await read(argv);
      expect(filesOf(seeded.project).map((line) => line.split(" ", 1)[0])).toEqual(before);
      // The server keeps writing its heartbeat to the WAL.
      expect(databaseOf(seeded)).toEqual(database);
    } finally {
      await server.close(0);
    }
    expect(filesOf(seeded.project).map((line) => line.split(" ", 1)[0])).toEqual(["dev.db"]);
  });

  it("an unreachable URL exits with code 3", async () => {
    const { code, stderr } = await read(["threads", "list", "--url", "http://127.0.0.1:9"]);
    expect(code).toBe(3);
    expect(stderr).toContain("cannot be reached");
  });

  it("a missing database exits with code 3", async () => {
    const before = filesOf(seeded.project);
    const { code, stderr } = await read(["threads", "list", "--checkpointer-uri", ".graph-serve/none.db"]);
    expect(code).toBe(3);
    expect(stderr).toContain("there is no database at");
    expect(filesOf(seeded.project)).toEqual(before);
  });

  it("--db with a file implies its scheme", async () => {
    const named = await read(["threads", "list", "--db", ".graph-serve/dev.db", "--json"]);
    expect(named.code).toBe(0);
    expect((JSON.parse(named.stdout) as { items: unknown[] }).items).toHaveLength(4);
  });

  it.each([
    [["--checkpointer-scheme", "postgres"], "--checkpointer-scheme postgres name different storages"],
    [["--checkpointer-uri", "./other.db"], "--checkpointer-uri ./other.db name different storages"],
  ])("--db is rejected if %j names a different storage", async (flags, message) => {
    const { code, stderr } = await read(["threads", "list", "--db", ".graph-serve/dev.db", ...flags]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it.each(["mysql://user:secret@host/name", "sqllite://./threads.db"])(
    "--db %s is rejected with the storages that exist",
    async (uri) => {
      const { code, stderr } = await read(["threads", "list", "--db", uri]);
      expect([code, stderr]).toEqual([
        2,
        `error  --db: there is no storage ${uri.split(":")[0]}\n  fix  name a file such as ./threads.db, a URI of postgres, mongodb or redis, or memory\n`,
      ]);
    },
  );

  it("--db is accepted with the same scheme and URI", async () => {
    const flags = ["--checkpointer-scheme", "sqlite", "--checkpointer-uri", ".graph-serve/dev.db"];
    expect((await read(["threads", "list", "--db", ".graph-serve/dev.db", ...flags])).code).toBe(0);
  });

  it("scheme memory uses the dev server of the folder", async () => {
    const argv = ["threads", "list", "--checkpointer-scheme", "memory", "--json"];
    const alone = await read(argv);
    expect(alone.code).toBe(3);
    expect(alone.stdout).toContain("no dev server is running");
    const server = await serveSeeded(seeded.project);
    await seeded.project.put(".graph-serve/dev.json", { url: server.url, pid: process.pid });
    try {
      const { code, stdout, stderr } = await read(argv);
      expect(code).toBe(0);
      expect(stderr).toContain(`using the dev server at ${server.url}`);
      expect((JSON.parse(stdout) as { items: unknown[] }).items).toHaveLength(4);
    } finally {
      await server.close(0);
      await rm(`${seeded.project.dir}/.graph-serve/dev.json`);
    }
  });
});
