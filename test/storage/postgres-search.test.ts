import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { THREAD_SORT_FIELDS } from "../../src/models/thread-fields.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import type { ThreadQuery } from "../../src/storage/contract/threads.js";
import { withOwnSchema } from "../helpers/postgres.js";
import { threadRow, tick } from "./contract/rows.js";

const THREADS = 10_000;
const NEWEST: ThreadQuery = { sortBy: "updated_at", sortOrder: "desc", limit: 10, offset: 0 };

interface Plan {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: Plan[];
}

withOwnSchema("postgres searches", (postgres) => {
  let storage: Storage;
  beforeAll(async () => {
    storage = await postgres.open();
    await postgres.sql(
      `INSERT INTO "${postgres.schema}".gs_threads
         (thread_id, created_at, updated_at, state_updated_at, metadata, config, status)
       SELECT gen_random_uuid()::text, t, t, t, jsonb_build_object('graph_id', 'agent', 'user', n % 500,
         'rare', n % 5000, 'deep', jsonb_build_object('n', n)), '{}', 'idle'
       FROM generate_series(1, $1::int) AS n,
         to_char(timestamp '2024-01-01' + n * interval '1 s', 'YYYY-MM-DD"T"HH24:MI:SS.000"Z"') AS t`,
      [THREADS],
    );
    await postgres.sql(`ANALYZE "${postgres.schema}".gs_threads`);
  });
  afterAll(() => postgres.close());

  /** Number of thread rows that the statements of a search read, whether returned or filtered out. */
  async function threadsTouched(query: ThreadQuery): Promise<number> {
    const spy = vi.spyOn(pg.Client.prototype, "query");
    await storage.threads.search(query);
    const statements = spy.mock.calls.map(([config]) => config as unknown as pg.QueryConfig<unknown[]>);
    spy.mockRestore();
    let touched = 0;
    for (const { text, values } of statements.filter((config) => typeof config === "object")) {
      const explain = `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`;
      const [row] = await postgres.sql<{ "QUERY PLAN": [{ Plan: Plan }] }>(explain, values);
      touched += rowsOf(row!["QUERY PLAN"][0].Plan);
    }
    return touched;
  }

  function rowsOf(plan: Plan): number {
    const own = plan["Relation Name"] === "gs_threads" && plan["Node Type"].endsWith("Scan");
    const rows = (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)) * plan["Actual Loops"];
    return (plan.Plans ?? []).reduce((sum, part) => sum + rowsOf(part), own ? rows : 0);
  }

  describe("search over 10,000 threads", () => {
    it.each(THREAD_SORT_FIELDS)("a page sorted by %s reads only its own rows", async (sortBy) => {
      expect(await threadsTouched({ ...NEWEST, sortBy })).toBe(10);
    });

    it.each<[string, Partial<ThreadQuery>, number]>([
      ["the last page", { offset: THREADS - 10 }, 10],
      ["a page near the end", { offset: THREADS - 200 }, 200],
      ["metadata of all threads", { metadata: { graph_id: "agent" } }, 10],
      [
        "the last page of all threads by metadata",
        { metadata: { graph_id: "agent" }, offset: THREADS - 10 },
        10,
      ],
      ["metadata of 20 threads", { metadata: { user: 7 } }, 20],
      ["the last page of 20 threads", { metadata: { user: 7 }, offset: 10 }, 20],
      ["metadata of two threads", { metadata: { rare: 7 } }, 2],
      ["two entries of metadata", { metadata: { graph_id: "agent", user: 7 } }, 20],
      ["metadata of no thread", { metadata: { graph_id: "other" } }, 0],
      ["nested metadata", { metadata: { deep: { n: 7 } } }, 1],
      ["ids", { ids: ["x", "y"] }, 0],
    ])("a search for %s reads few rows", async (_, filter, most) => {
      expect(await threadsTouched({ ...NEWEST, ...filter })).toBeLessThanOrEqual(most);
    });
  });

  describe("metadata counters", () => {
    const counts = async () =>
      (
        await postgres.sql<{ n: number }>(
          `SELECT sum(threads)::int AS n FROM "${postgres.schema}".gs_fact_counts GROUP BY fact ORDER BY n`,
        )
      ).map(({ n }) => n);

    it("stay exact and are removed when they reach zero", async () => {
      const { threads } = storage;
      const before = await counts();
      const rows = Array.from({ length: 40 }, (_, n) => threadRow({ metadata: { odd: n % 2, once: n } }));
      await Promise.all(rows.map((row) => threads.insert(row)));
      expect(await threads.count({ metadata: { odd: 1 } })).toBe(20);
      await Promise.all(
        rows.map((row) => threads.update(row.thread_id, { updated_at: tick(), mergeMetadata: { odd: 1 } })),
      );
      expect(await threads.count({ metadata: { odd: 0 } })).toBe(0);
      expect(await threads.count({ metadata: { odd: 1 } })).toBe(40);
      expect(await threads.count({})).toBe(THREADS + 40);
      await Promise.all(rows.map((row) => threads.delete(row.thread_id)));
      expect(await counts()).toEqual(before);
    });
  });
});
