import { describe, expect, it } from "vitest";
import { newId } from "../../../src/support/ids.js";
import { searchRuns } from "../../../src/storage/run-search.js";
import type { RunRow } from "../../../src/storage/contract/runs.js";
import type { Storage } from "../../../src/storage/contract/storage.js";
import { runRow, threadRow, tick } from "./rows.js";

export function runSearchTests(storage: () => Storage): void {
  async function seedThread(): Promise<string> {
    const row = threadRow({});
    await storage().threads.insert(row);
    return row.thread_id;
  }

  async function seedRun(thread_id: string, fields: Partial<RunRow> = {}): Promise<RunRow> {
    const run = runRow(thread_id, fields);
    expect(await storage().runs.insert(run, { updated_at: tick() })).toBe(true);
    return run;
  }

  const search = (query: object = {}) => searchRuns(storage(), { limit: 10, offset: 0, ...query });
  const found = async (query?: object) => (await search(query)).map(({ run_id }) => run_id);
  const ids = (...runs: (RunRow | undefined)[]) => runs.map((run) => run?.run_id);

  describe("search for runs of all threads", () => {
    it("returns pages newest first across threads", async () => {
      const [one, other] = [await seedThread(), await seedThread()];
      const created_at = tick();
      const runs = [
        await seedRun(one, { created_at }),
        await seedRun(other, { created_at, kwargs: { input: { deep: [null, "ü"] } }, metadata: { b: 2 } }),
        await seedRun(one),
        await seedRun(other),
      ].reverse();
      expect(await search()).toEqual(runs);
      expect(await search({ limit: 2, offset: 1 })).toEqual(runs.slice(1, 3));
      expect(await search({ offset: 4 })).toEqual([]);
      expect(await search({ limit: 0 })).toEqual([]);
    });

    it("filters by status, assistant, thread and time", async () => {
      const [one, other] = [await seedThread(), await seedThread()];
      const runs = [
        await seedRun(one, { status: "success" }),
        await seedRun(other, { status: "error", assistant_id: "$other" }),
        await seedRun(one, { status: "error" }),
        await seedRun(other, { status: "success" }),
      ].reverse();
      const [last, third, second, first] = runs;
      expect(await found({ status: "error" })).toEqual(ids(third, second));
      expect(await found({ status: "error", limit: 1, offset: 1 })).toEqual(ids(second));
      expect(await found({ assistantIds: ["$other", "none"] })).toEqual(ids(second));
      expect(await found({ assistantIds: ["none"] })).toEqual([]);
      expect(await found({ threadIds: [one] })).toEqual(ids(third, first));
      expect(await found({ threadIds: [other, one, other, newId()] })).toEqual(ids(...runs));
      expect(await found({ threadIds: [other], status: "error" })).toEqual(ids(second));
      expect(await found({ threadIds: [other, one], offset: 1, limit: 2 })).toEqual(ids(third, second));
      expect(await found({ createdAfter: second?.created_at })).toEqual(ids(last, third, second));
      expect(await found({ createdBefore: second?.created_at })).toEqual(ids(first));
      expect(
        await found({ createdAfter: second?.created_at, createdBefore: last?.created_at, status: "error" }),
      ).toEqual(ids(third, second));
    });

    it("omits deleted runs and runs of deleted threads", async () => {
      const [one, other] = [await seedThread(), await seedThread()];
      const runs = [await seedRun(one), await seedRun(one), await seedRun(other)];
      await storage().runs.delete(one, runs[0]!.run_id);
      expect(await found()).toEqual(ids(runs[2], runs[1]));
      await storage().threads.delete(other);
      expect(await found()).toEqual(ids(runs[1]));
    });

    it("returns copies of the current rows", async () => {
      const run = await seedRun(await seedThread());
      expect(await found({ status: "pending" })).toEqual(ids(run));
      await storage().runs.update(run.run_id, { updated_at: tick(), state: "ended", status: "timeout" });
      expect(await found({ status: "pending" })).toEqual([]);
      const [listed] = await search({ status: "timeout" });
      listed!.kwargs.input = "changed";
      expect((await search())[0]?.kwargs).toEqual(run.kwargs);
    });
  });
}
