/**
 * Stored databases of release 0.1.0, and of the version before runs had a state, are migrated. test/fixtures/storage has
 * them, named by the version of their tables. Each thread and its run are named after the state of the run.
 * The delayed run is due in 2099, so that it is still delayed when the test runs.
 */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import type { RunRow } from "../../src/storage/contract/runs.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { openStorage } from "../../src/storage/open.js";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { withMongodb } from "../helpers/mongodb.js";
import { withOwnSchema } from "../helpers/postgres.js";
import { openTestService } from "../helpers/service.js";
import { Database } from "../helpers/sqlite-database.js";

const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../fixtures/storage", name), "utf8");

const KEPT = { unattended: true, isWhole: true, caller: null, spent_ms: 0 };
const NAMES = ["ended", "running", "queued", "requeued", "delayed", "dead", "local", "starting"] as const;
const STATES: Record<(typeof NAMES)[number], Partial<RunRow>> = {
  ended: { state: "ended", owner: "server-1", attempt: 1, resumption: null },
  running: {
    state: "running",
    owner: "server-1",
    attempt: 3,
    resumption: { ...KEPT, requeued: 2, frames: "all" },
  },
  queued: { state: "queued", owner: null, attempt: 0, resumption: { ...KEPT, frames: "none" } },
  requeued: { state: "queued", owner: null, attempt: 1, resumption: { ...KEPT, requeued: 1, spent_ms: 40 } },
  delayed: { state: "delayed", owner: null, attempt: 0, resumption: null },
  dead: { state: "dead", owner: "server-1", attempt: 3, resumption: { ...KEPT, requeued: 1 } },
  local: { state: "queued", owner: "server-1", attempt: 0, resumption: KEPT },
  starting: { state: "running", owner: "server-1", attempt: 1, resumption: KEPT },
};

const threadOf = (name: (typeof NAMES)[number]) =>
  `10000000-0000-4000-8000-00000000000${NAMES.indexOf(name) + 1}`;

async function expectStates(storage: Storage): Promise<void> {
  for (const name of NAMES) {
    const [run] = await storage.runs.list({ threadId: threadOf(name), limit: 1, offset: 0 });
    expect({ name, ...run }).toMatchObject({ name, ...STATES[name] });
  }
  const unfinished = await storage.runs.unfinished();
  expect(unfinished.map(({ thread_id }) => thread_id).sort()).toEqual(
    (["running", "queued", "requeued", "local", "starting"] as const).map(threadOf).sort(),
  );
  expect(await storage.deadRuns?.count()).toBe(1);
  const [run] = await storage.runs.list({ threadId: threadOf("ended"), limit: 1, offset: 0 });
  const { run_id = "", thread_id = "" } = run ?? {};
  const call = { run_id, thread_id, at: "2026-01-01T00:00:00.000Z", seq: 1, call: { kind: "model" } };
  await storage.recordings?.add([call]);
  expect(await storage.recordings?.list(run_id)).toEqual([call]);
}

/** The thread of a run of 0.1.0, which stored neither the scope of a user nor the graphs of a thread. */
async function expectUnowned({ threads }: Storage, threadId: string): Promise<void> {
  const thread = await threads.get(threadId);
  expect(thread).toMatchObject({ scope: null, graphs: null });
  const owned = { updated_at: new Date().toISOString(), scope: "ann", graphs: ["agent"] };
  expect(await threads.update(threadId, owned)).toEqual({ ...thread, ...owned });
}

const aLiveOwner = { id: "server-2", host: hostname(), pid: process.pid };
const REFUSED = new RegExp(
  `cannot be migrated while processes of an earlier release use the storage: pid ${process.pid} on `,
);

