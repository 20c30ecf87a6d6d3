import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import type { StoragePlace } from "../../src/service/migration.js";
import { withMongodb } from "../helpers/mongodb.js";
import { withPostgres } from "../helpers/postgres.js";
import { withRedis } from "../helpers/redis.js";
import { cli, createProject, type CliResult, type Project } from "./harness.js";
import { goOn, makeTravellers, onStorage, portraits, type Travellers } from "./travellers.js";

/** Timeout in milliseconds of tests that open four storages and read them completely. */
const TRIP_MS = 120_000;

let project: Project;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => project.remove());

const sqlite = (name: string): StoragePlace => ({
  checkpointer_scheme: "sqlite",
  checkpointer_uri: join(project.dir, name),
  checkpointer_options: {},
});

const flagsOf = (side: "from" | "to", place: StoragePlace): string[] => [
  `--${side}`,
  place.checkpointer_uri ?? "",
  `--${side}-scheme`,
  place.checkpointer_scheme,
  `--${side}-options`,
  JSON.stringify(place.checkpointer_options),
];

const copy = (from: StoragePlace, to: StoragePlace, ...more: string[]): Promise<CliResult> =>
  cli(["migrate", "copy", ...flagsOf("from", from), ...flagsOf("to", to), ...more], { cwd: project.dir });

async function copied(
  from: StoragePlace,
  to: StoragePlace,
  ...more: string[]
): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await copy(from, to, ...more, "--json");
  expect([code, withoutProgress(stderr)]).toEqual([0, ""]);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** A copy that takes long prints lines such as "2 of 5 threads, 30 checkpoints". */
const withoutProgress = (stderr: string): string =>
  stderr.replaceAll(/^.*\d+ of \d+ threads, \d+ checkpoints\n/gm, "");

let files = 0;
const freshFile = () => sqlite(`file-${(files += 1)}.db`);

/** Creates a storage with the test threads, and returns what it shows of them. */
async function depart(): Promise<{ from: StoragePlace; ids: Travellers; shown: unknown }> {
  const from = freshFile();
  return onStorage(from, async (service) => {
    const ids = await makeTravellers(service);
    return { from, ids, shown: await portraits(service, ids) };
  });
}

const show = (place: StoragePlace, ids: Travellers) => onStorage(place, (service) => portraits(service, ids));

