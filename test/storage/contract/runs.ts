import { describe, expect, it } from "vitest";
import type { RunTasks } from "../../../src/models/run.js";
import { newId } from "../../../src/support/ids.js";
import type { Owner } from "../../../src/storage/contract/owners.js";
import type { RunOutcome, RunRow, UnfinishedQuery } from "../../../src/storage/contract/runs.js";
import type { Storage } from "../../../src/storage/contract/storage.js";
import type { ThreadRow } from "../../../src/storage/contract/threads.js";
import type { RunFault } from "../../../src/support/run-fault.js";
import { runRow, threadRow, tick } from "./rows.js";

const FAULT: RunFault = {
  name: "RangeError",
  message: "boom \u0001 ü",
  node: "work",
  location: { file: "/a/graph.ts", line: 3, column: 9, frame: '> 3 | throw "$1 \\u0000"' },
  stack: [{ function: "work", file: "/a/graph.ts", line: 3, column: 9 }],
  folded: 7,
  cause: { name: "Error", message: "inner", stack: [], folded: 0 },
};

const TASKS: RunTasks = {
  tasks: [
    {
      kind: "node",
      name: 'ü "work"',
      namespace: "work:1",
      step: 1,
      started_at: "2030-01-01T00:00:00.000Z",
      ended_at: null,
      state: "running",
      usage: null,
    },
  ],
  omitted: 3,
};

