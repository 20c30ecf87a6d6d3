import { describe, expect, it } from "vitest";
import type { Resumption, RunRow } from "../../../src/storage/contract/runs.js";
import type { Storage } from "../../../src/storage/contract/storage.js";
import { newId } from "../../../src/support/ids.js";
import { runRow, threadRow, tick } from "./rows.js";

const RESUMPTION: Resumption = { unattended: true, isWhole: true, caller: null, spent_ms: 7 };

/** The contract of a storage that keeps dead runs: failed runs that can be retried. */
export function deadRunTests(storage: () => Storage): void {
  const table = () => {
    const { deadRuns } = storage();
    if (!deadRuns) throw new Error("this storage does not support dead runs");
    return deadRuns;
  };

  async function seed(fields: Partial<RunRow> = {}, thread_id?: string): Promise<RunRow> {
    const row = threadRow();
    if (thread_id === undefined) await storage().threads.insert(row);
    const run = runRow(thread_id ?? row.thread_id, { status: "error", resumption: RESUMPTION, ...fields });
    await storage().runs.insert(run, { updated_at: tick(), status: "error", error: "died" });
    return run;
  }

  const page = async (limit = 10, offset = 0) => table().list({ limit, offset });
  const row = ({ thread_id, run_id }: RunRow) => storage().runs.get(thread_id, run_id);
  const revive = (run: RunRow) =>
    table().revive(
      run,
      { updated_at: tick(), status: "running", state: "queued", owner: null, attempt: 3, error: null },
      { updated_at: tick(), status: "busy", error: null },
    );

  describe("dead runs", () => {
    it("failed runs that can be resumed are listed and counted", async () => {
      await seed({ resumption: null });
      await seed({ status: "running" });
      const runs = [await seed(), await seed(), await seed()].reverse();
      expect(await page()).toEqual(runs);
      expect(await page(1, 1)).toEqual(runs.slice(1, 2));
      expect(await page(0)).toEqual([]);
      expect(await page(10, 3)).toEqual([]);
      expect(await table().count()).toBe(3);
    });

    it("a dead run is revived only once, together with its thread", async () => {
      const run = await seed({ error: "died" });
      const revived = await Promise.all([1, 2, 3].map(() => revive(run)));
      expect(revived.filter(Boolean)).toHaveLength(1);
      expect(await row(run)).toMatchObject({
        ...{ status: "running", state: "queued", owner: null, attempt: 3, error: null },
        resumption: RESUMPTION,
      });
      expect(await storage().threads.get(run.thread_id)).toMatchObject({ status: "busy", error: null });
      expect(await page()).toEqual([]);
      expect(await storage().runs.unfinished({ threadId: run.thread_id })).toMatchObject([
        { run_id: run.run_id },
      ]);
    });

    it("a dead run is not revived while its thread has another unfinished run, unless that run is delayed", async () => {
      const run = await seed();
      const other = await seed({ status: "pending", owner: null }, run.thread_id);
      const before = await storage().threads.get(run.thread_id);
      expect(await revive(run)).toBe(false);
      expect(await row(run)).toEqual(run);
      expect(await storage().threads.get(run.thread_id)).toEqual(before);
      await storage().runs.update(other.run_id, { updated_at: tick(), state: "delayed" });
      expect(await revive(run)).toBe(true);
    });

    it("failed, unfinished, unknown runs and runs of another thread are not revived", async () => {
      const failed = await seed({ resumption: null });
      expect(await revive(failed)).toBe(false);
      expect(await row(failed)).toEqual(failed);
      expect(await revive(await seed({ status: "running" }))).toBe(false);
      const run = await seed();
      expect(await revive({ ...run, thread_id: (await seed()).thread_id })).toBe(false);
      expect(await revive({ ...run, run_id: newId() })).toBe(false);
      expect(await row(run)).toEqual(run);
    });

    it("a late result of the dead attempt changes nothing", async () => {
      const run = await seed({ owner: "process-1", attempt: 3 });
      await revive(run);
      const holder = { owner: "process-1", attempt: 3 };
      await storage().runs.settle([
        {
          runId: run.run_id,
          holder,
          run: { updated_at: tick(), status: "success", state: "ended", resumption: null },
          threadId: run.thread_id,
          thread: { updated_at: tick(), status: "idle" },
        },
      ]);
      expect(await row(run)).toMatchObject({ status: "running", owner: null });
      expect(await storage().threads.get(run.thread_id)).toMatchObject({ status: "busy" });
    });

    it("dead runs older than a given time become ordinary failed runs", async () => {
      const old = await seed({ updated_at: "2020-01-01T00:00:00.000Z" });
      const young = await seed({ updated_at: "2020-01-02T00:00:00.000Z" });
      expect(await table().forget("2020-01-02T00:00:00.000Z")).toBe(1);
      expect(await row(old)).toEqual({ ...old, state: "ended", resumption: null });
      expect(await page()).toEqual([young]);
    });
  });
}
