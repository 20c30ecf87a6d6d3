/** The queue in the rows of PostgreSQL: user scopes and their indexes. */
import { randomBytes } from "node:crypto";
import { afterEach, expect, it } from "vitest";
import type { JsonObject } from "../../src/models/common.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { CALLER } from "../../src/storage/postgres/schema.js";
import { withOwnSchema } from "../helpers/postgres.js";
import { runRow, threadRow, tick } from "./contract/rows.js";

withOwnSchema("postgres queue", (postgres) => {
  afterEach(async () => {
    await postgres.close();
    await postgres.drop();
  });

  async function wait({ threads, queue }: Storage, scope: JsonObject) {
    const { thread_id } = threadRow();
    await threads.insert(threadRow({ thread_id }));
    const caller = { user: { identity: "ann" }, scope };
    const resumption = { unattended: true, isWhole: true, caller, spent_ms: 0 };
    const queued = { state: "queued" as const, owner: null, attempt: 0, resumption };
    const options = { queued, mostBefore: 10 };
    return queue?.accept(runRow(thread_id, { owner: null }), { updated_at: tick() }, options);
  }
  const callers = async ({ queue }: Storage) => (await queue?.readyRuns(10, []))?.map(({ caller }) => caller);

  it("runs of a user with a long scope are queued", async () => {
    const storage = await postgres.open();
    const owner = randomBytes(8_000).toString("base64");
    expect(await wait(storage, { owner })).toEqual({ became: "queued", before: 0 });
    expect(await callers(storage)).toHaveLength(1);
  });

  it("scopes with reordered fields belong to the same user, other values to another", async () => {
    const storage = await postgres.open();
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
    const storage = await postgres.open();
    expect(await wait(storage, { owner: "a\0b\ud800" })).toEqual({ became: "queued", before: 0 });
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
