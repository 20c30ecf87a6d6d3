import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { newId } from "../../src/support/ids.js";
import { explainMongodb } from "../../src/storage/mongodb/errors.js";
import { openStorage } from "../../src/storage/open.js";
import type { RunOutcome, RunRow } from "../../src/storage/contract/runs.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import type { ThreadRow } from "../../src/storage/contract/threads.js";
import { MongodbDouble, type Fate } from "../doubles/mongodb-double.js";
import { minutesAfter, runRow, threadRow, tick } from "./contract/rows.js";

let double: MongodbDouble;
let storage: Storage;
const options = { checkpointer_scheme: "mongodb", checkpointer_options: {}, max_queued_runs: 2 };

beforeAll(async () => {
  double = await MongodbDouble.start();
});
beforeEach(async () => {
  storage = await openStorage({
    ...options,
    checkpointer_uri: `${double.uri}/faults?minHeartbeatFrequencyMS=50`,
  });
});
afterEach(async () => {
  double.fateOf = () => "run";
  await storage.close();
});
afterAll(() => double.stop());

type Strike = <T>(work: () => Promise<T>) => Promise<T | Error>;

/**
 * Repeats `attempt`, each time letting one more command on rows succeed before one fails with `fate`, until none
 * fails. Returns the number of commands.
 */
async function eachFault(fate: Fate, attempt: (strike: Strike) => Promise<void>): Promise<number> {
  let count = 0;
  for (let nth = 1; nth === 1 || count >= nth - 1; nth += 1) {
    await attempt(async (work) => {
      count = 0;
      double.fateOf = (name, command) => {
        if (!/^gs_(threads|runs)$/.test(String(command[name]))) return "run";
        count += 1;
        return count === nth ? fate : "run";
      };
      try {
        return await work();
      } catch (error) {
        return error as Error;
      } finally {
        double.fateOf = () => "run";
      }
    });
  }
  return count;
}

async function seed(): Promise<{ thread: ThreadRow; run: RunRow }> {
  const thread = threadRow({ metadata: { a: 1 } });
  await storage.threads.insert(thread);
  return { thread, run: runRow(thread.thread_id) };
}

const outcome = ({ run_id, thread_id }: RunRow, status: "success" | "error"): RunOutcome => ({
  runId: run_id,
  run: { updated_at: tick(), state: "ended", status },
  threadId: thread_id,
  thread: { updated_at: tick(), status: status === "success" ? "idle" : "error" },
});

const isUnfinished = async ({ run_id }: RunRow) =>
  (await storage.runs.unfinished()).some((one) => one.run_id === run_id);

const beat = () => storage.owners.beat({ id: "me", host: "here", pid: 1, seen_at: tick() });