/** Copying makes the channel versions of branches unique; only the branches' own checkpoints show the difference. */
function roundTrips(to: () => StoragePlace): void {
  it("threads are unchanged after a copy there and back", { timeout: TRIP_MS }, async () => {
    const { from, ids, shown } = await depart();
    const report = await copied(from, to());
    expect(report).toMatchObject({
      threads: { total: 5, copied: 5, current: 0 },
      runs: { total: 5, copied: 5 },
      items: { total: 2, copied: 2 },
      left: [],
    });
    expect(await show(to(), ids)).toEqual(shown);
    const back = freshFile();
    await copied(to(), back);
    expect(await show(back, ids)).toEqual(shown);
    await onStorage(back, (service) => goOn(service, ids));
  });

  it("crons and delayed runs are copied and fire in the target", { timeout: TRIP_MS }, async () => {
    const from = freshFile();
    const timed = { crons: true, delayed_runs: true };
    const request = { assistant_id: "chat", input: { messages: [{ role: "user", content: "later" }] } };
    const ids = await onStorage(
      from,
      async (service) => {
        const { thread_id } = await service.threads.create({});
        const { cron_id } = await service.crons.create({ ...request, schedule: "0 0 1 1 *" }, thread_id);
        const { run_id } = await service.runs.background(thread_id, { ...request, after_seconds: 3600 });
        return { thread_id, cron_id, run_id };
      },
      timed,
    );
    expect(await copied(from, to())).toMatchObject({ timers: { total: 2, copied: 2 } });
    expect(await copied(from, to())).toMatchObject({ timers: { copied: 0 } });
    await onStorage(
      to(),
      async (service) => {
        const found = (await service.crons.search({ thread_id: ids.thread_id })).items;
        expect(found.map(({ cron_id }) => cron_id)).toEqual([ids.cron_id]);
        expect((await service.runs.get(ids.thread_id, ids.run_id)).status).toBe("pending");
        await service.fireDue(new Date(Date.now() + 3_601_000).toISOString());
        await (
          await service.runs.join(ids.thread_id, ids.run_id)
        ).answer;
        expect((await service.runs.get(ids.thread_id, ids.run_id)).status).toBe("success");
      },
      timed,
    );
  });

  it("assistants of clients are copied with their versions", { timeout: TRIP_MS }, async () => {
    const from = freshFile();
    const managed = { assistants: "managed" } as const;
    const id = await onStorage(
      from,
      async ({ managedAssistants }) => {
        const first = { graph_id: "steps", name: "Ada", metadata: { team: "house" } };
        const { assistant_id } = await managedAssistants.create(first);
        await managedAssistants.update(assistant_id, { name: "Bea", context: { tone: "dry" } });
        await managedAssistants.setLatest(assistant_id, 1);
        return assistant_id;
      },
      managed,
    );
    const shown = (place: StoragePlace) =>
      onStorage(
        place,
        async ({ assistants, managedAssistants }) => ({
          found: (await assistants.search({ metadata: { team: "house" } })).items,
          versions: await managedAssistants.versions(id),
        }),
        managed,
      );
    expect(await copied(from, to())).toMatchObject({
      assistants: { total: 1, copied: 1 },
      timers: { total: 0 },
    });
    expect(await copied(from, to())).toMatchObject({ assistants: { total: 1, copied: 0 } });
    const before = await shown(from);
    expect(before.found).toMatchObject([{ assistant_id: id, name: "Ada", version: 1 }]);
    expect(before.versions.map(({ version, name }) => [version, name])).toEqual([
      [2, "Bea"],
      [1, "Ada"],
    ]);
    expect(await shown(to())).toEqual(before);
    // A change of the source is copied; one that the target also changed is kept unless --overwrite is set.
    const rename = (place: StoragePlace, name: string) =>
      onStorage(place, ({ managedAssistants }) => managedAssistants.update(id, { name }), managed);
    await rename(from, "Cleo");
    expect(await copied(from, to())).toMatchObject({ assistants: { total: 1, copied: 1 } });
    expect((await shown(to())).found).toMatchObject([{ name: "Cleo", version: 3 }]);
    await rename(to(), "Mine");
    await rename(from, "Dora");
    const refused = await copy(from, to(), "--json");
    expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([
      5,
      { assistants: { total: 0 }, left_assistants: [{ assistant_id: id, reason: "exists" }] },
    ]);
    expect(refused.stderr).toContain(`assistant ${id} was skipped: the target has a different one`);
    await copied(from, to(), "--overwrite");
    expect(await shown(to())).toEqual(await shown(from));
    await onStorage(
      to(),
      async ({ managedAssistants, threads, runs }) => {
        const { thread_id } = await threads.create({});
        await runs.create(thread_id, { assistant_id: id, input: { log: ["in"] } });
        expect((await threads.get(thread_id)).metadata).toMatchObject({
          assistant_id: id,
          graph_id: "steps",
        });
        await managedAssistants.delete(id);
      },
      managed,
    );
  });

  it("interrupted and failed runs resume in the target", { timeout: TRIP_MS }, async () => {
    const { from, ids } = await depart();
    await copied(from, to());
    await onStorage(to(), (service) => goOn(service, ids));
  });
}

withPostgres("migrate copy to postgres", (postgres) => {
  const { checkpointer_scheme, checkpointer_uri, checkpointer_options } = postgres.options();
  const to = { checkpointer_scheme, checkpointer_uri, checkpointer_options };
  beforeEach(() => postgres.empty());
  roundTrips(() => to);
});

