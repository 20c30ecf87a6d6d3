/**
 * More threads in flight than the server's lock table can hold: further calls are rejected, the others are not
 * affected.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { newId } from "../../src/support/ids.js";
import { openStorage } from "../../src/storage/open.js";
import type { ThreadLease } from "../../src/storage/contract/locks.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { noCluster, PostgresCluster } from "../helpers/postgres-cluster.js";

if (noCluster) process.stderr.write(`The lock table of PostgreSQL is not tested: ${noCluster}.\n`);
const title = `a full lock table of postgres${noCluster ? ` (skipped: ${noCluster})` : ""}`;

/** More locks than a server with these settings can hold, including its reserve. */
const MOST = 20_000;
const AT_ONCE = 50;

describe.skipIf(noCluster)(title, () => {
  let cluster: PostgresCluster;
  let storage: Storage;
  let other: Storage;
  const open = () =>
    openStorage({
      checkpointer_scheme: "postgres",
      checkpointer_uri: cluster.uri,
      checkpointer_options: {},
      max_queued_runs: 10,
    });

  beforeAll(async () => {
    cluster = await PostgresCluster.start({ max_connections: 20, max_locks_per_transaction: 10 });
    [storage, other] = [await open(), await open()];
  });
  afterAll(async () => {
    await storage?.close();
    await other?.close();
    await cluster?.stop();
  });

  /** Acquires threads concurrently until one call is rejected. */
  async function fill(): Promise<{ leases: Map<string, ThreadLease>; refused: unknown[] }> {
    const leases = new Map<string, ThreadLease>();
    const refused: unknown[] = [];
    while (refused.length === 0 && leases.size < MOST) {
      const ids = Array.from({ length: AT_ONCE }, newId);
      const taken = await Promise.allSettled(ids.map((id) => storage.locks.acquire(id, { wait: false })));
      for (const [index, one] of taken.entries()) {
        if (one.status === "rejected") refused.push(one.reason);
        else if (one.value) leases.set(ids[index] ?? "", one.value);
      }
    }
    return { leases, refused };
  }

  it(
    "only the call that exceeds the table is rejected; held locks remain and can be released",
    { timeout: 90_000 },
    async () => {
      const id = newId();
      const lease = await storage.locks.acquire(id, { wait: false });
      const waiting = other.locks.acquire(id, { wait: true });
      await expect.poll(() => other.locks.waiting(id)).toBe(1);
      const { leases, refused } = await fill();
      for (const error of refused) {
        expect(error).toBeInstanceOf(StorageUnavailableError);
        expect(error).toMatchObject({ hint: "raise max_locks_per_transaction if many threads are in use" });
      }
      expect(refused.length).toBeGreaterThan(0);
      expect(await storage.findings?.()).toMatchObject([
        {
          name: "lock table",
          ok: false,
          fix: expect.stringContaining("max_locks_per_transaction") as string,
        },
      ]);
      expect([lease, ...leases.values()].filter((one) => one?.lost?.aborted)).toEqual([]);
      for (const one of leases.values()) await one.release();
      await lease?.release();
      const taken = await waiting;
      expect(taken?.lost?.aborted).toBe(false);
      await taken?.release();
      expect(await storage.findings?.()).toMatchObject([{ name: "lock table", ok: true }]);
      const again = await Promise.all(
        [...leases.keys()].slice(0, 100).map((one) => other.locks.acquire(one, { wait: false })),
      );
      expect(again.filter((one) => one === undefined)).toEqual([]);
      for (const one of again) await one?.release();
    },
  );
});
