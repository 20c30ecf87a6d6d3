import { describe, expect, it } from "vitest";
import type { Storage } from "../../../src/storage/contract/storage.js";
import { minutesAfter, runRow, threadRow, tick } from "./rows.js";

export function threadTests(storage: () => Storage): void {
  describe("threads", () => {
    it("a thread is read as it was written", async () => {
      const row = threadRow({
        metadata: { a: [1, { b: null }], "": true, 'q"': "ü\u2028" },
        scope: '{"owner":"ann \\ud800"}',
        graphs: ["agent", "ü"],
        config: { configurable: { x: 1.5 } },
        state_updated_at: tick(),
        status: "error",
        error: "boom",
        ttl: { strategy: "keep_latest", ttl_minutes: 0.5 },
        preview: {
          key: "messages",
          title: 'ü "quoted" \u2028',
          messages: 2,
          last: { type: "ai", text: "hi", tools: ["look"] },
          steps: 4,
        },
      });
      expect(await storage().threads.insert(row)).toBe(true);
      expect(await storage().threads.get(row.thread_id)).toEqual(row);
    });

    it("inserting an existing id changes nothing", async () => {
      const row = threadRow({ metadata: { first: true } });
      await storage().threads.insert(row);
      expect(await storage().threads.insert({ ...row, metadata: { second: true } })).toBe(false);
      expect(await storage().threads.get(row.thread_id)).toEqual(row);
    });

    it("an unknown thread is undefined in every method", async () => {
      const { thread_id } = threadRow();
      expect(await storage().threads.get(thread_id)).toBeUndefined();
      expect(await storage().threads.update(thread_id, { updated_at: tick() })).toBeUndefined();
      expect(await storage().threads.delete(thread_id)).toBe(false);
    });

    it("a patch changes only the given fields", async () => {
      const row = threadRow({ metadata: { kept: 1, changed: 1 }, config: { a: 1 } });
      await storage().threads.insert(row);
      const patch = {
        updated_at: tick(),
        state_updated_at: tick(),
        status: "busy" as const,
        error: undefined,
        mergeMetadata: { changed: { deep: 2 }, added: null },
      };
      const patched = await storage().threads.update(row.thread_id, patch);
      expect(patched).toEqual({
        ...row,
        updated_at: patch.updated_at,
        state_updated_at: patch.state_updated_at,
        status: "busy",
        metadata: { kept: 1, changed: { deep: 2 }, added: null },
      });
      expect(await storage().threads.get(row.thread_id)).toEqual(patched);
    });

    it("a patch replaces the preview of a thread, and other patches keep it", async () => {
      const row = threadRow();
      await storage().threads.insert(row);
      const preview = { key: "topic", title: "cats", messages: 0, last: null };
      const patch = { updated_at: tick(), preview };
      expect(await storage().threads.update(row.thread_id, patch)).toEqual({ ...row, ...patch });
      const later = { updated_at: tick() };
      expect(await storage().threads.update(row.thread_id, later)).toEqual({ ...row, preview, ...later });
      const { rows } = await storage().threads.search({
        ...{ ids: [row.thread_id], sortBy: "updated_at", sortOrder: "desc", limit: 1, offset: 0 },
      });
      expect(rows).toEqual([{ ...row, preview, ...later }]);
    });

    it("a patch sets the scope and the graphs of a thread", async () => {
      const row = threadRow();
      await storage().threads.insert(row);
      const owned = { updated_at: tick(), scope: '{"owner":"ann"}', graphs: ["a", "b"] };
      expect(await storage().threads.update(row.thread_id, owned)).toEqual({ ...row, ...owned });
      const later = { updated_at: tick() };
      expect(await storage().threads.update(row.thread_id, later)).toEqual({ ...row, ...owned, ...later });
      const run = { updated_at: tick(), graphs: ["a", "b", "c"] };
      expect(await storage().runs.insert(runRow(row.thread_id), run)).toBe(true);
      expect(await storage().threads.get(row.thread_id)).toEqual({ ...row, ...owned, ...run });
    });

    it("a null in a patch clears the field", async () => {
      const ttl = { strategy: "delete" as const, ttl_minutes: 5 };
      const row = threadRow({
        status: "error",
        error: "boom",
        ttl,
        state_updated_at: tick(),
        config: { a: 1 },
      });
      await storage().threads.insert(row);
      const patch = { updated_at: tick(), error: null, ttl: null, state_updated_at: null, config: {} };
      expect(await storage().threads.update(row.thread_id, patch)).toEqual({ ...row, ...patch });
    });

    it("returned rows are copies", async () => {
      const row = threadRow({ metadata: { list: [1] } });
      await storage().threads.insert(row);
      const before = structuredClone(row);
      (row.metadata.list as number[]).push(2);
      const read = await storage().threads.get(row.thread_id);
      expect(read).toEqual(before);
      (read?.metadata.list as number[]).push(3);
      read!.status = "busy";
      expect(await storage().threads.get(row.thread_id)).toEqual(before);
    });

    it("hostile metadata keys are treated as data", async () => {
      const metadata = JSON.parse(
        '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
      ) as object;
      const row = threadRow({ metadata: { ...metadata } });
      await storage().threads.insert(row);
      await storage().threads.update(row.thread_id, {
        updated_at: tick(),
        mergeMetadata: JSON.parse('{"__proto__":{"merged":1}}') as Record<string, unknown>,
      });
      const read = await storage().threads.get(row.thread_id);
      expect(JSON.stringify(read?.metadata)).toBe(
        '{"__proto__":{"merged":1},"constructor":{"prototype":{"polluted":1}}}',
      );
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    });

    it("deleting a thread deletes its runs", async () => {
      const [row, other] = [threadRow(), threadRow()];
      const [run, otherRun] = [runRow(row.thread_id), runRow(other.thread_id)];
      await storage().threads.insert(row);
      await storage().threads.insert(other);
      await storage().runs.insert(run, { updated_at: tick() });
      await storage().runs.insert(otherRun, { updated_at: tick() });
      expect(await storage().threads.delete(row.thread_id)).toBe(true);
      expect(await storage().threads.get(row.thread_id)).toBeUndefined();
      expect(await storage().runs.get(row.thread_id, run.run_id)).toBeUndefined();
      expect(await storage().runs.unfinished()).toMatchObject([{ run_id: otherRun.run_id }]);
      expect(await storage().threads.delete(row.thread_id)).toBe(false);
    });
  });

  unchangedTests(storage);

  describe("time to live", () => {
    const ttl = { strategy: "delete" as const, ttl_minutes: 5 };

    it("threads expire a fixed time after their last update", async () => {
      const row = threadRow({ ttl });
      await storage().threads.insert(row);
      await storage().threads.insert(threadRow());
      expect(await storage().threads.expired(minutesAfter(row.updated_at, 5), 10)).toEqual([]);
      expect(await storage().threads.expired(minutesAfter(row.updated_at, 5.001), 10)).toEqual([row]);
    });

    it("an update extends the time to live", async () => {
      const row = threadRow({ ttl });
      await storage().threads.insert(row);
      const end = minutesAfter(row.updated_at, 6);
      await storage().threads.update(row.thread_id, { updated_at: minutesAfter(row.updated_at, 2) });
      expect(await storage().threads.expired(end, 10)).toEqual([]);
      await storage().threads.update(row.thread_id, { updated_at: end, ttl: null });
      expect(await storage().threads.expired(minutesAfter(end, 60), 10)).toEqual([]);
    });

    it("a ttl without minutes never ends", async () => {
      const never = { strategy: "keep_latest" as const, ttl_minutes: null };
      const row = threadRow({ ttl: never });
      await storage().threads.insert(row);
      expect(await storage().threads.get(row.thread_id)).toEqual(row);
      const other = threadRow({ ttl });
      await storage().threads.insert(other);
      const patch = { updated_at: tick(), ttl: never };
      expect(await storage().threads.update(other.thread_id, patch)).toEqual({ ...other, ...patch });
      expect(await storage().threads.expired(minutesAfter(row.updated_at, 60), 10)).toEqual([]);
    });

    it("busy threads never expire", async () => {
      const row = threadRow({ ttl, status: "busy" });
      await storage().threads.insert(row);
      expect(await storage().threads.expired(minutesAfter(row.updated_at, 60), 10)).toEqual([]);
    });

    it("the threads that expired first are returned first", async () => {
      const late = threadRow({ ttl: { ...ttl, ttl_minutes: 50 } });
      const [second, first] = [threadRow({ ttl: { ...ttl, ttl_minutes: 9 } }), threadRow({ ttl })];
      for (const row of [late, second, first]) await storage().threads.insert(row);
      const expired = await storage().threads.expired(minutesAfter(late.updated_at, 100), 2);
      expect(expired.map((row) => row.thread_id)).toEqual([first.thread_id, second.thread_id]);
      expect(await storage().threads.expired(minutesAfter(late.updated_at, 100), 0)).toEqual([]);
    });
  });
}

