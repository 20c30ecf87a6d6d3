import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { afterEach, expect } from "vitest";
import { forkProgram } from "../helpers/compiled.js";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { openSqlite } from "../../src/storage/sqlite/open.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { Database } from "../helpers/sqlite-database.js";
import { runRow, threadRow, tick } from "./contract/rows.js";
import { tempFolder } from "./temp-folder.js";

const temp = tempFolder();
let files = 0;
const freshFile = () => temp(`read-only-${files++}/store.db`);
const opened: Storage[] = [];
const kills: (() => void)[] = [];
afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
  for (const kill of kills.splice(0)) kill();
});

async function open(file: string, readOnly: boolean): Promise<Storage> {
  const storage = await openSqlite({
    checkpointer_scheme: "sqlite",
    checkpointer_uri: file,
    checkpointer_options: {},
    max_queued_runs: 1,
    readOnly,
  });
  if (readOnly) opened.push(storage);
  return storage;
}

/** Creates and closes a database with one thread, its run and its checkpoint. */
async function written(file = freshFile()) {
  const storage = await open(file, false);
  const thread = threadRow();
  await storage.threads.insert(thread);
  await storage.runs.insert(runRow(thread.thread_id), { updated_at: tick() });
  const config = { configurable: { thread_id: thread.thread_id } };
  await storage.checkpointer.put(config, emptyCheckpoint(), { source: "loop", step: 0, parents: {} }, {});
  await storage.close();
  return { file, threadId: thread.thread_id };
}

async function readAll(storage: Storage, threadId: string) {
  const query = { sortBy: "updated_at", sortOrder: "desc", limit: 10, offset: 0 } as const;
  const tuples: unknown[] = [];
  for await (const tuple of storage.checkpointer.list({ configurable: { thread_id: threadId } }))
    tuples.push(tuple);
  return {
    thread: await storage.threads.get(threadId),
    total: (await storage.threads.search(query)).total,
    runs: await storage.runs.list({ threadId, limit: 10, offset: 0 }),
    tuple: await storage.checkpointer.getTuple({ configurable: { thread_id: threadId } }),
    tuples,
  };
}

/** Size, modification time and hash of each file in the folder. */
function filesBeside(file: string): Record<string, string> {
  const folder = dirname(file);
  const described = readdirSync(folder).map((name): [string, string] => {
    const { size, mtimeMs } = statSync(join(folder, name));
    const hash = createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex");
    return [name, `${size} ${mtimeMs} ${hash}`];
  });
  return Object.fromEntries(described);
}

/** Starts a process that writes to the file; `acknowledged` lists the threads it has reported as stored. */
async function startWriter(file: string) {
  const child = await forkProgram("sqlite-writer", [file], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  kills.push(() => child.kill("SIGKILL"));
  const acknowledged: string[] = [];
  let reached: () => void = () => undefined;
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  lines.on("line", (line) => {
    acknowledged.push(line.split(" ")[0] ?? "");
    reached();
  });
  return {
    acknowledged,
    async writes(count: number) {
      const goal = acknowledged.length + count;
      while (acknowledged.length < goal) await new Promise<void>((resolve) => (reached = resolve));
    },
    async kill() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

describe("a read-only SQLite storage", () => {
  it("changes no file when no server is running", async () => {
    const { file, threadId } = await written();
    const before = filesBeside(file);
    const storage = await open(file, true);
    const read = await readAll(storage, threadId);
    expect(read).toMatchObject({ thread: { thread_id: threadId }, total: 1, runs: [{}], tuples: [{}] });
    expect(read.tuple).toBeDefined();
    await opened.pop()?.close();
    expect(filesBeside(file)).toEqual(before);
  });

  it("two concurrent readers leave no files", async () => {
    const { file, threadId } = await written();
    const before = filesBeside(file);
    const [one, two] = [await open(file, true), await open(file, true)];
    await readAll(one, threadId);
    await one.close();
    expect((await readAll(two, threadId)).total).toBe(1);
    await two.close();
    opened.length = 0;
    expect(filesBeside(file)).toEqual(before);
  });

  it("sees the data of a running server", async () => {
    const file = freshFile();
    mkdirSync(dirname(file), { recursive: true });
    const writer = await startWriter(file);
    for (let round = 0; round < 10; round++) {
      await writer.writes(20);
      const known = [...writer.acknowledged];
      const storage = await open(file, true);
      for (const id of known.slice(-5))
        expect(await readAll(storage, id)).toMatchObject({ runs: [{}], tuples: [{}] });
      await opened.pop()?.close();
    }
    // The readers did not block the writer.
    await writer.writes(20);
    expect(Object.keys(filesBeside(file)).sort()).toEqual(["store.db", "store.db-shm", "store.db-wal"]);
  });

  it("keeps the data of a killed server", async () => {
    const file = freshFile();
    mkdirSync(dirname(file), { recursive: true });
    const writer = await startWriter(file);
    await writer.writes(50);
    await writer.kill();
    const { "store.db-shm": _before, ...before } = filesBeside(file);
    expect(before["store.db-wal"]).toBeDefined();
    const storage = await open(file, true);
    for (const id of writer.acknowledged) expect((await readAll(storage, id)).runs).toHaveLength(1);
    await opened.pop()?.close();
    // The WAL index holds no data: every reader rebuilds it.
    const { "store.db-shm": _after, ...after } = filesBeside(file);
    expect(after).toEqual(before);
  });

  it("rejects writes", async () => {
    const { file, threadId } = await written();
    const { threads, checkpointer } = await open(file, true);
    const refused = { code: "storage_unavailable", message: "the database is read-only" };
    await expect(threads.insert(threadRow())).rejects.toMatchObject(refused);
    await expect(threads.delete(threadId)).rejects.toMatchObject(refused);
    await expect(checkpointer.deleteThread(threadId)).rejects.toMatchObject(refused);
  });

  it("creates no file and no folder", async () => {
    const file = freshFile();
    await expect(open(file, true)).rejects.toMatchObject({
      code: "storage_unavailable",
      message: `there is no database at ${file}`,
    });
    expect(() => statSync(dirname(file))).toThrow("ENOENT");
  });

  it("rejects a database of another application", async () => {
    const file = freshFile();
    mkdirSync(dirname(file), { recursive: true });
    const db = new Database(file);
    db.exec("CREATE TABLE notes (text)");
    db.close();
    await expect(open(file, true)).rejects.toThrow("holds no threads of graph-serve");
  });

  it.each([
    [99, "a later"],
    [0, "an earlier"],
  ])("rejects a database of version %i", async (version, release) => {
    const { file } = await written();
    const db = new Database(file);
    db.prepare("UPDATE gs_schema SET version = ?").run(version);
    db.close();
    await expect(open(file, true)).rejects.toThrow(`was written by ${release} graph-serve`);
  });
});
