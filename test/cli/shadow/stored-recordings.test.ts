/** `recording.where: storage`: the calls of recorded runs are rows of the storage, and shadow runs read them there. */
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { itSqlite } from "../../helpers/with-sqlite.js";
import { openStorage } from "../../../src/storage/open.js";
import type { RecordingTable } from "../../../src/storage/contract/recordings.js";
import type { ShadowResult } from "../../../src/testing/shadow/shadow.js";
import { withMongodb } from "../../helpers/mongodb.js";
import { withOwnSchema } from "../../helpers/postgres.js";
import { Database } from "../../helpers/sqlite-database.js";
import { cli } from "../harness.js";
import { ask, model, project, running, SECRET, start, stopped, useModelProject } from "./model-project.js";

useModelProject();

interface Place {
  checkpointer_scheme: string;
  checkpointer_uri?: string | undefined;
  checkpointer_options: Record<string, unknown>;
}

const configure = (place: Partial<Place>, recording: object = {}, others: object = {}) =>
  project.put("graph-server.config.json", {
    graphs: { agent: "./graph.ts:graph" },
    ...place,
    recording: { where: "storage", ...recording },
    ...others,
  });

async function shadow(...flags: string[]): Promise<ShadowResult[]> {
  const { stdout } = await cli(["shadow", "--json", ...flags], {
    cwd: project.dir,
    env: { MODEL_API_KEY: SECRET },
  });
  return (JSON.parse(stdout) as { items: ShadowResult[] }).items;
}

function recordingTests(place: () => Place): void {
  /** Of the storage, opened beside the server. */
  async function recordings(): Promise<RecordingTable> {
    const storage = await openStorage({ ...place(), cwd: project.dir, max_queued_runs: 9 });
    onTestFinished(() => storage.close());
    return storage.recordings!;
  }

  itSqlite(
    "are read by shadow runs, offline and beside a server, and deleted with their threads",
    async () => {
      const redact = ["\\b\\d{4} \\d{4}\\b"];
      await configure(place(), { redact });
      const url = await start();
      const [kept, deleted] = [await ask(url, "my card is 1234 5678"), await ask(url, "hello")];
      const table = await recordings();
      const rows = () => table.page({ limit: 100, offset: 0 });
      const threads = async () => [...new Set((await rows()).map(({ thread_id }) => thread_id))].sort();
      await expect.poll(threads).toEqual([kept, deleted].sort());
      const text = JSON.stringify(await rows());
      expect(text).toContain("my card is [redacted]");
      expect(text).not.toMatch(new RegExp(`${SECRET}|1234 5678`));
      await fetch(`${url}/threads/${deleted}`, { method: "DELETE" });
      expect(await threads()).toEqual([kept]);
      const asked = model.requests.length;
      expect(await shadow("--url", url)).toMatchObject([{ thread_id: kept, outcome: "same" }]);
      await stopped();
      expect(await shadow()).toMatchObject([{ thread_id: kept, outcome: "same" }]);
      await project.put("graph-server.config.json", {
        graphs: { agent: "./graph.ts:graph" },
        ...{ checkpointer_options: place().checkpointer_options, recording: { where: "storage", redact } },
      });
      const uri = place().checkpointer_uri ?? "";
      expect(await shadow("--db", uri)).toMatchObject([{ thread_id: kept, outcome: "same" }]);
      expect(model.requests).toHaveLength(asked);
    },
  );

  itSqlite("are deleted when their thread expires, and at a start if they are too old", async () => {
    await configure(place(), { keep: "2h" }, { ttl: { sweep_interval_minutes: 0.01 } });
    const url = await start();
    const expiring = await ask(url, "hello", { ttl: 0.000_01 });
    const table = await recordings();
    const count = async () => (await table.page({ limit: 100, offset: 0 })).length;
    await expect
      .poll(async () => (await fetch(`${url}/threads/${expiring}`)).status, { timeout: 20_000 })
      .toBe(404);
    await expect.poll(count).toBe(0);
    const thread = await ask(url, "hello");
    await expect.poll(count).toBe(1);
    await stopped();
    const [row] = await table.page({ limit: 1, offset: 0 });
    expect(row?.thread_id).toBe(thread);
    const at = new Date(Date.now() - 3 * 3_600_000).toISOString();
    await table.add([{ ...row!, at }]);
    expect(await count()).toBe(2);
    await start();
    await expect.poll(count).toBe(1);
    expect(await table.page({ limit: 2, offset: 0 })).toEqual([row]);
  });
}

