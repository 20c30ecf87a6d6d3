import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ThreadBusyError } from "../../src/support/errors.js";
import { createThreadLocks } from "../../src/storage/locks/thread-locks.js";
import { isHeld } from "../helpers/locks.js";
import type { ThreadLease } from "../../src/storage/contract/locks.js";

const locks = () => createThreadLocks({ maxWaiting: 2 });

async function held(threads: ReturnType<typeof locks>, threadId: string): Promise<ThreadLease> {
  const lease = await threads.acquire(threadId, { wait: false });
  if (!lease) throw new Error(`${threadId} is taken`);
  return lease;
}

describe("thread locks", () => {
  it("a locked thread rejects callers that do not wait", async () => {
    const threads = locks();
    await held(threads, "a");
    expect(await threads.acquire("a", { wait: false })).toBeUndefined();
    expect(await threads.acquire("b", { wait: false })).toBeDefined();
  });

  it("waiters are served in order of arrival", async () => {
    const threads = locks();
    const order: string[] = [];
    const first = await held(threads, "a");
    const waiting = ["x", "y"].map(async (name) => {
      const lease = await threads.acquire("a", { wait: true });
      order.push(name);
      void lease?.release();
    });
    expect(threads.waiting("a")).toBe(2);
    void first.release();
    await Promise.all(waiting);
    expect(order).toEqual(["x", "y"]);
    expect(await isHeld(threads, "a")).toBe(false);
  });

  it("a caller with `first` goes before the waiters", async () => {
    const threads = locks();
    const order: string[] = [];
    const first = await held(threads, "a");
    const enter = async (name: string, ahead: boolean) => {
      const lease = await threads.acquire("a", { wait: true, first: ahead });
      order.push(name);
      void lease?.release();
    };
    const waiting = [enter("x", false), enter("y", false), enter("delete", true)];
    void first.release();
    await Promise.all(waiting);
    expect(order).toEqual(["delete", "x", "y"]);
  });

  it("a full queue throws thread_busy", async () => {
    const threads = locks();
    const lease = await held(threads, "a");
    const waiting = [threads.acquire("a", { wait: true }), threads.acquire("a", { wait: true })];
    await expect(threads.acquire("a", { wait: true })).rejects.toBeInstanceOf(ThreadBusyError);
    expect(threads.waiting("a")).toBe(2);
    void lease.release();
    void (await waiting[0])?.release();
    void (await waiting[1])?.release();
    expect(await isHeld(threads, "a")).toBe(false);
  });

  it("an aborted waiter rejects with the signal's reason", async () => {
    const threads = locks();
    const lease = await held(threads, "a");
    const leaver = new AbortController();
    const reason = new Error("client gone");
    const left = threads.acquire("a", { wait: true, signal: leaver.signal });
    leaver.abort(reason);
    await expect(left).rejects.toBe(reason);
    expect(threads.waiting("a")).toBe(0);
    void lease.release();
    expect(await isHeld(threads, "a")).toBe(false);
  });

  it("an abort after the lease was granted has no effect", async () => {
    const threads = locks();
    const first = await held(threads, "a");
    const leaver = new AbortController();
    const waiting = threads.acquire("a", { wait: true, signal: leaver.signal });
    const behind = threads.acquire("a", { wait: true });
    void first.release();
    leaver.abort();
    const lease = await waiting;
    expect(threads.waiting("a")).toBe(1);
    void lease?.release();
    void (await behind)?.release();
    expect(await isHeld(threads, "a")).toBe(false);
  });

  it("an aborted signal acquires no lock", async () => {
    const threads = locks();
    await expect(threads.acquire("a", { wait: true, signal: AbortSignal.abort() })).rejects.toThrow();
    expect(await isHeld(threads, "a")).toBe(false);
  });

  it("a second release has no effect", async () => {
    const threads = locks();
    const first = await held(threads, "a");
    void first.release();
    const second = await held(threads, "a");
    void first.release();
    expect(await isHeld(threads, "a")).toBe(true);
    void second.release();
    expect(await isHeld(threads, "a")).toBe(false);
  });

  it("any interleaving serves one owner at a time, in order", async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("enter" as const), first: fc.boolean() }),
      fc.record({ kind: fc.constant("release" as const) }),
      fc.record({ kind: fc.constant("abort" as const), pick: fc.nat() }),
    );
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), (steps) => replay(steps)));
  });
});

type Step = { kind: "enter"; first: boolean } | { kind: "release" } | { kind: "abort"; pick: number };

/** Runs the steps on the lock and on a plain list, and compares both after each step. */
async function replay(steps: Step[]): Promise<void> {
  const threads = createThreadLocks({ maxWaiting: 3 });
  const model: { id: number; abort: AbortController }[] = [];
  const leases = new Map<number, ThreadLease>();
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  let nextId = 0;
  for (const step of steps) {
    if (step.kind === "enter") {
      const caller = { id: nextId++, abort: new AbortController() };
      const refused = model.length > 3 && !step.first;
      const entering = threads.acquire("t", { wait: true, first: step.first, signal: caller.abort.signal });
      entering.then(
        (lease) => lease && leases.set(caller.id, lease),
        () => undefined,
      );
      if (refused) await expect(entering).rejects.toBeInstanceOf(ThreadBusyError);
      else if (step.first && model.length > 0) model.splice(1, 0, caller);
      else model.push(caller);
    } else if (step.kind === "release") {
      const holder = model.shift();
      if (holder) void leases.get(holder.id)?.release();
    } else if (model.length > 1) {
      const [leaver] = model.splice(1 + (step.pick % (model.length - 1)), 1);
      leaver?.abort.abort();
    }
    await settle();
    expect(await isHeld(threads, "t")).toBe(model.length > 0);
    expect(threads.waiting("t")).toBe(Math.max(0, model.length - 1));
    if (model[0]) expect(leases.has(model[0].id)).toBe(true);
    for (const waiter of model.slice(1)) expect(leases.has(waiter.id)).toBe(false);
  }
}
