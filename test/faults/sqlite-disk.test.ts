/** SQLite on a full or read-only disk, under a server in a separate process. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { openStorage } from "../../src/storage/open.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { client, startTestServer, type Answer } from "../helpers/app.js";
import { forkProgram } from "../helpers/compiled.js";
import { allEvents } from "../helpers/sse.js";
import { noDisk, TestDisk } from "../helpers/test-disk.js";
import { threadRow } from "../storage/contract/rows.js";
import { Database } from "../helpers/sqlite-database.js";

const MEGABYTES = 4;
const FULL = {
  status: 503,
  body: {
    code: "storage_unavailable",
    detail: expect.stringContaining("the disk of the database is full") as string,
  },
};

if (noDisk) process.stderr.write(`Full and read-only disks are not tested: ${noDisk}.\n`);
const title = noDisk ? `sqlite on a bad disk (skipped: ${noDisk})` : "sqlite on a bad disk";

describe.skipIf(noDisk)(title, () => {
  const disks: TestDisk[] = [];
  const children: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) await kill(child);
    for (const disk of disks.splice(0)) disk.remove();
  });

  function newDisk(): TestDisk {
    const disk = new TestDisk(MEGABYTES);
    disks.push(disk);
    return disk;
  }

  async function kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  async function serve(file: string) {
    const child = await forkProgram("serve-sqlite", [file]);
    children.push(child);
    const [url] = (await once(child, "message")) as [string];
    return { child, ...client(url) };
  }

  const say = (content: string) => ({
    assistant_id: "chat",
    input: { messages: [{ role: "user", content }] },
  });
  const idOf = ({ body }: Answer) => (body as { thread_id: string }).thread_id;

  it("a full disk is reported and no data is lost", { timeout: 120_000 }, async () => {
    const disk = newDisk();
    const { child, request } = await serve(disk.path("store.db"));
    const create = (body: object = {}) => request("POST", "/threads", body);
    const [kept, running] = [idOf(await create({ metadata: { kept: true } })), idOf(await create())];
    expect((await request("POST", `/threads/${kept}/runs`, say("before"))).body).toMatchObject({
      status: "success",
    });

    disk.fill();
    // The write-ahead log may have room for a few more pages.
    const large = { metadata: { text: "x".repeat(200_000) } };
    await expect.poll(() => create(large), { timeout: 30_000 }).toMatchObject(FULL);
    const refused = await request("POST", `/threads/${running}/runs`, say("x".repeat(200_000)));
    expect(refused).toMatchObject(FULL);
    // Reads still work, and the server is alive.
    expect((await request("GET", `/threads/${kept}/state`)).body).toMatchObject({
      values: { messages: [{ content: "before" }, { content: "You said: before" }] },
    });
    expect((await request("GET", "/api/health")).status).toBe(200);
    expect(child.exitCode).toBeNull();
    // The server reports that it is not ready: its next heartbeat cannot be stored.
    const ready = async () => (await request("GET", "/ready")).status;
    await expect.poll(ready, { timeout: 30_000 }).toBe(503);
    expect(await request("GET", "/ready")).toMatchObject(FULL);

    disk.free();
    await expect.poll(ready, { timeout: 30_000 }).toBe(200);
    for (const id of [kept, running]) {
      const run = () => request("POST", `/threads/${id}/runs`, say("after"));
      await expect.poll(run, { timeout: 30_000 }).toMatchObject({ status: 200, body: { status: "success" } });
      expect((await request("GET", `/threads/${id}`)).body).toMatchObject({ status: "idle" });
    }
    expect((await request("POST", "/threads/count", { status: "busy" })).body).toBe(0);
    await kill(child);
    const db = new Database(disk.path("store.db"));
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(db.pragma("foreign_key_check")).toEqual([]);
    db.close();
    const again = await serve(disk.path("store.db"));
    const found = await again.request("POST", "/threads/search", { metadata: { kept: true } });
    expect(found.body).toMatchObject([{ thread_id: kept, status: "idle" }]);
  });

  it("a run on a full disk fails and its thread stays usable", { timeout: 120_000 }, async () => {
    const disk = newDisk();
    const settings = { checkpointer_scheme: "sqlite", checkpointer_uri: disk.path("store.db") };
    const { service, request, fetch } = await startTestServer({ graphs: { chat, gate }, settings });
    const thread = idOf(await request("POST", "/threads", {}));
    const name = newId();
    const body = { assistant_id: "gate", input: { gate: name } };
    const stream = await fetch("POST", `/threads/${thread}/runs/stream`, body);
    await gateOf(name).entered;
    disk.fill();
    gateOf(name).open();
    expect((await allEvents(stream)).at(-1)).toMatchObject({
      event: "error",
      data: { message: "the disk of the database is full" },
    });
    disk.free();
    const count = () => service.threads.count({ status: "busy" });
    await expect.poll(count, { timeout: 30_000 }).toBe(0);
    expect((await request("GET", `/threads/${thread}/runs`)).body).toMatchObject([{ status: "error" }]);
    const next = await request("POST", `/threads/${thread}/runs`, say("after"));
    expect(next.body).toMatchObject({ status: "success" });
  });

  it.each([
    ["file", "store.db", "the database is read-only"],
    ["folder", undefined, "the database file cannot be opened"],
  ])("a read-only %s prevents the start with a clear error", async (_, name, reason) => {
    const disk = newDisk();
    const file = disk.path("store.db");
    const open = () =>
      openStorage({
        checkpointer_scheme: "sqlite",
        checkpointer_uri: file,
        checkpointer_options: {},
        max_queued_runs: 1,
      });
    const thread = threadRow();
    const first = await open();
    await first.threads.insert(thread);
    await first.close();
    disk.makeReadOnly(name);
    await expect(open()).rejects.toMatchObject({
      code: "storage_unavailable",
      exitCode: 3,
      message: `${reason}: ${file}`,
    });
    disk.makeWritable();
    const second = await open();
    expect(await second.threads.get(thread.thread_id)).toEqual(thread);
    await second.close();
  });
});
