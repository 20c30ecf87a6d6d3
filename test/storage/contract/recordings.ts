import { describe, expect, it } from "vitest";
import type { RecordingRow, RecordingTable } from "../../../src/storage/contract/recordings.js";
import type { Storage } from "../../../src/storage/contract/storage.js";
import { newId } from "../../../src/support/ids.js";
import { runRow, threadRow, tick } from "./rows.js";

/** For backends that keep recordings. */
export function recordingTests(storage: () => Storage): void {
  const table = (): RecordingTable => {
    const { recordings } = storage();
    if (!recordings) throw new Error("this backend does not keep recordings");
    return recordings;
  };
  const page = (limit = 100, offset = 0) => table().page({ limit, offset });

  async function storedRun(threadId?: string): Promise<{ run_id: string; thread_id: string }> {
    const thread = threadRow(threadId === undefined ? {} : { thread_id: threadId });
    if (threadId === undefined) await storage().threads.insert(thread);
    const run = runRow(thread.thread_id);
    await storage().runs.insert(run, { updated_at: tick() });
    return { run_id: run.run_id, thread_id: run.thread_id };
  }

  const row = (
    run: { run_id: string; thread_id: string },
    fields: Partial<RecordingRow> = {},
  ): RecordingRow => ({
    ...{ ...run, at: "2026-01-01T10:00:00.000Z", seq: 1 },
    call: {
      kind: "model",
      asked: { $where: "a.b", text: "a\u0000b\ud83d\ude00" },
      answer: { generations: [{}] },
    },
    ...fields,
  });

  describe("recordings", () => {
    it("the calls of a run are read in the order in which they ended, whichever was stored first", async () => {
      const [run, other] = [await storedRun(), await storedRun()];
      const calls = [
        row(run, { seq: 9 }),
        row(run, { at: "2026-01-01T10:00:00.001Z", seq: 2 }),
        row(run, { at: "2026-01-01T10:00:00.001Z", seq: 10 }),
      ];
      await table().add([...calls.toReversed(), row(other)]);
      await table().add(calls);
      await table().add([]);
      expect(await table().list(run.run_id)).toEqual(calls);
      expect(await table().list(newId())).toEqual([]);
      const all = [...calls, row(other)].sort((a, b) => (a.run_id < b.run_id ? -1 : 1));
      expect(await page()).toEqual(all);
      expect(await page(2, 1)).toEqual(all.slice(1, 3));
      expect(await page(0)).toEqual([]);
    });

    it("are deleted with their run and with their thread, and not stored for a deleted run", async () => {
      const first = await storedRun();
      const [second, other] = [await storedRun(first.thread_id), await storedRun()];
      await table().add([first, second, other].map((run) => row(run)));
      await storage().runs.delete(first.thread_id, first.run_id);
      expect((await page()).map(({ run_id }) => run_id).sort()).toEqual([second.run_id, other.run_id].sort());
      await storage().threads.delete(first.thread_id);
      await table().add([row(first), row(second), row(other, { seq: 2 })]);
      expect((await page()).map(({ run_id }) => run_id)).toEqual([other.run_id, other.run_id]);
    });

    it("those of calls that ended before a time are removed", async () => {
      const run = await storedRun();
      await table().add([row(run), row(run, { at: "2026-01-02T00:00:00.000Z" })]);
      expect(await table().forget("2026-01-02T00:00:00.000Z")).toBe(1);
      expect(await table().forget("2026-01-02T00:00:00.000Z")).toBe(0);
      expect(await page()).toMatchObject([{ at: "2026-01-02T00:00:00.000Z" }]);
    });
  });
}
