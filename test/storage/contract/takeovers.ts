import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { describe, expect, it } from "vitest";
import { RunTakenError } from "../../../src/support/errors.js";
import { newId } from "../../../src/support/ids.js";
import type { Resumption, RunHolder, RunLease, RunRow } from "../../../src/storage/contract/runs.js";
import type { Storage } from "../../../src/storage/contract/storage.js";
import { runRow, threadRow, tick } from "./rows.js";

const FIRST: RunLease = { state: "running", owner: "process-1", attempt: 1 };
const SECOND: RunLease = { state: "running", owner: "process-2", attempt: 2 };
const RESUMPTION: Resumption = {
  unattended: true,
  isWhole: true,
  caller: { user: { identity: "ann \u0001 ü", $where: "1" }, scope: { owner: "ann" } },
  stateless: { temporary: false },
  spent_ms: 7,
};

/** The contract of a storage that implements `take`. */
export function takeoverTests(storage: () => Storage): void {
  async function running(fields: Partial<RunRow> = {}): Promise<RunRow> {
    const { thread_id } = await seedThread();
    const run = runRow(thread_id, { status: "running", resumption: RESUMPTION, ...fields });
    await storage().runs.insert(run, { updated_at: tick(), status: "busy" });
    return run;
  }

  async function seedThread() {
    const row = threadRow();
    await storage().threads.insert(row);
    return row;
  }

  const row = ({ thread_id, run_id }: RunRow) => storage().runs.get(thread_id, run_id);
  const take = async (run: RunRow, from: RunHolder = FIRST, to: RunLease = SECOND) =>
    storage().runs.take?.(
      run,
      from,
      { updated_at: tick(), status: "running", ...to },
      { updated_at: tick() },
    );
  const end = (run: RunRow, holder?: RunHolder) =>
    storage().runs.settle([
      {
        runId: run.run_id,
        holder,
        run: { updated_at: tick(), status: "success", state: "ended", resumption: null },
        threadId: run.thread_id,
        thread: { updated_at: tick(), status: "idle" },
      },
    ]);

  describe("run takeover", () => {
    it("the resumption data is stored with the run until it ends", async () => {
      const run = await running();
      expect(await row(run)).toEqual(run);
      await end(run);
      expect(await row(run)).toMatchObject({ status: "success", resumption: null });
    });

    it("the new owner gets the run, and its thread is patched", async () => {
      const run = await running();
      const resumption = { ...RESUMPTION, spent_ms: 70 };
      const at = tick();
      const patch = { updated_at: at, status: "running" as const, ...SECOND, resumption };
      const thread = { updated_at: at, status: "busy" as const, mergeMetadata: { taken: true } };
      expect(await storage().runs.take?.(run, FIRST, patch, thread)).toBe(true);
      expect(await row(run)).toEqual({ ...run, ...patch });
      const { metadata, updated_at } = (await storage().threads.get(run.thread_id)) ?? {};
      expect({ metadata, updated_at }).toEqual({ metadata: { taken: true }, updated_at: at });
    });

    it("only one of several concurrent takeovers succeeds", async () => {
      const run = await running();
      const taken = await Promise.all(
        Array.from({ length: 5 }, (_, n) => take(run, FIRST, { ...SECOND, owner: `next-${n}` })),
      );
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await row(run)).toMatchObject({ owner: `next-${taken.indexOf(true)}`, attempt: 2 });
    });

    it("a queued run that another process has cancelled does not start", async () => {
      const run = await running();
      const queued = { state: "queued", owner: "next", attempt: 1 } as const;
      expect(await take(run, FIRST, queued)).toBe(true);
      await storage().runs.requestCancel(run.run_id);
      expect(await take(run, queued, { ...queued, state: "running" })).toBe(false);
      expect(await row(run)).toMatchObject(queued);
      expect(await take(run, queued, { ...queued, owner: "later" })).toBe(true);
    });

    it("an ended run, or one with another owner or thread, is not taken over", async () => {
      const ended = await running();
      await end(ended);
      expect(await take(ended)).toBe(false);
      const run = await running();
      expect(await take(run, { ...FIRST, attempt: 0 })).toBe(false);
      expect(await take(run, { ...FIRST, owner: "another" })).toBe(false);
      const elsewhere = { ...run, thread_id: (await seedThread()).thread_id };
      expect(await take(elsewhere)).toBe(false);
      expect(await row(run)).toEqual(run);
    });

    it("the previous owner can neither update nor end the run", async () => {
      const run = await running();
      await take(run);
      const before = await storage().threads.get(run.thread_id);
      expect(
        await storage().runs.update(
          run.run_id,
          { updated_at: tick(), status: "error", state: "ended" },
          FIRST,
        ),
      ).toBe(false);
      await end(run, FIRST);
      expect(await row(run)).toMatchObject({ status: "running", ...SECOND });
      expect(await storage().threads.get(run.thread_id)).toEqual(before);
      expect(await storage().runs.update(run.run_id, { updated_at: tick() }, SECOND)).toBe(true);
      await end(run, SECOND);
      expect(await row(run)).toMatchObject({ status: "success", ...SECOND, state: "ended" });
      expect(await storage().threads.get(run.thread_id)).toMatchObject({ status: "idle" });
    });

    it("only one of a concurrent end and takeover takes effect", async () => {
      for (let round = 0; round < 10; round += 1) {
        const run = await running();
        const [taken] = await Promise.all([take(run), end(run, FIRST)]);
        expect(await row(run)).toMatchObject({ status: taken ? "running" : "success" });
        await end(run, SECOND);
        expect(await row(run)).toMatchObject({ status: "success", attempt: taken ? 2 : 1 });
      }
    });
  });

  describe("checkpoints after a takeover", () => {
    const place = ({ thread_id, run_id }: RunRow, checkpoint_id?: string) => ({
      configurable: { thread_id, checkpoint_ns: "", run_id, checkpoint_id },
    });
    let clock = 0;
    async function put(run: RunRow, parent?: string): Promise<string> {
      const checkpoint = {
        ...emptyCheckpoint(),
        id: uuid6(clock++),
        channel_values: { log: "x".repeat(2000) },
        channel_versions: { log: 1 },
      };
      const metadata = { source: "loop" as const, step: 0, parents: {} };
      await storage().checkpointer.put(place(run, parent), checkpoint, metadata, { log: 1 });
      return checkpoint.id;
    }
    const latest = async ({ thread_id }: RunRow) =>
      storage().checkpointer.getTuple({ configurable: { thread_id } });
    const hold = ({ run_id }: RunRow, holder: RunHolder) => storage().checkpointer.hold?.(run_id, holder);

    it("are stored for the new owner and rejected for the previous one", async () => {
      const run = await running();
      hold(run, FIRST);
      const kept = await put(run);
      await take(run);
      await expect(put(run, kept)).rejects.toBeInstanceOf(RunTakenError);
      const writes = storage().checkpointer.putWrites(place(run, kept), [["log", 1]], "task");
      await expect(writes).rejects.toBeInstanceOf(RunTakenError);
      expect(await latest(run)).toMatchObject({ checkpoint: { id: kept }, pendingWrites: [] });
      hold(run, SECOND);
      const next = await put(run, kept);
      await storage().checkpointer.putWrites(place(run, next), [["log", 1]], "task");
      expect(await latest(run)).toMatchObject({
        checkpoint: { id: next },
        pendingWrites: [["task", "log", 1]],
      });
    });

    it("are rejected if the run has ended or was deleted", async () => {
      const [ended, gone] = [await running(), await running()];
      for (const run of [ended, gone]) hold(run, FIRST);
      await end(ended);
      await storage().runs.delete(gone.thread_id, gone.run_id);
      for (const run of [ended, gone]) {
        await expect(put(run)).rejects.toBeInstanceOf(RunTakenError);
        expect(await latest(run)).toBeUndefined();
      }
    });

    it("are stored for other runs in the same batch", async () => {
      const runs = await Promise.all(Array.from({ length: 6 }, () => running()));
      for (const run of runs) hold(run, FIRST);
      const taken = runs.filter((_, n) => n % 2 === 0);
      for (const run of taken) await take(run);
      const results = await Promise.allSettled(runs.map((run) => put(run)));
      expect(results.map(({ status }) => status)).toEqual(
        runs.map((run) => (taken.includes(run) ? "rejected" : "fulfilled")),
      );
    });

    it("are stored without an ownership check for runs without a lease or after `unfence`", async () => {
      const run = await running();
      await take(run);
      await put(run);
      hold(run, FIRST);
      storage().checkpointer.unfence(run.run_id);
      await put(run);
      await put({ ...run, run_id: newId() });
    });
  });
}