export function runTests(storage: () => Storage): void {
  async function seedThread(fields: Partial<ThreadRow> = {}): Promise<ThreadRow> {
    const row = threadRow(fields);
    await storage().threads.insert(row);
    return row;
  }

  async function seedRun(thread_id: string, fields: Partial<RunRow> = {}): Promise<RunRow> {
    const run = runRow(thread_id, fields);
    expect(await storage().runs.insert(run, { updated_at: tick(), status: "busy" })).toBe(true);
    return run;
  }

  const outcome = (run: RunRow): RunOutcome => ({
    runId: run.run_id,
    run: {
      updated_at: tick(),
      ...{ state: "ended", status: "success" },
      usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    },
    threadId: run.thread_id,
    thread: { updated_at: tick(), status: "idle", mergeMetadata: { settled: true } },
  });

  describe("runs", () => {
    it("a run and its thread are updated together", async () => {
      const thread = await seedThread({ metadata: { a: 1 } });
      const run = runRow(thread.thread_id, { kwargs: { input: { deep: [null, "ü"] } }, metadata: { b: 2 } });
      const patch = { updated_at: tick(), status: "busy" as const, mergeMetadata: { graph_id: "agent" } };
      expect(await storage().runs.insert(run, patch)).toBe(true);
      expect(await storage().runs.get(thread.thread_id, run.run_id)).toEqual(run);
      expect(await storage().threads.get(thread.thread_id)).toEqual({
        ...thread,
        updated_at: patch.updated_at,
        status: "busy",
        metadata: { a: 1, graph_id: "agent" },
      });
    });

    it("a run without a thread is not stored", async () => {
      const run = runRow(newId());
      expect(await storage().runs.insert(run, { updated_at: tick() })).toBe(false);
      expect(await storage().runs.get(run.thread_id, run.run_id)).toBeUndefined();
      expect(await storage().runs.unfinished()).toEqual([]);
    });

    it("a run with an existing id is rejected and changes nothing", async () => {
      const thread = await seedThread();
      const run = await seedRun(thread.thread_id);
      const again = { ...run, metadata: { again: true } };
      await expect(storage().runs.insert(again, { updated_at: tick(), status: "idle" })).rejects.toThrow();
      expect(await storage().runs.get(thread.thread_id, run.run_id)).toEqual(run);
      expect(await storage().threads.get(thread.thread_id)).toMatchObject({ status: "busy" });
      expect(await storage().runs.list({ threadId: thread.thread_id, limit: 10, offset: 0 })).toHaveLength(1);
    });

    it("unfinished runs are listed in the order in which they were accepted", async () => {
      const { thread_id } = await seedThread();
      const ids = [newId(), newId(), newId()].reverse();
      for (const run_id of ids) await seedRun(thread_id, { run_id, created_at: tick() });
      const unfinished = await storage().runs.unfinished({ threadId: thread_id });
      expect(unfinished.map(({ run_id }) => run_id)).toEqual(ids);
    });

    it("a run is not found under another thread", async () => {
      const [thread, other] = [await seedThread(), await seedThread()];
      const run = await seedRun(thread.thread_id);
      expect(await storage().runs.get(other.thread_id, run.run_id)).toBeUndefined();
    });

    it("deleting a run keeps its thread", async () => {
      const [thread, other] = [await seedThread(), await seedThread()];
      const [run, kept] = [await seedRun(thread.thread_id), await seedRun(thread.thread_id)];
      expect(await storage().runs.delete(other.thread_id, run.run_id)).toBe(false);
      expect(await storage().runs.delete(thread.thread_id, run.run_id)).toBe(true);
      expect(await storage().runs.delete(thread.thread_id, run.run_id)).toBe(false);
      expect(await storage().runs.get(thread.thread_id, run.run_id)).toBeUndefined();
      expect(
        (await storage().runs.list({ threadId: thread.thread_id, limit: 9, offset: 0 })).map(
          (row) => row.run_id,
        ),
      ).toEqual([kept.run_id]);
      expect((await storage().runs.unfinished()).map(({ run_id }) => run_id)).not.toContain(run.run_id);
      expect(await storage().threads.get(thread.thread_id)).toBeDefined();
    });

    it("a patch changes only the given fields", async () => {
      const { thread_id } = await seedThread();
      const run = await seedRun(thread_id);
      const running = { updated_at: tick(), status: "running" as const };
      expect(await storage().runs.update(run.run_id, running)).toBe(true);
      expect(await storage().runs.get(thread_id, run.run_id)).toEqual({ ...run, ...running });
    });

    it.each(["success", "error", "timeout", "interrupted"] as const)("status %s is final", async (status) => {
      const { thread_id } = await seedThread();
      const run = await seedRun(thread_id);
      const ended = { updated_at: tick(), state: "ended" as const, status, error: "as it ended" };
      await storage().runs.update(run.run_id, ended);
      const again = { updated_at: tick(), status: "running" as const, error: null };
      expect(await storage().runs.update(run.run_id, again)).toBe(false);
      expect(await storage().runs.update(newId(), again)).toBe(false);
      await storage().runs.settle([outcome(run)]);
      expect(await storage().runs.get(thread_id, run.run_id)).toEqual({ ...run, ...ended });
      expect(await storage().threads.get(thread_id)).toMatchObject({ status: "busy", metadata: {} });
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
        storage().runs.list({ threadId: thread_id, limit: 10, offset: 0, ...query });
      expect(await list({})).toEqual(runs);
      expect(await list({ limit: 2, offset: 1 })).toEqual(runs.slice(1, 3));
      expect(await list({ status: "success" })).toEqual([runs[1], runs[3]]);
      expect(await list({ status: "success", limit: 1, offset: 1 })).toEqual([runs[3]]);
      expect(await list({ offset: 9 })).toEqual([]);
      expect(await list({ limit: 0 })).toEqual([]);
      expect(await storage().runs.list({ threadId: newId(), limit: 1, offset: 0 })).toEqual([]);
    });

    it("listed runs are copies", async () => {
      const { thread_id } = await seedThread();
      const run = await seedRun(thread_id);
      const [listed] = await storage().runs.list({ threadId: thread_id, limit: 1, offset: 0 });
      listed!.kwargs.input = "changed";
      expect(await storage().runs.get(thread_id, run.run_id)).toEqual(run);
    });
  });

  describe("settle()", () => {
    it("ends runs and their threads together", async () => {
      const runs = [
        await seedRun((await seedThread()).thread_id),
        await seedRun((await seedThread()).thread_id),
      ];
      const outcomes = runs.map(outcome);
      await storage().runs.settle(outcomes);
      for (const [index, run] of runs.entries()) {
        expect(await storage().runs.get(run.thread_id, run.run_id)).toEqual({
          ...run,
          ...outcomes[index]!.run,
        });
        expect(await storage().threads.get(run.thread_id)).toMatchObject({
          status: "idle",
          metadata: { settled: true },
        });
      }
      expect(await storage().runs.unfinished()).toEqual([]);
    });

    it("stores the error of a failed run", async () => {
      const run = await seedRun((await seedThread()).thread_id);
      const failed = outcome(run);
      failed.run = { ...failed.run, status: "error", error: "boom", fault: FAULT };
      await storage().runs.settle([failed]);
      expect(await storage().runs.get(run.thread_id, run.run_id)).toEqual({ ...run, ...failed.run });
      const [listed] = await storage().runs.list({ threadId: run.thread_id, limit: 1, offset: 0 });
      expect(listed?.fault).toEqual(FAULT);
      const copied = await seedRun(run.thread_id, { status: "error", fault: FAULT });
      expect(await storage().runs.get(run.thread_id, copied.run_id)).toEqual(copied);
    });

    it("stores the task timings, which are read separately", async () => {
      const run = await seedRun((await seedThread()).thread_id);
      if (!("tasks" in storage().runs)) return;
      const read = (id: string) => storage().runs.tasks?.(run.thread_id, id);
      expect(await read(run.run_id)).toBeNull();
      const ended = outcome(run);
      const { updated_at } = ended.run;
      await storage().runs.settle([{ ...ended, run: { ...ended.run, tasks: TASKS } }]);
      expect(await read(run.run_id)).toEqual(TASKS);
      expect(await storage().runs.get(run.thread_id, run.run_id)).toEqual({ ...run, ...ended.run });
      const copied = await seedRun(run.thread_id, { status: "success", updated_at, tasks: TASKS });
      expect(await read(copied.run_id)).toEqual(TASKS);
      const page = await storage().runs.list({ threadId: run.thread_id, limit: 2, offset: 0 });
      for (const listed of page) expect(listed).not.toHaveProperty("tasks");
      expect(await storage().runs.tasks?.(newId(), copied.run_id)).toBeNull();
    });

    it("ignores a second outcome of the same run", async () => {
      const run = await seedRun((await seedThread()).thread_id);
      const [first, second] = [outcome(run), outcome(run)];
      second.run.status = "error";
      second.thread.status = "error";
      await storage().runs.settle([first, second]);
      expect(await storage().runs.get(run.thread_id, run.run_id)).toMatchObject({ status: "success" });
      expect(await storage().threads.get(run.thread_id)).toMatchObject({ status: "idle" });
    });

    it("changes the thread while other runs wait for it", async () => {
      const { thread_id } = await seedThread();
      const run = await seedRun(thread_id);
      await seedRun(thread_id, { state: "queued", attempt: 0 });
      const ended = outcome(run);
      const state_updated_at = tick();
      ended.thread = { ...ended.thread, state_updated_at };
      await storage().runs.settle([ended]);
      expect(await storage().threads.get(thread_id)).toMatchObject({ status: "idle", state_updated_at });
    });

    it("ignores outcomes of deleted threads", async () => {
      const [gone, kept] = [
        await seedRun((await seedThread()).thread_id),
        await seedRun((await seedThread()).thread_id),
      ];
      await storage().threads.delete(gone.thread_id);
      await storage().runs.settle([outcome(gone), outcome(kept)]);
      expect(await storage().threads.get(gone.thread_id)).toBeUndefined();
      expect(await storage().runs.get(gone.thread_id, gone.run_id)).toBeUndefined();
      expect(await storage().runs.get(kept.thread_id, kept.run_id)).toMatchObject({ status: "success" });
    });

    it("ignores an outcome with the wrong thread", async () => {
      const [run, other] = [await seedRun((await seedThread()).thread_id), await seedThread()];
      await storage().runs.settle([{ ...outcome(run), threadId: other.thread_id }]);
      expect(await storage().runs.get(run.thread_id, run.run_id)).toEqual(run);
      expect(await storage().threads.get(other.thread_id)).toEqual(other);
    });
  });

  describe("owners", () => {
    const owner = (id: string): Owner => ({ id, host: "here", pid: 42, seen_at: tick() });

    it("unfinished runs are listed with their owners", async () => {
      const { thread_id } = await seedThread();
      const alive = owner("alive");
      const [pending, running] = [
        await seedRun(thread_id, { owner: "alive" }),
        await seedRun(thread_id, { owner: "unheard", status: "running" }),
      ];
      await seedRun(thread_id, { owner: "alive", status: "success" });
      await storage().owners.beat(owner("alive"));
      await storage().owners.beat(alive);
      expect(await storage().runs.unfinished()).toEqual([
        { run_id: pending.run_id, thread_id, owner: alive },
        { run_id: running.run_id, thread_id, owner: undefined },
      ]);
    });

    it("unfinished runs are filtered by thread and owner", async () => {
      const [one, another] = [await seedThread(), await seedThread()];
      const ours = await seedRun(one.thread_id, { owner: "ours" });
      const theirs = await seedRun(one.thread_id, { owner: "theirs", status: "running" });
      await seedRun(one.thread_id, { owner: "ours", status: "success" });
      const elsewhere = await seedRun(another.thread_id, { owner: "ours" });
      const idsOf = async (query: UnfinishedQuery) =>
        (await storage().runs.unfinished(query)).map(({ run_id }) => run_id).sort();
      const sorted = (...runs: RunRow[]) => runs.map(({ run_id }) => run_id).sort();
      expect(await idsOf({ threadId: one.thread_id })).toEqual(sorted(ours, theirs));
      expect(await idsOf({ ownerId: "ours" })).toEqual(sorted(ours, elsewhere));
      expect(await idsOf({ threadId: another.thread_id, ownerId: "theirs" })).toEqual([]);
      expect(await idsOf({ threadId: undefined })).toHaveLength(3);
    });

    it("a removed owner is unknown", async () => {
      const { thread_id } = await seedThread();
      await seedRun(thread_id, { owner: "leaving" });
      await storage().owners.beat(owner("leaving"));
      await storage().owners.remove("leaving");
      await storage().owners.remove("never there");
      expect(await storage().runs.unfinished()).toMatchObject([{ thread_id, owner: undefined }]);
    });
  });

  describe("cancel requests", () => {
    it("an owner receives the requests for its own unfinished runs", async () => {
      const { thread_id } = await seedThread();
      const [asked, ended] = [await seedRun(thread_id), await seedRun(thread_id, { status: "success" })];
      const other = await seedRun(thread_id, { owner: "other" });
      await seedRun(thread_id);
      for (const { run_id } of [asked, asked, ended, other]) await storage().runs.requestCancel(run_id);
      await storage().runs.requestCancel(newId());
      expect(await storage().runs.cancelRequests(asked.owner)).toEqual([asked.run_id]);
      expect(await storage().runs.cancelRequests("other")).toEqual([other.run_id]);
      expect(await storage().runs.get(thread_id, asked.run_id)).toEqual(asked);
    });

    it("a cancel request is removed when its run ends", async () => {
      const { thread_id } = await seedThread();
      const [settled, deleted] = [await seedRun(thread_id), await seedRun(thread_id)];
      for (const { run_id } of [settled, deleted]) await storage().runs.requestCancel(run_id);
      expect((await storage().runs.cancelRequests(settled.owner)).sort()).toEqual(
        [settled.run_id, deleted.run_id].sort(),
      );
      await storage().runs.settle([outcome(settled)]);
      await storage().runs.delete(thread_id, deleted.run_id);
      expect(await storage().runs.cancelRequests(settled.owner)).toEqual([]);
    });
  });
}
