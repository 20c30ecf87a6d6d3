import { afterEach, describe, expect, it, vi } from "vitest";
import { ConfigError, ThreadBusyError } from "../../src/support/errors.js";
import { newId } from "../../src/support/ids.js";
import type { ThreadLease } from "../../src/storage/contract/locks.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { withPostgres } from "../helpers/postgres.js";

async function take({ locks }: Storage, threadId: string): Promise<ThreadLease> {
  const lease = await locks.acquire(threadId, { wait: false });
  if (!lease) throw new Error(`${threadId} is taken`);
  return lease;
}

const lost = (lease: ThreadLease) =>
  new Promise<void>((resolve) => lease.lost?.addEventListener("abort", () => resolve(), { once: true }));

withPostgres("postgres thread locks", (postgres) => {
  afterEach(() => postgres.close());

  const both = async () => [await postgres.open(), await postgres.open()] as const;

  /** Number of advisory locks that the storages of this file hold or wait for. */
  async function advisoryLocks(): Promise<number> {
    const [row] = await postgres.sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_locks JOIN pg_stat_activity USING (pid)
       WHERE locktype = 'advisory' AND application_name = $1`,
      [`${postgres.schema} locks`],
    );
    return row!.n;
  }

  describe("locks across storages", () => {
    it("only one storage at a time holds a thread", async () => {
      const [one, two] = await both();
      const id = newId();
      const lease = await take(one, id);
      expect(await two.locks.acquire(id, { wait: false })).toBeUndefined();
      const waiting = two.locks.acquire(id, { wait: true });
      await expect.poll(() => two.locks.waiting(id)).toBe(1);
      await lease.release();
      await (await waiting)?.release();
      expect(await one.locks.acquire(id, { wait: false })).toBeDefined();
    });

    it("locks of different threads are independent", async () => {
      const [one, two] = await both();
      await take(one, newId());
      expect(await two.locks.acquire(newId(), { wait: true })).toBeDefined();
    });

    it("locks of different schemas are independent", async () => {
      const [one, id] = [await postgres.open(), newId()];
      const other = `${postgres.schema}_other`;
      const elsewhere = await postgres.open({ schema: other });
      await take(one, id);
      expect(await elsewhere.locks.acquire(id, { wait: false })).toBeDefined();
      await postgres.sql(`DROP SCHEMA "${other}" CASCADE`);
    });

    it("no advisory lock remains after all leases are released", async () => {
      const [one, two] = await both();
      const id = newId();
      const lease = await take(one, id);
      const waiting = two.locks.acquire(id, { wait: true });
      await expect.poll(advisoryLocks).toBe(2);
      await lease.release();
      await (await waiting)?.release();
      await expect.poll(advisoryLocks).toBe(0);
    });

    it("a second release has no effect", async () => {
      const [one, two] = await both();
      const id = newId();
      const first = await take(one, id);
      await first.release();
      await take(two, id);
      await first.release();
      expect(await one.locks.acquire(id, { wait: false })).toBeUndefined();
    });
  });

  describe("waiting", () => {
    it("concurrent waiters for a thread of another storage never exceed the limit", async () => {
      const [one, two] = await both();
      const id = newId();
      const lease = await take(one, id);
      for (let round = 0; round < 3; round += 1) {
        const leave = new AbortController();
        const calls = Array.from({ length: 6 }, () =>
          two.locks.acquire(id, { wait: true, signal: leave.signal }),
        );
        const refused: unknown[] = [];
        for (const call of calls) call.catch((error: unknown) => refused.push(error));
        await expect.poll(() => refused.length).toBe(4);
        expect(refused.every((error) => error instanceof ThreadBusyError)).toBe(true);
        expect(two.locks.waiting(id)).toBe(2);
        leave.abort(new Error("gone"));
        await Promise.allSettled(calls);
        expect(two.locks.waiting(id)).toBe(0);
      }
      await lease.release();
    });

    it("concurrent waiters in the lease owner's storage never exceed the limit", async () => {
      const [one] = await both();
      const id = newId();
      const calls = Array.from({ length: 5 }, () => one.locks.acquire(id, { wait: true }));
      const refused: unknown[] = [];
      for (const call of calls) call.catch((error: unknown) => refused.push(error));
      const first = await calls[0];
      await expect.poll(() => refused.length).toBe(2);
      expect(one.locks.waiting(id)).toBe(2);
      await first?.release();
      for (const call of calls.slice(1, 3)) await (await call)?.release();
    });

    it("waiters of a process are served in order", async () => {
      const [one, two] = await both();
      const id = newId();
      const order: string[] = [];
      const lease = await take(one, id);
      const waiting = ["x", "y"].map(async (name) => {
        const own = await two.locks.acquire(id, { wait: true });
        order.push(name);
        await own?.release();
      });
      await lease.release();
      await Promise.all(waiting);
      expect(order).toEqual(["x", "y"]);
    });

    it("waiting processes go before the lease owner's own queue", async () => {
      const [one, two] = await both();
      const id = newId();
      const order: string[] = [];
      const lease = await take(one, id);
      const enter = async (storage: Storage, name: string) => {
        const own = await storage.locks.acquire(id, { wait: true });
        order.push(name);
        await own?.release();
      };
      const waiting = [enter(one, "own 1"), enter(one, "own 2"), enter(two, "other")];
      await expect.poll(advisoryLocks).toBe(2);
      await lease.release();
      await Promise.all(waiting);
      expect(order).toEqual(["other", "own 1", "own 2"]);
    });

    it("a full queue throws thread_busy", async () => {
      const [one, two] = await both();
      const id = newId();
      const lease = await take(one, id);
      const waiting = [1, 2].map(() => two.locks.acquire(id, { wait: true }));
      await expect.poll(() => two.locks.waiting(id)).toBe(2);
      await expect.poll(advisoryLocks).toBe(2);
      await expect(two.locks.acquire(id, { wait: true })).rejects.toBeInstanceOf(ThreadBusyError);
      await lease.release();
      for (const own of waiting) await (await own)?.release();
    });

    it("an aborted waiter rejects with the signal's reason", async () => {
      const [one, two] = await both();
      const [id, leaver, reason] = [newId(), new AbortController(), new Error("client gone")];
      await take(one, id);
      const left = two.locks.acquire(id, { wait: true, signal: leaver.signal });
      await expect.poll(advisoryLocks).toBe(2);
      leaver.abort(reason);
      await expect(left).rejects.toBe(reason);
      expect(two.locks.waiting(id)).toBe(0);
      await expect.poll(advisoryLocks).toBe(1);
    });
  });

  describe("a suspended process", () => {
    it("checks with the server that its lease is still valid", async () => {
      const lease = await take(await postgres.open(), newId());
      expect(lease.confirm?.()).toBeUndefined();
      const now = Date.now();
      const clock = vi.spyOn(Date, "now").mockImplementation(() => now + 60_000);
      const confirmed = lease.confirm?.();
      expect(confirmed).toBeInstanceOf(Promise);
      await confirmed;
      expect(lease.lost?.aborted).toBe(false);
      expect(lease.confirm?.()).toBeUndefined();
      clock.mockRestore();
    });

    it("detects that the server ended its session", async () => {
      const lease = await take(await postgres.open(), newId());
      const now = Date.now();
      vi.spyOn(Date, "now").mockImplementation(() => now + 60_000);
      await postgres.terminate("locks");
      await lease.confirm?.();
      expect(lease.lost?.aborted).toBe(true);
    });
  });

  describe("a lost connection", () => {
    it("every lease is lost and can be acquired again", async () => {
      const [one, two] = await both();
      const ids = [newId(), newId()];
      const leases = await Promise.all(ids.map((id) => take(one, id)));
      const [gone, waiting] = [Promise.all(leases.map(lost)), two.locks.acquire(ids[0]!, { wait: true })];
      expect(await postgres.terminate("locks")).toBe(2);
      await gone;
      expect(leases.every(({ lost: { aborted } = { aborted: false } }) => aborted)).toBe(true);
      await (await waiting)?.release();
      // The owner of a lost lease blocks the thread until it confirms that it has stopped.
      expect(await one.locks.acquire(ids[0]!, { wait: false })).toBeUndefined();
      for (const lease of leases) await lease.release();
      for (const id of ids) await (await take(one, id)).release();
    });

    it("releasing a lost lease does not affect the new owner", async () => {
      const [one, two] = await both();
      const id = newId();
      const lease = await take(one, id);
      const gone = lost(lease);
      await postgres.terminate("locks");
      await gone;
      const next = await two.locks.acquire(id, { wait: true });
      await lease.release();
      expect(await one.locks.acquire(id, { wait: false })).toBeUndefined();
      await next?.release();
    });
  });

  it("a closed storage grants no locks", async () => {
    const storage = await postgres.open();
    postgres.forget(storage);
    await storage.close();
    await expect(storage.locks.acquire("t", { wait: true })).rejects.toThrow("the storage is closed");
  });

  it("an invalid lock_uri is rejected", async () => {
    await expect(postgres.open({ lock_uri: "mysql://host" })).rejects.toBeInstanceOf(ConfigError);
  });
});
