/** The queue in the rows of PostgreSQL: user scopes and their indexes. */
import { randomBytes } from "node:crypto";
import { afterEach, expect, it } from "vitest";
import type { JsonObject } from "../../src/models/common.js";
import type { RunQueue } from "../../src/storage/contract/queue.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { CALLER } from "../../src/storage/postgres/schema.js";
import { engineSchema } from "../../src/storage/postgres/jobs.js";
import { newId } from "../../src/support/ids.js";
import { withOwnSchema } from "../helpers/postgres.js";
import { runRow, threadRow, tick } from "./contract/rows.js";

withOwnSchema("postgres queue", (postgres) => {
  afterEach(async () => {
    await postgres.close();
    await postgres.drop();
  });

  async function open(): Promise<Opened> {
    const storage = await postgres.open();
    return { ...storage, queue: await storage.openQueue!(process.cwd()) };
  }
  type Opened = Storage & { queue: RunQueue };
  async function wait({ threads, queue }: Opened, scope: JsonObject) {
    const { thread_id } = threadRow();
    await threads.insert(threadRow({ thread_id }));
    const caller = { user: { identity: "ann" }, scope };
    const resumption = { unattended: true, isWhole: true, caller, spent_ms: 0 };
    const queued = { state: "queued" as const, owner: null, attempt: 0, resumption };
    const options = { queued, mostBefore: 10 };
    return queue.accept(runRow(thread_id, { owner: null }), { updated_at: tick() }, options);
  }
  const callers = async ({ queue }: Opened) => (await queue.fetch(10)).map(({ caller }) => caller);

  it("runs of a user with a long scope are queued", async () => {
    const storage = await open();
    const owner = randomBytes(8_000).toString("base64");
    expect(await wait(storage, { owner })).toEqual({ became: "queued", before: 0 });
    expect(await callers(storage)).toHaveLength(1);
  });

  it("scopes with reordered fields belong to the same user, other values to another", async () => {
    const storage = await open();
    const scopes = [
      { owner: "ann", team: 1 },
      { team: 1, owner: "ann" },
      { owner: "ann", team: 2 },
    ];
    for (const scope of scopes) await wait(storage, scope);
    const found = await callers(storage);
    expect(found).toHaveLength(3);
    expect(new Set(found).size).toBe(2);
  });

  it("a scope may contain characters that PostgreSQL cannot store", async () => {
    const storage = await open();
    expect(await wait(storage, { owner: "a\0b\ud800" })).toEqual({ became: "queued", before: 0 });
  });

  /** Inserts a run as a process without pg-boss does. */
  async function queue({ threads, runs }: Storage, thread_id: string): Promise<string> {
    await threads.insert(threadRow({ thread_id }));
    const row = runRow(thread_id, { state: "queued", owner: null, attempt: 0, status: "pending" });
    await runs.insert(row, { updated_at: tick() });
    return row.run_id;
  }
  const jobs = () =>
    postgres.sql<{ id: string; name: string; state: string }>(
      `SELECT id, name, state FROM "${engineSchema(postgres.schema)}".job ORDER BY created_on`,
    );
  const end = { state: "ended", status: "success" } as const;

  it("runs that an earlier release queued get a job, once", async () => {
    const storage = await postgres.open();
    const [first, other] = [newId(), newId()];
    const queued = [await queue(storage, first), await queue(storage, other)];
    await queue(storage, first);
    for (let opened = 0; opened < 2; opened++) await (await postgres.open()).openQueue!(process.cwd());
    expect((await jobs()).map(({ id }) => id).sort()).toEqual(queued.sort());
  });

  it("several processes install pg-boss at the same time", async () => {
    const storages = await Promise.all([1, 2, 3, 4].map(() => postgres.open()));
    await Promise.all(storages.map((storage) => storage.openQueue!(process.cwd())));
    const thread = newId();
    const run_id = await queue(storages[0]!, thread);
    expect(await jobs()).toEqual([{ id: run_id, name: "runs", state: "created" }]);
  });

  it("the schema may have a name that pg-boss does not accept", async () => {
    const schema = `${postgres.schema} it's Ünusual`;
    const storage = await postgres.open({ schema });
    const table = await storage.openQueue!(process.cwd());
    const run_id = await queue(storage, newId());
    expect(await table.fetch(1)).toMatchObject([{ run_id }]);
    await postgres.close();
    await postgres.sql(`DROP SCHEMA "${schema}", "${engineSchema(schema)}" CASCADE`);
  });

  it("only the first unfinished run of a thread has a job, until it is claimed", async () => {
    const storage = await open();
    const { runs, queue: table } = storage;
    const thread_id = newId();
    const [first, second] = [await queue(storage, thread_id), await queue(storage, thread_id)];
    expect((await jobs()).map(({ id }) => id)).toEqual([first]);
    const claim = (run_id: string, attempt: number) => {
      const lease = { state: "running", owner: "a", attempt } as const;
      return runs.take!({ run_id, thread_id }, { owner: null, attempt: attempt - 1 }, { updated_at: tick(), ...lease }, { updated_at: tick() }); // prettier-ignore
    };
    expect(await claim(first, 1)).toBe(true);
    expect(await jobs()).toEqual([]);
    // Its process crashed: it is quarantined, and no other run of the thread may start.
    await runs.update(first, { updated_at: tick(), status: "running" });
    await runs.update(first, { updated_at: tick(), state: "queued", owner: null });
    expect(await jobs()).toMatchObject([{ id: first, name: "quarantined-runs" }]);
    expect([await table.ready(), await table.fetch(9)]).toEqual([{ runs: false, suspects: true }, []]);
    expect(await table.fetchSuspect()).toMatchObject({ run_id: first, thread_id, isSuspect: true });
    expect(await claim(first, 2)).toBe(true);
    await runs.update(first, { updated_at: tick(), ...end });
    expect((await jobs()).map(({ id }) => id)).toEqual([second]);
    await storage.threads.delete(thread_id);
    expect(await jobs()).toEqual([]);
  });

  it("a job is fetched by one process, and by another after it was released", async () => {
    const [one, other] = [await open(), await open()];
    await queue(one, newId());
    const fetched = (await Promise.all([one.queue.fetch(1), other.queue.fetch(1)])).flat();
    expect(fetched).toHaveLength(1);
    await one.queue.release(fetched[0]!);
    expect(await other.queue.fetch(1)).toEqual(fetched);
  });

  it("a job whose process died before the claim is fetched again", async () => {
    const { queue: table, ...storage } = await open();
    const run_id = await queue(storage, newId());
    await table.fetch(1);
    // The time that the process had for the claim has passed.
    await postgres.sql(
      `UPDATE "${engineSchema(postgres.schema)}".job SET started_on = started_on - interval '5 seconds'`,
    );
    const fetchAgain = async () => (await table.fetch(1)).map((run) => run.run_id);
    await expect.poll(fetchAgain, { timeout: 30_000 }).toEqual([run_id]);
  }, 40_000);

  it("a run accepted while the one before it ends gets its job", async () => {
    const storage = await open();
    for (let round = 0; round < 20; round++) {
      const thread_id = newId();
      const first = await queue(storage, thread_id);
      const [, second] = await Promise.all([
        storage.runs.settle([{ runId: first, run: { updated_at: tick(), ...end }, threadId: thread_id, thread: { updated_at: tick() } }]), // prettier-ignore
        queue(storage, thread_id),
      ]);
      expect((await jobs()).map(({ id }) => id)).toContain(second);
    }
  });

  it.each([
    ["gs_runs_queued_of", "state = 'queued' AND owner IS NULL", `${CALLER}, seq`],
    ["gs_runs_running_of", "state = 'running'", CALLER],
  ])("index %s serves the queries by user", async (index, where, by) => {
    await postgres.open();
    const client = await postgres.pool.connect();
    try {
      await client.query("BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off");
      const { rows } = await client.query<{ "QUERY PLAN": string }>(
        `EXPLAIN SELECT 1 FROM "${postgres.schema}".gs_runs WHERE ${where} ORDER BY ${by}`,
      );
      expect(rows[0]?.["QUERY PLAN"]).toContain(`Index Scan using ${index}`);
    } finally {
      await client.query("ROLLBACK");
      client.release();
    }
  });
});