describe.each<Fate>(["drop", "drop after"])("a connection lost during a command: %s", (fate) => {
  it("a deletion of a thread has no effect, or is completed by the next sweep", async () => {
    const ttl = { strategy: "keep_latest" as const, ttl_minutes: 5 };
    for (const isConditional of [true, false]) {
      const faults = await eachFault(fate, async (strike) => {
        const thread = threadRow({ ttl });
        const { thread_id, updated_at } = thread;
        const run = runRow(thread_id, { status: "success" });
        await storage.threads.insert(thread);
        await storage.runs.insert(run, { updated_at });
        await strike(() => storage.threads.delete(thread_id, isConditional ? updated_at : undefined));
        const row = await storage.threads.get(thread_id);
        expect([undefined, thread]).toContainEqual(row);
        if (row) expect(await storage.runs.get(thread_id, run.run_id)).toEqual(run);
        else expect(await storage.threads.update(thread_id, { updated_at: tick() })).toBeUndefined();
        if (row) await storage.threads.delete(thread_id);
        for (const left of await storage.threads.expired(minutesAfter(updated_at, 1), 10)) {
          expect(left).toMatchObject({ thread_id, ttl: { strategy: "delete" } });
          expect(await storage.threads.delete(left.thread_id, left.updated_at)).toBe(true);
        }
        expect(await storage.runs.get(thread_id, run.run_id)).toBeUndefined();
        expect(await storage.threads.insert(thread)).toBe(true);
        await storage.threads.delete(thread_id);
      });
      expect(faults).toBeGreaterThanOrEqual(3);
    }
  });

  it("a run is inserted completely or not at all", async () => {
    const faults = await eachFault(fate, async (strike) => {
      const { thread, run } = await seed();
      const patch = { updated_at: tick(), status: "busy" as const };
      const inserted = await strike(() => storage.runs.insert(run, patch));
      await beat();
      const row = await storage.threads.get(thread.thread_id);
      const stored = await storage.runs.get(thread.thread_id, run.run_id);
      if (inserted === true) {
        expect([row, stored]).toEqual([{ ...thread, ...patch }, run]);
        return;
      }
      expect(inserted).toBeInstanceOf(StorageUnavailableError);
      expect([row, stored]).toEqual([thread, undefined]);
    });
    expect(faults).toBe(3);
  });

  it("a run whose end was interrupted ends exactly once", async () => {
    const faults = await eachFault(fate, async (strike) => {
      const { thread, run } = await seed();
      await storage.runs.insert(run, { updated_at: tick(), status: "busy" });
      await strike(() => storage.runs.settle([outcome(run, "success")]));
      // As recovery does, in any process.
      if (await isUnfinished(run)) await storage.runs.settle([outcome(run, "error")]);
      const row = await storage.threads.get(thread.thread_id);
      const ended = await storage.runs.get(thread.thread_id, run.run_id);
      expect(["success idle", "error error"]).toContain(`${ended?.status} ${row?.status}`);
    });
    expect(faults).toBe(4);
  });

  it("an interrupted end of a run does not affect the end of the next run", async () => {
    await eachFault(fate, async (strike) => {
      const { thread, run } = await seed();
      await storage.runs.insert(run, { updated_at: tick(), status: "busy" });
      const settled = await strike(() => storage.runs.settle([outcome(run, "success")]));
      const wasDecided = (await storage.threads.get(thread.thread_id))?.status === "idle";
      const next = runRow(thread.thread_id);
      await storage.runs.insert(next, { updated_at: tick(), status: "busy" });
      await storage.runs.settle([outcome(next, "success")]);
      const ended = await storage.runs.get(thread.thread_id, run.run_id);
      expect(ended?.status).toBe(wasDecided ? "success" : "pending");
      if (!(settled instanceof Error)) expect(wasDecided).toBe(true);
      await storage.runs.settle([outcome(run, "error")]);
      const row = await storage.threads.get(thread.thread_id);
      expect(row?.status).toBe(wasDecided ? "idle" : "error");
    });
  });

  it("an interrupted deletion can be repeated", async () => {
    await eachFault(fate, async (strike) => {
      const { thread, run } = await seed();
      await storage.runs.insert(run, { updated_at: tick() });
      const deleted = await strike(() => storage.threads.delete(thread.thread_id));
      if (deleted instanceof Error) await storage.threads.delete(thread.thread_id);
      expect(await storage.threads.get(thread.thread_id)).toBeUndefined();
      await storage.runs.settle([outcome(run, "error")]);
      expect(await storage.runs.get(thread.thread_id, run.run_id)).toBeUndefined();
      expect(await isUnfinished(run)).toBe(false);
    });
  });

  it("a lock whose acquisition failed is free", async () => {
    double.fateOf = (name) => (name === "insert" ? fate : "run");
    const refused = storage.locks.acquire("t", { wait: false });
    await expect(refused).rejects.toBeInstanceOf(StorageUnavailableError);
    double.fateOf = () => "run";
    const lease = await storage.locks.acquire("t", { wait: false });
    expect(lease).toBeDefined();
    await lease?.release();
  });
});

describe("documents of 16 MB", () => {
  const large = "x".repeat(16 * 1024 * 1024);
  const isTooLarge = { code: "payload_too_large", status: 413 };

  it("larger metadata is rejected", async () => {
    const row = threadRow({ metadata: { large } });
    await expect(storage.threads.insert(row)).rejects.toMatchObject(isTooLarge);
    expect(await storage.threads.get(row.thread_id)).toBeUndefined();
  });

  it("a larger state is rejected", async () => {
    const config = { configurable: { thread_id: newId(), checkpoint_ns: "" } };
    const metadata = { source: "loop" as const, step: 0, parents: {} };
    const checkpoint = { ...emptyCheckpoint(), channel_values: { large } };
    const refused = storage.checkpointer.put(config, checkpoint, metadata, {});
    await expect(refused).rejects.toMatchObject({
      ...isTooLarge,
      message: "a value of 16.0 MB is too large: a MongoDB document can hold 16 MB",
    });
    const stored = await storage.checkpointer.put(config, emptyCheckpoint(), metadata, {});
    const writes = storage.checkpointer.putWrites(stored, [["large", large]], "task");
    await expect(writes).rejects.toMatchObject(isTooLarge);
  });

  it("values that fit separately can exceed the limit together", async () => {
    const half = "x".repeat(9 * 1024 * 1024);
    const row = threadRow({ metadata: { half }, config: { half } });
    await expect(storage.threads.insert(row)).rejects.toMatchObject(isTooLarge);
  });
});

it.each(["ECONNRESET", "EPIPE", "ERR_STREAM_DESTROYED"])("socket error %s is a lost connection", (code) => {
  const error = Object.assign(new Error(`write ${code}`), { code });
  expect(explainMongodb("host:1")(error)).toEqual({ message: "MongoDB at host:1 lost the connection" });
});

it("checkpoints store metadata with any key", async () => {
  const odd = { $where: "x", "a.b": "y", "": "z", $set: 1 };
  const config = { configurable: { thread_id: newId(), checkpoint_ns: "", ...odd } };
  const stored = await storage.checkpointer.put(
    config,
    emptyCheckpoint(),
    { source: "loop", step: 0, parents: { "$a.b": "c" } },
    {},
  );
  const tuple = await storage.checkpointer.getTuple(stored);
  expect(tuple?.metadata).toMatchObject({ ...odd, parents: { "$a.b": "c" } });
});
