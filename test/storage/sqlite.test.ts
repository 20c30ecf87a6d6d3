import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { afterEach, expect, vi } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { ConfigError, StorageUnavailableError } from "../../src/support/errors.js";
import { THREAD_SORT_FIELDS } from "../../src/models/thread-fields.js";
import { SqliteSaver } from "../../src/storage/sqlite/saver.js";
import { migrateSqlite } from "../../src/storage/sqlite/schema.js";
import { openSqlite } from "../../src/storage/sqlite/open.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { Database, SqliteError } from "../helpers/sqlite-database.js";
import { conformance } from "./conformance.js";
import { storageContract } from "./contract.js";
import { runRow, threadRow, tick } from "./contract/rows.js";
import { tempFolder } from "./temp-folder.js";

const temp = tempFolder();
let files = 0;
const freshFile = () => temp(`${files++}/store.db`);
const opened: Storage[] = [];

async function open(checkpointer_uri: string | undefined, cwd?: string): Promise<Storage> {
  const options = {
    checkpointer_scheme: "sqlite",
    checkpointer_uri,
    checkpointer_options: {},
    max_queued_runs: 2,
    cwd,
  };
  const storage = await openSqlite(options);
  opened.push(storage);
  return storage;
}

afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
});

describe("the contract", () => {
  storageContract("sqlite", () => open(freshFile()), { durable: true });
  storageContract("sqlite", () => open(":memory:"), { durable: false });

  conformance("SqliteSaver", () => {
    const db = new Database(":memory:");
    migrateSqlite(db);
    return new SqliteSaver(db);
  });
});

