import { describe, expect, it } from "vitest";
import { isHeld } from "../../helpers/locks.js";
import type { Storage } from "../../../src/storage/contract/storage.js";

/** For a storage whose limit is two waiting callers per thread. */
export function lockTests(storage: () => Storage): void {
  describe("locks", () => {
    it("a thread has one lease at a time", async () => {
      const { locks } = storage();
      const lease = await locks.acquire("t", { wait: false });
      expect(await locks.acquire("t", { wait: false })).toBeUndefined();
      const waiting = locks.acquire("t", { wait: true });
      expect(locks.waiting("t")).toBe(1);
      void lease?.release();
      await (await waiting)?.release();
      expect(await isHeld(locks, "t")).toBe(false);
    });

    it("releasing a lease twice has no effect", async () => {
      const { locks } = storage();
      const first = await locks.acquire("t", { wait: false });
      const [second, third] = [locks.acquire("t", { wait: true }), locks.acquire("t", { wait: true })];
      await first?.release();
      const held = await second;
      await first?.release();
      expect(await isHeld(locks, "t")).toBe(true);
      expect(locks.waiting("t")).toBe(1);
      await held?.release();
      await (await third)?.release();
      expect(await isHeld(locks, "t")).toBe(false);
    });

    it("waiters are served in order, after a waiter with `first`", async () => {
      const { locks } = storage();
      const lease = await locks.acquire("t", { wait: false });
      const order: string[] = [];
      const wait = async (name: string, first = false) => {
        const next = await locks.acquire("t", { wait: true, first });
        order.push(name);
        await next?.release();
      };
      const all = [wait("one"), wait("two"), wait("first", true)];
      await expect.poll(() => locks.waiting("t")).toBe(3);
      await lease?.release();
      await Promise.all(all);
      expect(order).toEqual(["first", "one", "two"]);
    });

    it("a full queue rejects waiters until one leaves", async () => {
      const { locks } = storage();
      const lease = await locks.acquire("t", { wait: false });
      const leave = new AbortController();
      const leaving = locks.acquire("t", { wait: true, signal: leave.signal });
      const staying = locks.acquire("t", { wait: true });
      await expect.poll(() => locks.waiting("t")).toBe(2);
      await expect(locks.acquire("t", { wait: true })).rejects.toMatchObject({ code: "thread_busy" });
      leave.abort(new Error("gone"));
      await expect(leaving).rejects.toThrow("gone");
      const next = locks.acquire("t", { wait: true });
      await expect.poll(() => locks.waiting("t")).toBe(2);
      await lease?.release();
      for (const one of [staying, next]) await (await one)?.release();
      expect(await isHeld(locks, "t")).toBe(false);
    });

    it("many leases at once cause no warning of Node.js", async () => {
      const { locks } = storage();
      const warnings: Error[] = [];
      const note = (warning: Error) => void warnings.push(warning);
      process.on("warning", note);
      try {
        const ids = Array.from({ length: 20 }, (_, index) => `many-${index}`);
        const leases = await Promise.all(ids.map((id) => locks.acquire(id, { wait: false })));
        for (const lease of leases) await lease?.release();
        // Node.js emits warnings in the next tick.
        await new Promise((resolve) => setImmediate(resolve));
      } finally {
        process.off("warning", note);
      }
      expect(warnings).toEqual([]);
    });

    it("locks of different threads are independent", async () => {
      const { locks } = storage();
      const leases = [await locks.acquire("a", { wait: false }), await locks.acquire("b", { wait: false })];
      expect(leases).not.toContain(undefined);
      for (const lease of leases) await lease?.release();
    });
  });
}