describe("sqlite", () => {
  async function place(sql: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "earlier-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, "threads.db");
    const db = new Database(file);
    db.exec(sql);
    db.close();
    return file;
  }
  const settings = (file: string) => ({
    ...{ checkpointer_scheme: "sqlite", checkpointer_uri: file, checkpointer_options: {} },
    max_queued_runs: 9,
  });

  itSqlite("every run gets its state", async () => {
    const storage = await openStorage(settings(await place(fixture("sqlite-8.sql"))));
    onTestFinished(() => storage.close());
    await expectStates(storage);
  });

  itSqlite("a file of 0.1.0 is backed up, and its runs have ended", async () => {
    const file = await place(fixture("threads-0.1.0.sql"));
    const storage = await openStorage(settings(file));
    onTestFinished(() => storage.close());
    const copy = `${file}.v1.bak`;
    expect(storage.notices).toEqual([expect.stringContaining(`backup of the previous file: ${copy}`)]);
    const threadId = "11111111-1111-4111-8111-111111111111";
    const backup = new Database(copy, { readonly: true });
    onTestFinished(() => void backup.close());
    expect(backup.prepare("SELECT version FROM gs_schema").pluck().get()).toBe(1);
    expect(backup.prepare("SELECT thread_id FROM gs_threads").pluck().all()).toEqual([threadId]);
    const [run, ...others] = await storage.runs.list({ threadId, limit: 9, offset: 0 });
    expect(run).toMatchObject({ state: "ended", attempt: 1, resumption: null, status: "success" });
    expect(others).toEqual([]);
    await expectUnowned(storage, threadId);
    const again = await openStorage(settings(file));
    onTestFinished(() => again.close());
    expect(again.notices).toEqual([]);
  });

  itSqlite("a failed run that never started is not dead", async () => {
    const earlier = "DROP INDEX gs_runs_dead; UPDATE gs_schema SET version = 7;";
    const storage = await openStorage(settings(await place(`${fixture("sqlite-8.sql")}${earlier}`)));
    onTestFinished(() => storage.close());
    expect(await storage.deadRuns?.count()).toBe(0);
  });

  itSqlite(
    "a file that a process of the earlier release uses is refused, and no backup is made",
    async () => {
      const file = await place(fixture("sqlite-8.sql"));
      const db = new Database(file);
      const seen_at = new Date().toISOString();
      db.prepare("INSERT INTO gs_owners VALUES (@id, @host, @pid, @seen_at)").run({ ...aLiveOwner, seen_at });
      const refused = openStorage(settings(file));
      await expect(refused).rejects.toThrow(REFUSED);
      await expect(refused).rejects.toBeInstanceOf(StorageUnavailableError);
      expect(db.prepare("SELECT version FROM gs_schema").pluck().get()).toBe(8);
      db.prepare("DELETE FROM gs_owners WHERE id = ?").run(aLiveOwner.id);
      db.close();
      const storage = await openStorage(settings(file));
      onTestFinished(() => storage.close());
      expect(storage.notices).toEqual([expect.stringContaining("threads.db.v8.bak")]);
      await expectStates(storage);
    },
  );

  itSqlite("a statement of a process of the earlier release fails", async () => {
    const file = await place(fixture("sqlite-8.sql"));
    const db = new Database(file);
    onTestFinished(() => void db.close());
    const storage = await openStorage(settings(file));
    onTestFinished(() => storage.close());
    const end = "UPDATE gs_runs SET status = 'success' WHERE status = 'running'";
    expect(() => db.exec(end)).toThrow(/CHECK constraint failed/);
  });
});

withOwnSchema("postgres", (postgres) => {
  const s = `"${postgres.schema}"`;
  afterEach(async () => {
    await postgres.close();
    await postgres.drop();
  });
  const place = (name: string) =>
    postgres.sql(fixture(name).replaceAll("stored.", `${s}.`).replace("SCHEMA stored", `SCHEMA ${s}`));

  itSqlite("every run gets its state", async () => {
    await place("postgres-11.sql");
    const storage = await postgres.open();
    await expectStates(storage);
    const queue = await storage.openQueue!(process.cwd());
    const suspect = await queue.fetchSuspect();
    const ready = [...(await queue.fetch(9)), ...(suspect ? [suspect] : [])];
    expect(ready.map(({ thread_id }) => thread_id).sort()).toEqual(
      (["queued", "requeued"] as const).map(threadOf).sort(),
    );
  });

  it("no run is lost: the next release resumes those of the stopped one", async () => {
    await place("postgres-11.sql");
    const { max_queued_runs: _, ...settings } = postgres.options();
    const graphs = { agent: chat };
    const service = await openTestService({
      graphs,
      settings: { ...settings, queue: "postgres", stream: "postgres", delayed_runs: true },
    });
    for (const name of ["running", "queued", "requeued", "local", "starting"] as const) {
      const status = async () => (await service.runs.list(threadOf(name), {}))[0]?.status;
      await expect.poll(status, { timeout: 20_000 }).toBe("success");
    }
    const [delayed] = await service.runs.list(threadOf("delayed"), {});
    expect(delayed).toMatchObject({ status: "pending" });
    await service.runs.cancel(threadOf("delayed"), String(delayed?.run_id));
    expect((await service.deadRuns.list({})).items).toMatchObject([{ thread_id: threadOf("dead") }]);
    // Before its schema is dropped: its queue would create the schema again.
    await service.close(0);
  });

  it("runs of 0.1.0 have ended, or are interrupted", async () => {
    await place("postgres-2.sql");
    const storage = await postgres.open();
    const { runs, deadRuns } = storage;
    const stateOf = async (n: number) =>
      (await runs.list({ threadId: `10000000-0000-4000-8000-00000000000${n}`, limit: 1, offset: 0 }))[0]
        ?.state;
    expect(await Promise.all([1, 2, 3, 4].map(stateOf))).toEqual(["ended", "running", "running", "ended"]);
    expect(await deadRuns?.count()).toBe(0);
    await expectUnowned(storage, threadOf("ended"));
  });

  itSqlite("a failed run that never started is not dead", async () => {
    await place("postgres-11.sql");
    await postgres.sql(`DROP INDEX ${s}.gs_runs_dead, ${s}.gs_runs_waiting_of, ${s}.gs_runs_in_flight_of`);
    await postgres.sql(`UPDATE ${s}.gs_schema SET version = 9`);
    const { deadRuns } = await postgres.open();
    expect(await deadRuns?.count()).toBe(0);
  });

  it("a schema that a process of the earlier release uses is refused", async () => {
    await place("postgres-11.sql");
    const owner = [aLiveOwner.id, aLiveOwner.host, aLiveOwner.pid, new Date().toISOString()];
    await postgres.sql(`INSERT INTO ${s}.gs_owners VALUES ($1, $2, $3, $4)`, owner);
    await expect(postgres.open()).rejects.toThrow(REFUSED);
    expect(await postgres.sql(`SELECT version FROM ${s}.gs_schema`)).toEqual([{ version: 11 }]);
    await postgres.sql(`DELETE FROM ${s}.gs_owners WHERE id = $1`, [aLiveOwner.id]);
    await expectStates(await postgres.open());
  });

  itSqlite("a statement of a process of the earlier release fails", async () => {
    await place("postgres-11.sql");
    await postgres.open();
    const end = `UPDATE ${s}.gs_runs SET status = 'success' WHERE status = 'running'`;
    await expect(postgres.sql(end)).rejects.toThrow(/gs_runs_state/);
    const insert = `INSERT INTO ${s}.gs_runs (run_id, thread_id, assistant_id, created_at, updated_at, status, metadata,
      kwargs, multitask_strategy, owner) VALUES ('new', $1, 'agent', '', '', 'pending', '{}', '{}', 'enqueue', '')`;
    await expect(postgres.sql(insert, [threadOf("ended")])).rejects.toThrow(/"state"/);
  });
});

