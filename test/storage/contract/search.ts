import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newId } from "../../../src/support/ids.js";
import { THREAD_SORT_FIELDS, THREAD_STATUSES } from "../../../src/models/thread-fields.js";
import type { Storage } from "../../../src/storage/contract/storage.js";
import type { ThreadFilter, ThreadQuery, ThreadRow } from "../../../src/storage/contract/threads.js";
import { plainContains } from "../../helpers/plain-contains.js";
import { newSeed } from "../../helpers/seeds.js";
import { threadRow, tick } from "./rows.js";

const NEWEST: ThreadQuery = { sortBy: "updated_at", sortOrder: "desc", limit: 10, offset: 0 };
const HOSTILE_KEYS = [
  "$ne",
  "__proto__",
  "constructor",
  "a.b",
  '"',
  "'",
  "",
  "$.x",
  "%",
  "\\",
  "x]",
  "'; DROP TABLE gs_threads; --",
];

export function searchTests(storage: () => Storage): void {
  async function seed(...rows: Partial<ThreadRow>[]): Promise<ThreadRow[]> {
    const seeded = rows.map((fields) => threadRow(fields));
    for (const row of seeded) await storage().threads.insert(row);
    return seeded;
  }

  async function found(filter: ThreadFilter): Promise<string[]> {
    const { rows, total } = await storage().threads.search({ ...NEWEST, ...filter });
    expect(total).toBe(await storage().threads.count(filter));
    return rows.map((row) => row.thread_id);
  }

  describe("search", () => {
    it("an empty storage has no threads", async () => {
      expect(await storage().threads.search(NEWEST)).toEqual({ rows: [], total: 0 });
    });

    it("returns consecutive pages newest first", async () => {
      const seeded = await seed({}, {}, {}, {}, {});
      const pages = [];
      for (const offset of [0, 2, 4, 6]) {
        const page = await storage().threads.search({ ...NEWEST, limit: 2, offset });
        expect(page.total).toBe(5);
        pages.push(...page.rows);
      }
      expect(pages).toEqual(seeded.reverse());
      expect(await storage().threads.search({ ...NEWEST, limit: 0 })).toEqual({ rows: [], total: 5 });
    });

    it("an updated thread moves to the front", async () => {
      const [first, second] = await seed({ metadata: { a: 1 } }, { metadata: { a: 1 } });
      await storage().threads.update(first!.thread_id, { updated_at: tick() });
      expect(await found({})).toEqual([first!.thread_id, second!.thread_id]);
      expect(await found({ metadata: { a: 1 } })).toEqual([first!.thread_id, second!.thread_id]);
    });

    it("a scope excludes the threads of other scopes, whatever their metadata contains", async () => {
      const [own, other] = ['{"org":"north"}', '{"owner":"ann"}'];
      const org = { org: "north" };
      const [mine, , nobodys] = await seed(
        { metadata: org, scope: own },
        { metadata: org, scope: other },
        { metadata: org },
        { metadata: { org: "south" }, scope: own },
      );
      const [M, N] = [mine!.thread_id, nobodys!.thread_id];
      expect(await found({ metadata: org, scope: own })).toEqual([N, M]);
      expect(await found({ metadata: org, scope: own, status: "idle" })).toEqual([N, M]);
      expect(await found({ metadata: org, scope: own, ids: [M] })).toEqual([M]);
      expect(await found({ metadata: { ...org, deep: {} }, scope: own })).toEqual([]);
      expect(await found({ scope: '{"owner":"bob"}' })).toEqual([N]);
      const last = { ...NEWEST, metadata: org, scope: own, limit: 1, offset: 1 };
      expect(await storage().threads.search(last)).toEqual({ rows: [mine], total: 2 });
    });

    it("combines filters by ids, status and metadata", async () => {
      const [a, b, c] = await seed(
        { metadata: { k: 1, l: "x" }, status: "busy" },
        { metadata: { k: 1, l: "y" } },
        { metadata: { k: 2, l: "x" } },
      );
      const [A, B, C] = [a!.thread_id, b!.thread_id, c!.thread_id];
      expect(await found({ ids: [A, C, A, newId()] })).toEqual([C, A]);
      expect(await found({ ids: [] })).toEqual([]);
      expect(await found({ status: "busy" })).toEqual([A]);
      expect(await found({ metadata: { k: 1 } })).toEqual([B, A]);
      expect(await found({ metadata: { k: 1, l: "x" } })).toEqual([A]);
      expect(await found({ metadata: { k: 1 }, status: "idle" })).toEqual([B]);
      expect(await found({ ids: [A, B], metadata: { k: 1 }, status: "busy" })).toEqual([A]);
      expect(await found({ metadata: { k: 3 } })).toEqual([]);
    });

    it("finds changed metadata by its new value", async () => {
      const [row] = await seed({ metadata: { k: 1, gone: "x" } });
      await storage().threads.update(row!.thread_id, {
        updated_at: tick(),
        mergeMetadata: { k: 2, gone: { now: "deep" } },
      });
      expect(await found({ metadata: { k: 1 } })).toEqual([]);
      expect(await found({ metadata: { gone: "x" } })).toEqual([]);
      expect(await found({ metadata: { k: 2, gone: { now: "deep" } } })).toEqual([row!.thread_id]);
    });

    it("deleted threads are not counted", async () => {
      const [row] = await seed({ metadata: { k: 1 } }, { metadata: { k: 1 } });
      await storage().threads.delete(row!.thread_id);
      expect(await storage().threads.count({ metadata: { k: 1 } })).toBe(1);
      expect(await storage().threads.count({})).toBe(1);
    });

    it("distinguishes types and long strings", async () => {
      const text = "x".repeat(5000);
      const [row] = await seed({ metadata: { n: 1, s: "1", f: false, z: null, text } });
      expect(await found({ metadata: { text } })).toEqual([row!.thread_id]);
      expect(await found({ metadata: { n: 1, s: "1", f: false, z: null } })).toEqual([row!.thread_id]);
      for (const metadata of [{ n: "1" }, { s: 1 }, { f: 0 }, { z: 0 }, { y: null }, { text: `${text}x` }]) {
        expect(await found({ metadata })).toEqual([]);
      }
    });

    it.each(HOSTILE_KEYS)("metadata key %j is treated as data", async (key) => {
      const hostile = (value: unknown) => Object.fromEntries([[key, value]]);
      const [row, nested] = await seed(
        { metadata: hostile("v") },
        { metadata: { in: hostile(1) } },
        { metadata: { x: 1 } },
      );
      expect(await found({ metadata: hostile("v") })).toEqual([row!.thread_id]);
      expect(await found({ metadata: { in: hostile(1) } })).toEqual([nested!.thread_id]);
      expect(await found({ metadata: hostile({ $ne: null }) })).toEqual([]);
      expect(await found({ metadata: { x: { [key]: 1 } } })).toEqual([]);
    });

    it.each(THREAD_SORT_FIELDS)("sorts by %s, then by id", async (sortBy) => {
      const time = tick();
      await seed(
        { created_at: time, updated_at: time, state_updated_at: null, metadata: { k: 1 } },
        { created_at: time, updated_at: time, state_updated_at: time, metadata: { k: 1 } },
        { state_updated_at: time, status: "busy", metadata: { k: 1 } },
        { state_updated_at: tick(), status: "error", metadata: { k: 1 } },
        { status: "interrupted", metadata: { k: 1 } },
      );
      const key = (row: ThreadRow) => `${row[sortBy] ?? ""} ${row.thread_id}`;
      for (const metadata of [{}, { k: 1 }]) {
        const search = async (sortOrder: "asc" | "desc") =>
          (await storage().threads.search({ ...NEWEST, sortBy, sortOrder, metadata })).rows.map(key);
        const ascending = await search("asc");
        expect(ascending).toHaveLength(5);
        expect(ascending).toEqual([...ascending].sort());
        expect(await search("desc")).toEqual([...ascending].reverse());
      }
    });

    const chosen = newSeed();

    it(`lists and objects match like the naive implementation (seed ${chosen})`, async () => {
      const { inner } = fc.letrec((tie) => ({
        inner: fc.oneof(
          { maxDepth: 2 },
          fc.constantFrom<unknown>(0, 1, "0", "a", null, true),
          fc.array(tie("inner"), { maxLength: 3 }),
          fc.dictionary(fc.constantFrom("a", "b"), tie("inner"), { noNullPrototype: true }),
        ),
      }));
      const metadata = fc.dictionary(fc.constantFrom("a", "b"), inner, { noNullPrototype: true });
      const rows: ThreadRow[] = [];
      for (const sample of fc.sample(metadata, { numRuns: 30, seed: chosen }))
        rows.push(...(await seed({ metadata: sample })));
      const wanted = fc.oneof(metadata, fc.constantFrom(...rows.map((row) => row.metadata)));
      await fc.assert(
        fc.asyncProperty(wanted, async (filter) => {
          const query = { ...NEWEST, limit: 30, metadata: filter };
          expect(await storage().threads.search(query)).toEqual(scan(rows, query));
          expect(await storage().threads.count({ metadata: filter })).toBe(scan(rows, query).total);
        }),
        { seed: chosen, numRuns: 150 },
      );
    });

    it("many metadata entries and long lists match exactly", async () => {
      const facts = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`k${index}`, index]));
      const list = Array.from({ length: 20_000 }, (_, index) => ({ id: index, in: [index] }));
      const [all, some] = await seed({ metadata: { ...facts, list } }, { metadata: { ...facts, k7: "x" } });
      expect(await found({ metadata: facts })).toEqual([all!.thread_id]);
      expect(await found({ metadata: { ...facts, k7: "x" } })).toEqual([some!.thread_id]);
      const wanted = list.filter(({ id }) => id % 50 === 0).reverse();
      expect(await found({ metadata: { list: wanted } })).toEqual([all!.thread_id]);
      expect(await found({ metadata: { list: [...wanted, { id: 1, in: [2] }] } })).toEqual([]);
    });

    it("every search returns the same as a plain scan", async () => {
      const scalar = fc.constantFrom<unknown>(0, 1, "a", null, true, { n: 1 }, [1, 2]);
      const metadata = fc.dictionary(fc.constantFrom("a", "b", "__proto__"), scalar, {
        noNullPrototype: true,
      });
      const rows: ThreadRow[] = [];
      for (const sample of fc.sample(metadata, { numRuns: 40, seed: 7 })) {
        const status = THREAD_STATUSES[rows.length % 4]!;
        rows.push(
          ...(await seed({ metadata: sample, status, state_updated_at: rows.length % 3 ? tick() : null })),
        );
      }
      const query = fc.record(
        {
          metadata,
          status: fc.constantFrom(...THREAD_STATUSES),
          ids: fc.subarray(rows.map((row) => row.thread_id)),
          sortBy: fc.constantFrom(...THREAD_SORT_FIELDS),
          sortOrder: fc.constantFrom("asc" as const, "desc" as const),
          limit: fc.integer({ min: 1, max: 12 }),
          offset: fc.nat(45),
        },
        { requiredKeys: ["sortBy", "sortOrder", "limit", "offset"] },
      );
      await fc.assert(
        fc.asyncProperty(query, async (wanted) => {
          expect(await storage().threads.search(wanted)).toEqual(scan(rows, wanted));
        }),
        { numRuns: 300 },
      );
    });
  });
}

function scan(rows: readonly ThreadRow[], { sortBy, sortOrder, limit, offset, ...filter }: ThreadQuery) {
  const key = (row: ThreadRow) => `${row[sortBy] ?? ""} ${row.thread_id}`;
  const matching = rows
    .filter((row) => !filter.ids || filter.ids.includes(row.thread_id))
    .filter((row) => !filter.status || filter.status === row.status)
    .filter((row) => plainContains(row.metadata, filter.metadata ?? {}))
    .sort((a, b) => (key(a) < key(b) ? -1 : 1));
  if (sortOrder === "desc") matching.reverse();
  return { rows: matching.slice(offset, offset + limit), total: matching.length };
}
