import { describe, expect, it } from "vitest";
import { newId } from "../../../src/support/ids.js";
import type { Owner, RunOutcome, RunRow, Storage, ThreadRow } from "../../../src/storage/storage.js";
import { runRow, threadRow, tick } from "./rows.js";

export function runTests(storage: () => Storage): void {
  const store = () => storage().metadata;

  async function seedThread(fields: Partial<ThreadRow> = {}): Promise<ThreadRow> {
    const row = threadRow(fields);
    await store().insertThread(row);
    return row;
  }

  async function seedRun(thread_id: string, fields: Partial<RunRow> = {}): Promise<RunRow> {
    const run = runRow(thread_id, fields);
    expect(await store().insertRun(run, { updated_at: tick(), status: "busy" })).toBe(true);
    return run;
  }

  const outcome = (run: RunRow): RunOutcome => ({
    runId: run.run_id,
    run: {
      updated_at: tick(),
      status: "success",
      usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    },
    threadId: run.thread_id,
    thread: { updated_at: tick(), status: "idle", mergeMetadata: { settled: true } },
  });

  describe("runs", () => {
    it("a run and its thread change together", async () => {
      const thread = await seedThread({ metadata: { a: 1 } });
      const run = runRow(thread.thread_id, { kwargs: { input: { deep: [null, "ü"] } }, metadata: { b: 2 } });
      const patch = { updated_at: tick(), status: "busy" as const, mergeMetadata: { graph_id: "agent" } };
      expect(await store().insertRun(run, patch)).toBe(true);
      expect(await store().getRun(thread.thread_id, run.run_id)).toEqual(run);
      expect(await store().getThread(thread.thread_id)).toEqual({
        ...thread,
        updated_at: patch.updated_at,
        status: "busy",
        metadata: { a: 1, graph_id: "agent" },
      });
    });

    it("a run without its thread is not stored", async () => {
      const run = runRow(newId());
      expect(await store().insertRun(run, { updated_at: tick() })).toBe(false);
      expect(await store().getRun(run.thread_id, run.run_id)).toBeUndefined();
      expect(await store().unfinishedRuns()).toEqual([]);
    });

    it("a run is unknown under another thread", async () => {
      const [thread, other] = [await seedThread(), await seedThread()];
      const run = await seedRun(thread.thread_id);
      expect(await store().getRun(other.thread_id, run.run_id)).toBeUndefined();
    });

    it("a deleted run is gone, its thread stays", async () => {
      const [thread, other] = [await seedThread(), await seedThread()];
      const [run, kept] = [await seedRun(thread.thread_id), await seedRun(thread.thread_id)];
      expect(await store().deleteRun(other.thread_id, run.run_id)).toBe(false);
      expect(await store().deleteRun(thread.thread_id, run.run_id)).toBe(true);
      expect(await store().deleteRun(thread.thread_id, run.run_id)).toBe(false);
      expect(await store().getRun(thread.thread_id, run.run_id)).toBeUndefined();
      expect(
        (await store().listRuns({ threadId: thread.thread_id, limit: 9, offset: 0 })).map(
          (row) => row.run_id,
        ),
      ).toEqual([kept.run_id]);
      expect((await store().unfinishedRuns()).map(({ run_id }) => run_id)).not.toContain(run.run_id);
      expect(await store().getThread(thread.thread_id)).toBeDefined();
    });

    it("a patch changes only what it names", async () => {
      const { thread_id } = await seedThread();
      const run = await seedRun(thread_id);
      const running = { updated_at: tick(), status: "running" as const };
      expect(await store().updateRun(run.run_id, running)).toBe(true);
      expect(await store().getRun(thread_id, run.run_id)).toEqual({ ...run, ...running });
    });

    it.each(["success", "error", "timeout", "interrupted"] as const)("%s is final", async (status) => {
      const { thread_id } = await seedThread();
      const run = await seedRun(thread_id);
      const ended = { updated_at: tick(), status, error: "as it ended" };
      await store().updateRun(run.run_id, ended);
      const again = { updated_at: tick(), status: "running" as const, error: null };
      expect(await store().updateRun(run.run_id, again)).toBe(false);
      expect(await store().updateRun(newId(), again)).toBe(false);
      await store().settleRuns([outcome(run)]);
      expect(await store().getRun(thread_id, run.run_id)).toEqual({ ...run, ...ended });
      expect(await store().getThread(thread_id)).toMatchObject({ status: "busy", metadata: {} });
    });

    it("runs are listed newest first in pages", async () => {
      const { thread_id } = await seedThread();
      await seedRun((await seedThread()).thread_id);
      const created_at = tick();
      const runs = [
        await seedRun(thread_id, { created_at, status: "success" }),
        await seedRun(thread_id, { created_at, status: "error", error: "boom" }),
        await seedRun(thread_id, { status: "success" }),
        await seedRun(thread_id),
      ].reverse();
      const list = (query: object) =>
        store().listRuns({ threadId: thread_id, limit: 10, offset: 0, ...query });
      expect(await list({})).toEqual(runs);
      expect(await list({ limit: 2, offset: 1 })).toEqual(runs.slice(1, 3));
      expect(await list({ status: "success" })).toEqual([runs[1], runs[3]]);
      expect(await list({ status: "success", limit: 1, offset: 1 })).toEqual([runs[3]]);
      expect(await list({ offset: 9 })).toEqual([]);
      expect(await list({ limit: 0 })).toEqual([]);
      expect(await store().listRuns({ threadId: newId(), limit: 1, offset: 0 })).toEqual([]);
    });

    it("listed runs are copies", async () => {
      const { thread_id } = await seedThread();
      const run = await seedRun(thread_id);
      const [listed] = await store().listRuns({ threadId: thread_id, limit: 1, offset: 0 });
      listed!.kwargs.input = "changed";
      expect(await store().getRun(thread_id, run.run_id)).toEqual(run);
    });
  });

  describe("settled runs", () => {
    it("runs and threads end together", async () => {
      const runs = [
        await seedRun((await seedThread()).thread_id),
        await seedRun((await seedThread()).thread_id),
      ];
      const outcomes = runs.map(outcome);
      await store().settleRuns(outcomes);
      for (const [index, run] of runs.entries()) {
        expect(await store().getRun(run.thread_id, run.run_id)).toEqual({ ...run, ...outcomes[index]!.run });
        expect(await store().getThread(run.thread_id)).toMatchObject({
          status: "idle",
          metadata: { settled: true },
        });
      }
      expect(await store().unfinishedRuns()).toEqual([]);
    });

    it("a second outcome of a run is ignored", async () => {
      const run = await seedRun((await seedThread()).thread_id);
      const [first, second] = [outcome(run), outcome(run)];
      second.run.status = "error";
      second.thread.status = "error";
      await store().settleRuns([first, second]);
      expect(await store().getRun(run.thread_id, run.run_id)).toMatchObject({ status: "success" });
      expect(await store().getThread(run.thread_id)).toMatchObject({ status: "idle" });
    });

    it("outcomes of deleted threads change nothing", async () => {
      const [gone, kept] = [
        await seedRun((await seedThread()).thread_id),
        await seedRun((await seedThread()).thread_id),
      ];
      await store().deleteThread(gone.thread_id);
      await store().settleRuns([outcome(gone), outcome(kept)]);
      expect(await store().getThread(gone.thread_id)).toBeUndefined();
      expect(await store().getRun(gone.thread_id, gone.run_id)).toBeUndefined();
      expect(await store().getRun(kept.thread_id, kept.run_id)).toMatchObject({ status: "success" });
    });

    it("an outcome of the wrong thread changes nothing", async () => {
      const [run, other] = [await seedRun((await seedThread()).thread_id), await seedThread()];
      await store().settleRuns([{ ...outcome(run), threadId: other.thread_id }]);
      expect(await store().getRun(run.thread_id, run.run_id)).toEqual(run);
      expect(await store().getThread(other.thread_id)).toEqual(other);
    });
  });

  describe("owners", () => {
    const owner = (id: string): Owner => ({ id, host: "here", pid: 42, seen_at: tick() });

    it("unfinished runs name their owners", async () => {
      const { thread_id } = await seedThread();
      const alive = owner("alive");
      const [pending, running] = [
        await seedRun(thread_id, { owner: "alive" }),
        await seedRun(thread_id, { owner: "unheard", status: "running" }),
      ];
      await seedRun(thread_id, { owner: "alive", status: "success" });
      await store().beat(owner("alive"));
      await store().beat(alive);
      expect(await store().unfinishedRuns()).toEqual([
        { run_id: pending.run_id, thread_id, owner: alive },
        { run_id: running.run_id, thread_id, owner: undefined },
      ]);
    });

    it("a removed owner is unknown", async () => {
      const { thread_id } = await seedThread();
      await seedRun(thread_id, { owner: "leaving" });
      await store().beat(owner("leaving"));
      await store().removeOwner("leaving");
      await store().removeOwner("never there");
      expect(await store().unfinishedRuns()).toMatchObject([{ thread_id, owner: undefined }]);
    });
  });

  describe("requests to cancel", () => {
    it("an owner hears of its own unfinished runs", async () => {
      const { thread_id } = await seedThread();
      const [asked, ended] = [await seedRun(thread_id), await seedRun(thread_id, { status: "success" })];
      const other = await seedRun(thread_id, { owner: "other" });
      await seedRun(thread_id);
      for (const { run_id } of [asked, asked, ended, other]) await store().requestCancel(run_id);
      await store().requestCancel(newId());
      expect(await store().cancelRequests(asked.owner)).toEqual([asked.run_id]);
      expect(await store().cancelRequests("other")).toEqual([other.run_id]);
      expect(await store().getRun(thread_id, asked.run_id)).toEqual(asked);
    });

    it("a request ends with its run", async () => {
      const { thread_id } = await seedThread();
      const [settled, deleted] = [await seedRun(thread_id), await seedRun(thread_id)];
      for (const { run_id } of [settled, deleted]) await store().requestCancel(run_id);
      expect((await store().cancelRequests(settled.owner)).sort()).toEqual(
        [settled.run_id, deleted.run_id].sort(),
      );
      await store().settleRuns([outcome(settled)]);
      await store().deleteRun(thread_id, deleted.run_id);
      expect(await store().cancelRequests(settled.owner)).toEqual([]);
    });
  });
}