withMongodb("migrate copy to mongodb", (mongodb) => {
  beforeEach(async () => {
    await mongodb().open();
    await mongodb().close();
    await mongodb().empty();
  });
  roundTrips(() => ({
    checkpointer_scheme: "mongodb",
    checkpointer_uri: mongodb().uri,
    checkpointer_options: {},
  }));
});

withPostgres("migrate copy from sqlite via postgres to mongodb", (postgres) => {
  withMongodb("and a second file", (mongodb) => {
    it("all four storages show the same threads", { timeout: TRIP_MS }, async () => {
      const { from, ids, shown } = await depart();
      const { checkpointer_scheme, checkpointer_uri, checkpointer_options } = postgres.options();
      const second = { checkpointer_scheme, checkpointer_uri, checkpointer_options };
      const third = freshFile();
      const fourth = {
        checkpointer_scheme: "mongodb",
        checkpointer_uri: mongodb().uri,
        checkpointer_options: {},
      };
      await copied(from, second);
      await copied(second, third);
      await copied(third, fourth);
      expect(await show(fourth, ids)).toEqual(shown);
      await onStorage(fourth, (service) => goOn(service, ids));
    });
  });
});

withRedis("migrate copy to redis", (redis) => {
  afterEach(() => redis.empty());

  it("checkpoints are copied, rows are not", async () => {
    const { from, ids } = await depart();
    const { checkpointer_scheme, checkpointer_uri, checkpointer_options } = redis.options();
    const to = { checkpointer_scheme, checkpointer_uri, checkpointer_options };
    const { code, stdout, stderr } = await copy(from, to, "--json");
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { threads: { copied: 5 } }]);
    expect(stderr).toContain("stores only checkpoints, not threads and runs");
    await onStorage(to, async ({ threads, state, runs }) => {
      await threads.create({ thread_id: ids.nested, metadata: { graph_id: "nested" } });
      expect((await state.get(ids.nested)).next).toEqual(["child"]);
      await runs.create(ids.nested, { assistant_id: "nested", command: { resume: "yes" } });
      expect((await state.get(ids.nested)).next).toEqual([]);
    });
  });
});