describe("SQLite file", () => {
  it("journal mode, timeout and foreign keys are set", async () => {
    const file = freshFile();
    const spy = vi.spyOn(Database.prototype, "pragma");
    await open(file);
    const db = spy.mock.contexts[0] as Database;
    const pragma = (name: string) => db.pragma(name, { simple: true });
    expect(pragma("journal_mode")).toBe("wal");
    // The rest of the 10 s is waited outside of SQLite: see ./sqlite-locked.test.ts.
    expect(pragma("busy_timeout")).toBe(5);
    expect(pragma("synchronous")).toBe(1);
    expect(pragma("foreign_keys")).toBe(1);
  });

  it("data survives reopening", async () => {
    const file = freshFile();
    const first = await open(file);
    const thread = threadRow({ metadata: { k: 1 } });
    const run = runRow(thread.thread_id);
    await first.threads.insert(thread);
    await first.runs.insert(run, { updated_at: tick() });
    const config = { configurable: { thread_id: thread.thread_id } };
    await first.checkpointer.put(config, emptyCheckpoint(), { source: "loop", step: 7, parents: {} }, {});
    await first.close();
    opened.length = 0;
    const second = await open(file);
    expect(await second.runs.get(thread.thread_id, run.run_id)).toEqual(run);
    expect(await second.threads.count({ metadata: { k: 1 } })).toBe(1);
    expect((await second.checkpointer.getTuple(config))?.metadata?.step).toBe(7);
  });

  it("two connections see each other's rows", async () => {
    const file = freshFile();
    const [one, two] = [await open(file), await open(file)];
    const thread = threadRow({ metadata: { k: 1 } });
    await one.threads.insert(thread);
    expect(await two.threads.insert(thread)).toBe(false);
    await two.threads.update(thread.thread_id, { updated_at: tick(), mergeMetadata: { l: 2 } });
    expect(await one.threads.count({ metadata: { k: 1, l: 2 } })).toBe(1);
  });

  it("metadata counters stay exact", async () => {
    const file = freshFile();
    const { threads } = await open(file);
    const rows = [threadRow({ metadata: { k: 1, l: 1 } }), threadRow({ metadata: { k: 1 } })];
    for (const row of rows) await threads.insert(row);
    await threads.update(rows[0]!.thread_id, { updated_at: tick(), mergeMetadata: { k: 2 } });
    await threads.delete(rows[1]!.thread_id);
    const db = new Database(file, { readonly: true });
    const rowsOf = db.prepare("SELECT fact, threads FROM gs_facts ORDER BY fact").all() as object[];
    expect(rowsOf.map((row) => Object.values(row) as unknown)).toEqual([
      ["", 1],
      ['["k",2]', 1],
      ['["l",1]', 1],
    ]);
    expect(db.pragma("foreign_key_check")).toEqual([]);
    db.close();
  });

  it("pages are read from an index in order", async () => {
    const { threads } = await open(freshFile());
    await threads.insert(threadRow({ metadata: { k: 1 } }));
    const prepare = vi.spyOn(Database.prototype, "prepare");
    const page = { sortOrder: "desc" as const, limit: 10, offset: 0 };
    for (const sortBy of THREAD_SORT_FIELDS) await threads.search({ ...page, sortBy });
    await threads.search({ ...page, sortBy: "updated_at", metadata: { k: 1 } });
    const db = prepare.mock.contexts[0] as Database;
    const pages = prepare.mock.calls.map(([sql]) => sql).filter((sql) => sql.includes("LIMIT"));
    prepare.mockRestore();
    expect(pages).toHaveLength(THREAD_SORT_FIELDS.length + 1);
    for (const sql of pages) {
      const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all({ limit: 1, offset: 0, fact: "" }) as {
        detail: string;
      }[];
      expect(steps.map(({ detail }) => detail).join("; ")).toMatch(/^(SCAN|SEARCH) \w+ USING ((?!TEMP).)*$/);
    }
  });

  it("a search for runs uses an index on time or thread", async () => {
    const { runs } = await open(freshFile());
    const prepare = vi.spyOn(Database.prototype, "prepare");
    const page = { limit: 1, offset: 0 };
    await runs.search?.(page);
    await runs.search?.({ ...page, status: "error", createdAfter: "2030", createdBefore: "2031" });
    await runs.search?.({ ...page, threadIds: ["x"] });
    const db = prepare.mock.contexts[0] as Database;
    const sql = prepare.mock.calls.map(([text]) => text).filter((text) => text.includes("gs_runs"));
    prepare.mockRestore();
    const values = { ...page, status: "", createdAfter: "", createdBefore: "", threadIds: "[]" };
    const plans = sql.map((text) =>
      (db.prepare(`EXPLAIN QUERY PLAN ${text}`).all(values) as { detail: string }[])
        .map(({ detail }) => detail)
        .join("; "),
    );
    expect(plans).toEqual([
      "SCAN gs_runs USING INDEX gs_runs_created",
      expect.stringMatching(/^SEARCH gs_runs USING INDEX gs_runs_created [^;]*$/),
      expect.stringContaining("SEARCH gs_runs USING INDEX gs_runs_of_thread"),
    ]);
  });

  it("tables of a later release are rejected", async () => {
    const file = freshFile();
    await (await open(file)).close();
    opened.length = 0;
    const db = new Database(file);
    db.exec("UPDATE gs_schema SET version = 99");
    db.close();
    const error = await open(file).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StorageUnavailableError);
    expect(error).toHaveProperty(
      "message",
      expect.stringMatching(/later graph-serve.*version 99.*supports version \d+/),
    );
  });
});