const inFile = (): Place => ({
  ...{ checkpointer_scheme: "sqlite", checkpointer_uri: join(project.dir, "threads.db") },
  checkpointer_options: {},
});

describe("recordings in sqlite", () => {
  recordingTests(inFile);

  itSqlite("a fault of the storage is logged, and does not fail the run", async () => {
    await configure(inFile());
    const url = await start();
    await ask(url, "hello");
    const db = new Database(join(project.dir, "threads.db"));
    db.exec("DROP TABLE gs_recordings");
    db.close();
    await ask(url, "hello again");
    await running?.stderr.until(/"level":40[^\n]*a recording could not be written or deleted/);
  });

  itSqlite("only a share of threads is recorded", async () => {
    await configure(inFile(), { share: 0.000_000_001 });
    await ask(await start(), "hello");
    await stopped();
    const storage = await openStorage({ ...inFile(), max_queued_runs: 9 });
    onTestFinished(() => storage.close());
    expect(await storage.recordings?.page({ limit: 9, offset: 0 })).toEqual([]);
    expect(await shadow()).toMatchObject([
      { outcome: "unrecorded", reason: expect.stringContaining("the recording of run") as string },
    ]);
  });

  itSqlite(
    "the last call before the server stops is recorded, and recordings are copied by migrate",
    async () => {
      await configure(inFile());
      await ask(await start(), "hello");
      await stopped();
      expect(await shadow()).toMatchObject([{ outcome: "same" }]);
      const { code } = await cli(["migrate", "copy", "--from", "threads.db", "--to", "copy.db"], {
        cwd: project.dir,
      });
      expect(code).toBe(0);
      expect(await shadow("--db", "copy.db")).toMatchObject([{ outcome: "same" }]);
    },
  );
});

withOwnSchema("recordings in postgres", (postgres) => {
  afterEach(() => postgres.drop());
  recordingTests(() => {
    const { max_queued_runs: _, ...place } = postgres.options();
    return place;
  });
});

withMongodb("recordings in mongodb", (mongodb) => {
  beforeEach(() => mongodb().empty());
  recordingTests(() => {
    const { max_queued_runs: _, ...place } = mongodb().options();
    return place;
  });
});

it.each([
  [{ checkpointer_scheme: "memory" }, "memory"],
  [{ checkpointer_scheme: "redis", checkpointer_uri: "redis://127.0.0.1:6379" }, "redis"],
])("a server on the storage %j is refused", async (place, name) => {
  await configure(place);
  const { code, stderr } = await cli(["start", "-p", "0"], { cwd: project.dir });
  expect(code).toBe(2);
  expect(stderr).toContain(`recording.where is storage, and the storage ${name} does not keep recordings`);
  expect(stderr).toContain("set checkpointer_scheme to sqlite or postgres or mongodb");
  const doctor = await cli(["doctor"], { cwd: project.dir });
  expect(doctor.stdout + doctor.stderr).toContain("does not keep recordings");
});

it("a folder with `where: storage` is refused", async () => {
  await configure(inFile(), { folder: "./recordings" });
  const { code, stderr } = await cli(["config", "print"], { cwd: project.dir });
  expect([code, stderr]).toEqual([2, expect.stringContaining("recording.folder has no effect") as string]);
});
