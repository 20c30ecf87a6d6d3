import { afterEach, describe, expect, it, vi } from "vitest";
import type { ThreadLocks } from "../../src/storage/contract/locks.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { explainMongodb } from "../../src/storage/mongodb/errors.js";
import { openMongodbLocks } from "../../src/storage/mongodb/locks.js";
import { deferred } from "../helpers/deferred.js";
import { withMongodb } from "../helpers/mongodb.js";

const QUICK = { lease: 15_000, giveUp: 10_000, renewEvery: 20 };
const SLOW = { ...QUICK, renewEvery: 3_000 };
const aborted = (signal: AbortSignal | undefined) =>
  new Promise<void>((resolve) => {
    if (signal?.aborted) resolve();
    signal?.addEventListener("abort", () => resolve(), { once: true });
  });

withMongodb("mongodb locks", (mongodb) => {
  type ProcessLocks = ThreadLocks & { close(): Promise<void> };
  const opened: ProcessLocks[] = [];

  /** The locks of one process. */
  async function open({ maxWaiting = 5, timing = QUICK } = {}): Promise<ProcessLocks> {
    const options = { maxWaiting, explain: explainMongodb("test"), timing };
    const { threads, close } = await openMongodbLocks(mongodb().db, options);
    const locks = Object.assign(threads, { close });
    opened.push(locks);
    return locks;
  }

  const sessions = () => mongodb().db.collection<{ _id: string; seen_at: Date }>("gs_sessions");
  const locksOf = () => mongodb().db.collection<{ _id: string; owner: string; wanted: boolean }>("gs_locks");

  /** Simulates a lease owner that has not renewed for longer than its lease. */
  async function silence(threadId: string): Promise<void> {
    const lock = await locksOf().findOne({ _id: threadId });
    await sessions().updateOne({ _id: lock!.owner }, { $set: { seen_at: new Date(Date.now() - 16_000) } });
  }

  afterEach(async () => {
    for (const locks of opened.splice(0)) await locks.close();
    await mongodb().close();
    await mongodb().empty();
  });

  it("a thread locked by another process is busy until it is released", async () => {
    const [one, two] = [await open(), await open()];
    const lease = await one.acquire("t", { wait: false });
    expect(await two.acquire("t", { wait: false })).toBeUndefined();
    const other = await two.acquire("u", { wait: false });
    await lease!.release();
    const next = await two.acquire("t", { wait: false });
    expect(next).toBeDefined();
    expect(await one.acquire("t", { wait: false })).toBeUndefined();
    await next!.release();
    await other!.release();
    expect(await locksOf().findOne({})).toBeNull();
  });

  it("a waiter gets the thread when another process releases it", async () => {
    const [one, two] = [await open(), await open()];
    const lease = await one.acquire("t", { wait: true });
    const waiting = two.acquire("t", { wait: true });
    await lockIsWanted("t");
    expect(two.waiting("t")).toBe(1);
    await lease!.release();
    const next = await waiting;
    expect(next).toBeDefined();
    expect(two.waiting("t")).toBe(0);
    await next!.release();
  });

  it("concurrent waiters for a thread of another process never exceed the limit", async () => {
    const [one, two] = [await open(), await open({ maxWaiting: 2 })];
    const lease = await one.acquire("t", { wait: true });
    for (let round = 0; round < 3; round += 1) {
      const leave = new AbortController();
      const calls = Array.from({ length: 6 }, () => two.acquire("t", { wait: true, signal: leave.signal }));
      const refused: unknown[] = [];
      for (const call of calls) call.catch((error: unknown) => refused.push(error));
      await expect.poll(() => refused.length).toBe(4);
      expect(refused).toMatchObject(Array.from({ length: 4 }, () => ({ code: "thread_busy" })));
      expect(two.waiting("t")).toBe(2);
      leave.abort(new Error("gone"));
      await Promise.allSettled(calls);
      expect(two.waiting("t")).toBe(0);
    }
    await lease!.release();
  });

  it("concurrent waiters in the lease owner's process never exceed the limit", async () => {
    const one = await open({ maxWaiting: 2 });
    const calls = Array.from({ length: 5 }, () => one.acquire("t", { wait: true }));
    const refused: unknown[] = [];
    for (const call of calls) call.catch((error: unknown) => refused.push(error));
    const first = await calls[0];
    await expect.poll(() => refused.length).toBe(2);
    expect(one.waiting("t")).toBe(2);
    await first!.release();
    for (const call of calls.slice(1, 3)) await (await call)!.release();
  });

  it("a waiting process goes before the lease owner's own queue", async () => {
    const [one, two] = [await open(), await open()];
    const order: string[] = [];
    const run = async (name: string, locks: ThreadLocks) => {
      const lease = await locks.acquire("t", { wait: true });
      order.push(name);
      await lease!.release();
    };
    const lease = await one.acquire("t", { wait: true });
    const own = [run("one", one), run("one", one)];
    const other = run("two", two);
    await lockIsWanted("t");
    await lease!.release();
    await Promise.all([...own, other]);
    expect(order).toEqual(["two", "one", "one"]);
  });

  it("two storages never hold the same thread together", async () => {
    const storages: Storage[] = [await mongodb().open(), await mongodb().open()];
    let inside = 0;
    let most = 0;
    const work = async ({ locks }: Storage) => {
      const lease = await locks.acquire("t", { wait: true, first: true });
      inside += 1;
      most = Math.max(most, inside);
      await mongodb().db.command({ ping: 1 });
      inside -= 1;
      await lease!.release();
    };
    await Promise.all(Array.from({ length: 12 }, (_, index) => work(storages[index % 2]!)));
    expect(most).toBe(1);
  });

  it("an expired lease is taken over and its previous owner is fenced", async () => {
    const [one, two] = [await open(), await open()];
    const old = await one.acquire("t", { wait: true });
    await silence("t");
    // The owner may renew before the other process checks, so it is silenced until the other has the thread.
    let taken = await two.acquire("t", { wait: false });
    while (!taken) {
      await silence("t");
      taken = await two.acquire("t", { wait: false });
    }
    await aborted(old!.lost);
    expect(old!.lost?.reason).toMatchObject({ code: "storage_unavailable" });
    await old!.release();
    expect(await one.acquire("t", { wait: false })).toBeUndefined();
    expect(taken.lost?.aborted).toBe(false);
    await taken.release();
    expect(await one.acquire("t", { wait: false })).toBeDefined();
  });

  it("a suspended process detects that its lease has expired", async () => {
    const locks = await open({ timing: SLOW });
    const lease = await locks.acquire("t", { wait: true });
    expect(lease!.confirm?.()).toBeUndefined();
    expect(lease!.lost?.aborted).toBe(false);
    const now = Date.now();
    vi.spyOn(Date, "now").mockImplementation(() => now + 10_000);
    expect(lease!.confirm?.()).toBeUndefined();
    expect(lease!.lost?.aborted).toBe(true);
  });

  it("locks of a closed process are free", async () => {
    const [one, two] = [await open(), await open()];
    await one.acquire("t", { wait: true });
    opened.splice(opened.indexOf(one), 1);
    await one.close();
    expect(await two.acquire("t", { wait: false })).toBeDefined();
  });

  it("leftovers of dead processes are removed", async () => {
    await sessions().insertOne({ _id: "dead", seen_at: new Date(0) });
    await locksOf().insertOne({ _id: "t", owner: "dead", wanted: false });
    const locks = await open();
    expect(await sessions().findOne({ _id: "dead" })).toBeNull();
    expect(await locksOf().findOne({})).toBeNull();
    expect(await locks.acquire("t", { wait: false })).toBeDefined();
  });

  it("the next waiter is served when one leaves", async () => {
    const [one, two] = [await open(), await open()];
    const lease = await one.acquire("t", { wait: true });
    const leaving = new AbortController();
    const gone = two.acquire("t", { wait: true, signal: leaving.signal });
    const next = two.acquire("t", { wait: true });
    await lockIsWanted("t");
    expect(two.waiting("t")).toBe(2);
    leaving.abort(new Error("client left"));
    await expect(gone).rejects.toThrow("client left");
    await lease!.release();
    await (await next)!.release();
  });

  it("the queue for a thread of another process is limited", async () => {
    const [one, two, none] = [await open(), await open({ maxWaiting: 1 }), await open({ maxWaiting: 0 })];
    const lease = await one.acquire("t", { wait: true });
    const waiting = two.acquire("t", { wait: true });
    await lockIsWanted("t");
    await expect(two.acquire("t", { wait: true })).rejects.toMatchObject({ code: "thread_busy" });
    await expect(none.acquire("t", { wait: true })).rejects.toMatchObject({ code: "thread_busy" });
    await lease!.release();
    await (await waiting)!.release();
  });

  describe("the session", () => {
    it("a single write renews all locks", async () => {
      const locks = await open();
      const leases = await Promise.all(["a", "b", "c"].map((id) => locks.acquire(id, { wait: true })));
      const [session] = await sessions().find().toArray();
      const renewed = deferred<void>();
      const look = async () => {
        const [now] = await sessions().find().toArray();
        if (now && now.seen_at > session!.seen_at) renewed.resolve();
        else setImmediate(() => void look());
      };
      void look();
      await renewed.promise;
      expect(leases.every((lease) => lease?.lost?.aborted === false)).toBe(true);
    });
  });

  /** Resolves when another process waits for the thread. */
  async function lockIsWanted(threadId: string): Promise<void> {
    while (!(await locksOf().findOne({ _id: threadId, wanted: true })));
  }
});
