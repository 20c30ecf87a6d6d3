import { describe, expect, it } from "vitest";
import type { Storage } from "../../../src/storage/contract/storage.js";
import type { UsageQuery, UsageRow, UsageTable } from "../../../src/storage/contract/usage.js";
import { newId } from "../../../src/support/ids.js";
import { runRow, threadRow, tick } from "./rows.js";

const usageRow = (fields: Partial<UsageRow> = {}): UsageRow => ({
  ...{ run_id: newId(), attempt: 1, seq: 0, thread_id: newId(), graph_id: "agent" },
  ...{ user_id: "ada", scope: '{"owner":"ada"}', node: "child:model", provider: "openai", model: "m1" },
  ...{ day: "2026-01-01", at: "2026-01-01T10:00:00.000Z", calls: 2, input_tokens: 100, output_tokens: 10 },
  ...{
    cache_read_tokens: 40,
    cache_write_tokens: 5,
    reasoning_tokens: 3,
    cost: 1_500_000,
    unpriced_calls: 0,
  },
  ...fields,
});

/** For backends that record usage. */
export function usageTests(storage: () => Storage): void {
  const table = (): UsageTable => {
    const { usage } = storage();
    if (!usage) throw new Error("this backend does not record usage");
    return usage;
  };
  const sum = (query: Partial<UsageQuery> = {}) => table().sum({ by: [], limit: 100, offset: 0, ...query });
  const page = (limit = 100, offset = 0) => table().page({ limit, offset });

  describe("usage", () => {
    it("rows are read as stored, ordered by run, and a row that is stored again is replaced", async () => {
      const rows = [
        usageRow({ user_id: null, scope: null, provider: null, node: "" }),
        usageRow(),
        usageRow({ cost: 9_000_000_000_000 }),
      ];
      await table().store(rows.toReversed());
      expect(await page()).toEqual(rows);
      const [first] = rows as [UsageRow];
      const later = { ...first, calls: 3, input_tokens: 150, at: "2026-01-01T11:00:00.000Z" };
      await table().store([later]);
      expect(await page(1)).toEqual([later]);
      expect(await page(1, 1)).toEqual([rows[1]]);
      expect(await page(0)).toEqual([]);
      await table().store([]);
      expect(await sum()).toMatchObject([{ calls: 7, input_tokens: 350, cost: 9_000_003_000_000 }]);
    });

    it("usage is summed by group, in the order of the groups", async () => {
      await table().store([
        usageRow({ model: "m2", unpriced_calls: 2, cost: 0 }),
        usageRow({ day: "2026-01-02" }),
        usageRow({ user_id: null, scope: null }),
        usageRow({ user_id: null, scope: null }),
      ]);
      const small = { calls: 2, input_tokens: 100, cost: 1_500_000, unpriced_calls: 0 };
      const large = { calls: 4, input_tokens: 200, cost: 3_000_000, unpriced_calls: 0 };
      expect(await sum({ by: ["user", "model"] })).toMatchObject([
        { user: null, model: "m1", ...large },
        { user: "ada", model: "m1", ...small },
        { user: "ada", model: "m2", ...small, cost: 0, unpriced_calls: 2 },
      ]);
      expect(await sum({ by: ["day"] })).toMatchObject([
        { day: "2026-01-01", calls: 6, cache_read_tokens: 120, cache_write_tokens: 15, reasoning_tokens: 9 },
        { day: "2026-01-02", calls: 2, output_tokens: 10 },
      ]);
      expect(await sum({ by: ["graph", "node"] })).toMatchObject([{ graph: "agent", node: "child:model" }]);
      expect(await sum({ by: ["day"], limit: 1, offset: 1 })).toMatchObject([{ day: "2026-01-02" }]);
      expect(await sum({ by: ["day"], limit: 1, offset: 2 })).toEqual([]);
    });

    it("usage is filtered by time, day, thread, user and scope", async () => {
      const [early, late] = [
        usageRow(),
        usageRow({
          ...{ at: "2026-01-02T10:00:00.000Z", day: "2026-01-02", user_id: "bob", scope: '{"owner":"bob"}' },
          input_tokens: 7,
        }),
      ];
      await table().store([early, late]);
      const tokens = async (query: Partial<UsageQuery>) => (await sum(query))[0]?.input_tokens;
      expect(await tokens({ since: late.at })).toBe(7);
      expect(await tokens({ until: late.at })).toBe(100);
      expect(await tokens({ day: "2026-01-02" })).toBe(7);
      expect(await tokens({ runId: late.run_id })).toBe(7);
      expect(await tokens({ threadId: early.thread_id })).toBe(100);
      expect(await tokens({ userId: "bob", day: "2026-01-02" })).toBe(7);
      expect(await tokens({ scope: '{"owner":"ada"}' })).toBe(100);
      expect(await sum({ userId: "eve" })).toMatchObject([{ calls: 0, input_tokens: 0, cost: 0 }]);
      expect(await sum({ by: ["model"], userId: "eve" })).toEqual([]);
    });

    it("usage is removed by age", async () => {
      const [old, late] = [usageRow(), usageRow({ at: "2026-01-02T00:00:00.000Z" })];
      await table().store([old, late]);
      expect(await table().forget(late.at)).toBe(1);
      expect(await page()).toEqual([late]);
      expect(await table().forget(late.at)).toBe(0);
    });

    it("usage is stored with the end of its run, once, and outlives the thread", async () => {
      const thread = threadRow();
      await storage().threads.insert(thread);
      const run = runRow(thread.thread_id, { status: "running" });
      await storage().runs.insert(run, { updated_at: tick() });
      const usage = [usageRow({ run_id: run.run_id, thread_id: thread.thread_id })];
      const outcome = {
        ...{ runId: run.run_id, threadId: thread.thread_id, usage },
        run: { updated_at: tick(), status: "success" as const, state: "ended" as const },
        thread: { updated_at: tick() },
      };
      await storage().runs.settle([outcome]);
      await storage().runs.settle([outcome]);
      await storage().threads.delete(thread.thread_id);
      expect(await page()).toEqual(usage);
    });

    it("usage is stored even if the outcome of its run is skipped", async () => {
      const usage = [usageRow()];
      const [{ run_id: runId, thread_id: threadId }] = usage as [UsageRow];
      const updated_at = tick();
      await storage().runs.settle([{ runId, threadId, run: { updated_at }, thread: { updated_at }, usage }]);
      expect(await page()).toEqual(usage);
    });
  });
}