withMongodb("mongodb", (mongodb) => {
  type Documents = Record<string, { _id: string }[]>;
  async function place(documents: Documents): Promise<void> {
    await mongodb().empty();
    for (const [name, rows] of Object.entries(documents))
      await mongodb().db.collection<{ _id: string }>(name).insertMany(rows);
  }
  const stored = () => JSON.parse(fixture("mongodb-5.json")) as Documents;
  afterEach(() => mongodb().close());

  itSqlite("every run gets its state", async () => {
    await place(stored());
    await expectStates(await mongodb().open());
    await mongodb().close();
    await expectStates(await mongodb().open());
  });

  it("an end that is stored in the thread only is completed", async () => {
    const documents = stored();
    const patch = { updated_at: "2026-11-24T19:01:00.000Z", status: "success", resumption: null };
    const settled = { run_id: "20000000-0000-4000-8000-000000000002", patch };
    Object.assign(documents.gs_threads![1]!, { settled });
    await place(documents);
    const { runs } = await mongodb().open();
    const thread = { updated_at: patch.updated_at };
    const again = {
      runId: settled.run_id,
      run: { updated_at: patch.updated_at },
      threadId: threadOf("running"),
      thread,
    };
    await runs.settle([again]);
    expect(await runs.get(threadOf("running"), settled.run_id)).toMatchObject({
      state: "ended",
      status: "success",
    });
  });

  it("runs of 0.1.0 have ended, or are interrupted", async () => {
    const documents = stored();
    for (const run of documents.gs_runs!) {
      Object.assign(run, { owner: "server-1" });
      for (const field of ["fault", "attempt", "resumption", "tasks"]) Reflect.deleteProperty(run, field);
    }
    documents.gs_schema = [{ _id: "version", version: 1 } as { _id: string }];
    await place(documents);
    const storage = await mongodb().open();
    const { runs, deadRuns } = storage;
    const stateOf = async (name: (typeof NAMES)[number]) =>
      (await runs.list({ threadId: threadOf(name), limit: 1, offset: 0 }))[0];
    expect(await stateOf("ended")).toMatchObject({ state: "ended", attempt: 1, resumption: null });
    expect(await stateOf("running")).toMatchObject({ state: "running", attempt: 1, resumption: null });
    expect(await stateOf("local")).toMatchObject({ state: "running", attempt: 1 });
    expect(await deadRuns?.count()).toBe(0);
    await expectUnowned(storage, threadOf("ended"));
  });

  itSqlite("a failed run that never started is not dead", async () => {
    await place({ ...stored(), gs_schema: [{ _id: "version", version: 4 } as { _id: string }] });
    const { deadRuns } = await mongodb().open();
    expect(await deadRuns?.count()).toBe(0);
  });

  it("a database that a process of the earlier release uses is refused", async () => {
    const documents = stored();
    const { id: _id, ...owner } = aLiveOwner;
    documents.gs_owners?.push({ _id, ...owner, seen_at: new Date().toISOString() } as { _id: string });
    await place(documents);
    await expect(mongodb().open()).rejects.toThrow(REFUSED);
  });
});