function unchangedTests(storage: () => Storage): void {
  describe("threads that have not changed since", () => {
    it("a patch is applied only to the same version of the thread", async () => {
      const row = threadRow();
      await storage().threads.insert(row);
      const patch = { updated_at: tick(), mergeMetadata: { a: 1 } };
      const stale = minutesAfter(row.updated_at, -1);
      expect(await storage().threads.update(row.thread_id, patch, stale)).toBeUndefined();
      expect(await storage().threads.get(row.thread_id)).toEqual(row);
      const patched = { ...row, updated_at: patch.updated_at, metadata: { a: 1 } };
      expect(await storage().threads.update(row.thread_id, patch, row.updated_at)).toEqual(patched);
    });

    it("a thread is deleted with its ended runs", async () => {
      const row = threadRow();
      await storage().threads.insert(row);
      const run = runRow(row.thread_id, { status: "success" });
      const updated_at = tick();
      await storage().runs.insert(run, { updated_at });
      expect(await storage().threads.delete(row.thread_id, row.updated_at)).toBe(false);
      expect(await storage().threads.delete(row.thread_id, updated_at)).toBe(true);
      expect(await storage().threads.get(row.thread_id)).toBeUndefined();
      expect(await storage().runs.get(row.thread_id, run.run_id)).toBeUndefined();
      expect(await storage().threads.delete(row.thread_id, updated_at)).toBe(false);
    });

    it("a thread with a run that has not ended is kept, and a busy one", async () => {
      const [pending, busy] = [threadRow(), threadRow({ status: "busy" })];
      const run = runRow(pending.thread_id);
      await storage().threads.insert(pending);
      await storage().threads.insert(busy);
      const { updated_at } = pending;
      await storage().runs.insert(run, { updated_at });
      expect(await storage().threads.delete(pending.thread_id, updated_at)).toBe(false);
      expect(await storage().threads.delete(busy.thread_id, busy.updated_at)).toBe(false);
      expect(await storage().threads.get(pending.thread_id)).toEqual(pending);
      expect(await storage().runs.get(pending.thread_id, run.run_id)).toMatchObject({ status: "pending" });
      await storage().runs.update(run.run_id, { updated_at: tick(), status: "running" });
      expect(await storage().threads.delete(pending.thread_id, updated_at)).toBe(false);
    });

    it("of a run and a deletion at the same time, one is refused", async () => {
      const rows = Array.from({ length: 20 }, () => threadRow());
      for (const row of rows) await storage().threads.insert(row);
      const runs = rows.map(({ thread_id }) => runRow(thread_id));
      const at = tick();
      const outcomes = await Promise.all(
        rows.map(({ thread_id, updated_at }, index) =>
          Promise.all([
            storage().runs.insert(runs[index]!, { updated_at: at }),
            storage().threads.delete(thread_id, updated_at),
          ]),
        ),
      );
      for (const [index, [isInserted, isDeleted]] of outcomes.entries()) {
        const { run_id, thread_id } = runs[index]!;
        expect(isInserted).toBe(!isDeleted);
        expect((await storage().threads.get(thread_id)) !== undefined).toBe(isInserted);
        expect((await storage().runs.get(thread_id, run_id)) !== undefined).toBe(isInserted);
      }
    });
  });
}