describe("migrate copy", () => {
  it("a second copy finds everything up to date", async () => {
    const [{ from }, to] = [await depart(), freshFile()];
    await copied(from, to);
    expect(await copied(from, to)).toMatchObject({
      threads: { total: 5, copied: 0, current: 5 },
      runs: { copied: 0 },
      checkpoints: { copied: 0 },
      items: { copied: 0 },
    });
  });

  it("a second copy transfers only the changes", async () => {
    const [{ from, ids }, to] = [await depart(), freshFile()];
    await copied(from, to);
    const shown = await onStorage(from, async (service) => {
      await goOn(service, ids);
      await service.threads.update(ids.empty, { metadata: { more: true } });
      await service.store.put({ namespace: ["users"], key: "plain", value: { n: 2 } });
      return portraits(service, ids);
    });
    expect(await copied(from, to)).toMatchObject({
      threads: { copied: 5 },
      runs: { copied: 4 },
      items: { copied: 1 },
    });
    expect(await show(to, ids)).toEqual(shown);
  });

  it("a thread that changed in the target is kept unless --overwrite is set", async () => {
    const [{ from, ids, shown }, to] = [await depart(), freshFile()];
    await copied(from, to);
    await onStorage(to, ({ threads }) => threads.update(ids.chat, { metadata: { title: "mine" } }));
    const refused = await copy(from, to, "--json");
    expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([
      5,
      { threads: { current: 4 }, left: [{ thread_id: ids.chat, reason: "exists" }] },
    ]);
    expect(refused.stderr).toContain("--overwrite");
    await copied(from, to, "--overwrite");
    expect(await show(to, ids)).toEqual(shown);
  });

  it("a busy thread is skipped and reported, and the others are copied", async () => {
    const [{ from, ids }, to] = [await depart(), freshFile()];
    const { openStorage } = await import("../../src/storage/open.js");
    const storage = await openStorage({ ...from, max_queued_runs: 1 });
    const updated_at = new Date().toISOString();
    await storage.threads.update(ids.nested, { updated_at, status: "busy" });
    await storage.close();
    const { code, stdout, stderr } = await copy(from, to);
    expect(code).toBe(5);
    expect(stdout).toMatch(/threads +4 +0 +1/);
    expect(stderr).toContain(`thread ${ids.nested} was skipped: a run is in flight on it`);
    expect(stderr).toContain("recover --apply");
  });

  it("the source is not changed", async () => {
    const { from, ids, shown } = await depart();
    await copied(from, freshFile());
    expect(await show(from, ids)).toEqual(shown);
  });

  it("an invalid source or target is rejected with its own error", async () => {
    const at = async (...argv: string[]) => {
      const { code, stdout } = await cli(["migrate", "copy", "--json", ...argv], { cwd: project.dir });
      const { error } = JSON.parse(stdout) as { error: { code: string; message: string } };
      return [code, error.code, error.message];
    };
    const { from } = await depart();
    const uri = from.checkpointer_uri ?? "";
    expect(await at()).toEqual([2, "invalid_request", "migrate copy requires --from, --to, or both"]);
    expect(await at("--from", "./none.db", "--to", "./to.db")).toMatchObject([
      3,
      "storage_unavailable",
      expect.any(String),
    ]);
    expect(await at("--from", uri, "--to", uri)).toMatchObject([2, "config_invalid", expect.any(String)]);
    expect(await at("--from", uri, "--to-scheme", "memory")).toMatchObject([
      2,
      "invalid_request",
      expect.any(String),
    ]);
    expect(await at("--from", uri, "--to", "./x.db", "--to-options", "[]")).toMatchObject([
      2,
      "invalid_request",
      expect.any(String),
    ]);
    expect(await at("--from", uri, "--to", "./x.db", "--from-options", "{")).toMatchObject([
      2,
      "invalid_request",
      expect.any(String),
    ]);
  });

  it("an error of a storage that cannot be opened names the flag of its side, not a setting or --db", async () => {
    const { from } = await depart();
    const failed = await cli(["migrate", "copy", "--from", "./none.db", "--to", "./to.db"], {
      cwd: project.dir,
    });
    expect(failed.code).toBe(3);
    expect(failed.stderr).toMatch(/^error {2}--from: there is no database at .*none\.db\n/m);
    expect(failed.stderr).toMatch(/^ +fix {2}.*correct --from$/m);
    expect(failed.stderr).not.toContain("--db");
    const away = ["--to", "postgresql://app@127.0.0.1:1/app"];
    const unreachable = await cli(["migrate", "copy", "--from", from.checkpointer_uri ?? "", ...away], {
      cwd: project.dir,
    });
    expect(unreachable.code).toBe(3);
    expect(unreachable.stderr).toContain("error  --to: PostgreSQL at 127.0.0.1:1 cannot be reached");
    expect(unreachable.stderr).toContain("or correct --to\n");
  });

  it("Redis as the source is refused, also with rows in memory, instead of copying nothing", async () => {
    for (const more of [[], ["--from-options", '{"allow_ephemeral_metadata":true}']]) {
      const argv = ["migrate", "copy", "--from", "redis://127.0.0.1:1", "--to", "./to.db", ...more];
      const { code, stderr } = await cli(argv, { cwd: project.dir });
      expect(code).toBe(2);
      expect(stderr).toContain("scheme redis cannot be copied from: its threads cannot be listed");
    }
  });

  it("a terminal shows a progress bar and clears it at the end", async () => {
    const [{ from }, to] = [await depart(), freshFile()];
    const argv = ["migrate", "copy", ...flagsOf("from", from), ...flagsOf("to", to)];
    const { code, stderr, stdout } = await cli(argv, {
      cwd: project.dir,
      isTTY: true,
      env: { NO_COLOR: "1" },
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/threads +5 +0 +0/);
    expect(stderr).toContain("#".repeat(30) + " 5 of 5 threads");
    expect(stderr.endsWith("\r\u001b[K")).toBe(true);
  });
});
