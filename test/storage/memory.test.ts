import { describe, expect, it } from "vitest";
import { THREAD_STATUSES } from "../../src/models/thread-fields.js";
import type { ThreadQuery, ThreadRow } from "../../src/storage/contract/threads.js";
import { contains } from "../../src/storage/rows/rows.js";
import { ThreadMemorySaver } from "../../src/storage/memory/saver.js";
import { openMemory } from "../../src/storage/memory/open.js";
import { conformance } from "./conformance.js";
import { storageContract } from "./contract.js";
import { threadRow } from "./contract/rows.js";

const options = { checkpointer_scheme: "memory", checkpointer_options: {}, max_queued_runs: 2 };

storageContract("memory", () => openMemory(options), { durable: false });

conformance("MemorySaver", () => new ThreadMemorySaver());

describe("ordered lists of threads", () => {
  const FIELDS = ["thread_id", "status", "created_at", "updated_at", "state_updated_at"] as const;
  /** Few times, so that many threads have the same. */
  const timeOf = (index: number) => new Date(1_700_000_000_000 + (index % 7) * 1000).toISOString();

  function naive(rows: readonly ThreadRow[], { sortBy, sortOrder, offset, limit, ...filter }: ThreadQuery) {
    const sign = sortOrder === "asc" ? 1 : -1;
    const key = (row: ThreadRow) => [row[sortBy] ?? "", row.thread_id];
    const matching = rows
      .filter((row) => !filter.status || row.status === filter.status)
      .filter((row) => !filter.ids || filter.ids.includes(row.thread_id))
      .filter((row) => filter.scope === undefined || row.scope === null || row.scope === filter.scope)
      .filter((row) => contains(row.metadata, filter.metadata ?? {}))
      .sort((a, b) => sign * (key(a) < key(b) ? -1 : 1));
    return {
      ids: matching.slice(offset, offset + limit).map((row) => row.thread_id),
      total: matching.length,
    };
  }

  it("return the same pages as a sort, whatever was inserted, patched and deleted before", async () => {
    const { threads } = await openMemory(options);
    const rows = new Map<string, ThreadRow>();
    let seed = 7;
    const below = (most: number) => (seed = (seed * 48_271) % 2_147_483_647) % most;
    const pick = <T>(values: readonly T[]) => values[below(values.length)] as T;
    for (let step = 0; step < 1500; step += 1) {
      const known = [...rows.keys()];
      const action = known.length < 20 ? 0 : below(10);
      if (action < 4) {
        const at = timeOf(below(1000));
        const row = threadRow({ created_at: at, updated_at: at, status: pick(THREAD_STATUSES) });
        Object.assign(row, { metadata: { team: below(3), list: [below(2)] }, scope: pick([null, "a", "b"]) });
        await threads.insert(row);
      } else if (action < 9) {
        const updated_at = timeOf(below(1000));
        const mergeMetadata = pick([undefined, { team: below(3) }, { more: below(4) }]);
        const state_updated_at = pick([undefined, null, timeOf(below(1000))]);
        await threads.update(pick(known), {
          ...{ updated_at, mergeMetadata, state_updated_at },
          status: pick([undefined, ...THREAD_STATUSES]),
          ttl: pick([undefined, null, { strategy: "delete", ttl_minutes: 5 }]),
        });
      } else await threads.delete(pick(known));
      const all = { sortBy: "updated_at", sortOrder: "asc", limit: 10_000, offset: 0 } as const;
      rows.clear();
      for (const row of (await threads.search(all)).rows) rows.set(row.thread_id, row);

      const query: ThreadQuery = {
        sortBy: pick(FIELDS),
        sortOrder: pick(["asc", "desc"] as const),
        ...{ limit: pick([0, 1, 5, 1000]), offset: pick([0, 0, 3, 400]) },
        ...pick([
          {},
          { status: pick(THREAD_STATUSES) },
          { metadata: { team: 1 } },
          { metadata: { more: 2 } },
        ]),
        ...pick([{}, {}, { scope: "a" }, { ids: known.slice(0, 30) }, { metadata: { list: [1] } }]),
      };
      const { rows: page, total } = await threads.search(query);
      expect({ ids: page.map(({ thread_id }) => thread_id), total }).toEqual(
        naive([...rows.values()], query),
      );
    }
    expect(rows.size).toBeGreaterThan(300);
  });

  it("select the first rows of many that match a filter", async () => {
    const { threads } = await openMemory(options);
    const rows = Array.from({ length: 1000 }, (_, index) =>
      threadRow({ created_at: timeOf(index * 3), updated_at: timeOf(index * 5), metadata: { list: [1] } }),
    );
    for (const row of rows) await threads.insert(row);
    for (const sortOrder of ["asc", "desc"] as const)
      for (const [offset, limit] of [
        [0, 10],
        [5, 4],
        [0, 0],
      ] as const) {
        const query = { metadata: { list: [1] }, sortBy: "created_at", sortOrder, offset, limit } as const;
        const { rows: page, total } = await threads.search(query);
        expect({ ids: page.map(({ thread_id }) => thread_id), total }).toEqual(naive(rows, query));
      }
  });
});