describe("SQLite location", () => {
  const cases = (folder: string): [string, string][] => [
    ["./a.db", "a.db"],
    ["sub/folder/b.db", "sub/folder/b.db"],
    [path.join(folder, "c.db"), "c.db"],
    ["file:./d.db", "d.db"],
    ["file:e.db?mode=rwc", "e.db"],
    [pathToFileURL(path.join(folder, "with space.db")).href, "with space.db"],
    ["file:with%20percent.db", "with percent.db"],
    ["sqlite:///f.db", "f.db"],
    [`sqlite:///${path.join(folder, "g.db")}`, "g.db"],
    ["sqlite:h.db", "h.db"],
  ];

  it("paths and URIs resolve to the file", async () => {
    const folder = temp("locations");
    for (const [uri, file] of cases(folder)) {
      const storage = await open(uri, folder);
      expect([uri, storage.location]).toEqual([uri, path.join(folder, file)]);
      expect(existsSync(path.join(folder, file))).toBe(true);
    }
  });

  it.each([":memory:", "file::memory:", "sqlite://", "sqlite:///:memory:"])(
    "%s is an in-memory database",
    async (uri) => {
      expect(await open(uri)).toMatchObject({ durable: false, location: ":memory:" });
    },
  );

  it.each([undefined, "", "postgres://user:secret@host/db"])(
    "uri %j is rejected with a clear error",
    async (uri) => {
      const error = await open(uri).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ConfigError);
      expect(error).toMatchObject({
        message: "checkpointer_scheme sqlite needs a checkpointer_uri that names its file",
        hint: expect.stringContaining("./graph-serve.db") as string,
      });
    },
  );

  it("a malformed URI is rejected with a clear error", async () => {
    await expect(open("file:%E0%A4%A.db")).rejects.toBeInstanceOf(ConfigError);
  });
});

describe("SQLite errors", () => {
  it("a file in another format is rejected", async () => {
    const file = temp("letter.txt");
    writeFileSync(file, "Dear Sir or Madam, ".repeat(100));
    await expect(open(file)).rejects.toThrow(/^the file is not a SQLite database: .*letter\.txt$/);
    expect(readFileSync(file, "utf8")).toMatch(/^Dear/);
  });

  it("a folder is rejected as a database", async () => {
    await expect(open(temp("."))).rejects.toThrow(/^the database file cannot be opened: /);
  });

  it("a path below a file is rejected", async () => {
    const file = temp("plain.txt");
    writeFileSync(file, "");
    await expect(open(path.join(file, "store.db"))).rejects.toThrow(/^the database file cannot be opened: /);
  });

  it.each([
    ["SQLITE_FULL", "the disk of the database is full"],
    ["SQLITE_READONLY_DBMOVED", "the database is read-only"],
    ["SQLITE_BUSY_SNAPSHOT", "the database is busy: another process has kept it locked for 10 s"],
    ["SQLITE_IOERR_WRITE", "the disk failed to read or write the database"],
    ["SQLITE_ERROR", "the database refused a call"],
  ])("%s has a clear message", async (code, message) => {
    const { threads, checkpointer } = await open(freshFile());
    const failure = new SqliteError("disk path /secret and SQL", code);
    vi.spyOn(SqliteSaver.prototype, "put").mockRejectedValue(failure);
    const config = { configurable: { thread_id: "t" } };
    const put = checkpointer.put(config, emptyCheckpoint(), { source: "loop", step: 0, parents: {} }, {});
    await expect(put).rejects.toMatchObject({ code: "storage_unavailable", message, cause: failure });
    // Locks are waited for: see ./sqlite-locked.slow.test.ts.
    if (code.startsWith("SQLITE_BUSY")) return;
    vi.spyOn(JSON, "stringify").mockImplementationOnce(() => {
      throw failure;
    });
    await expect(threads.insert(threadRow())).rejects.toMatchObject({
      code: "storage_unavailable",
      message,
    });
  });

  it("a read-only database can still be read", async () => {
    const pragma = vi.spyOn(Database.prototype, "pragma");
    const { threads } = await open(freshFile());
    const thread = threadRow();
    await threads.insert(thread);
    (pragma.mock.contexts[0] as Database).pragma("query_only = ON");
    await expect(threads.insert(threadRow())).rejects.toThrow("the database is read-only");
    expect(await threads.get(thread.thread_id)).toEqual(thread);
  });

  it("a closed storage rejects calls", async () => {
    const storage = await open(freshFile());
    await storage.close();
    await expect(storage.threads.get("t")).rejects.toThrow("the storage is closed");
    await expect(storage.checkpointer.getTuple({ configurable: { thread_id: "t" } })).rejects.toThrow(
      "the storage is closed",
    );
  });

  it("errors of the caller are passed on unchanged", async () => {
    const { checkpointer } = await open(freshFile());
    await expect(checkpointer.putWrites({ configurable: {} }, [["a", 1]], "t")).rejects.toThrow(/thread_id/);
  });
});
