/** A search that compares the metadata of many threads must not block the event loop. */
import { describe, expect, it, onTestFinished } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import { openMemory } from "../../src/storage/memory/open.js";
import { openSqlite } from "../../src/storage/sqlite/open.js";
import { turnsDuring } from "../helpers/turns.js";
import { threadRow, tick } from "./contract/rows.js";

const THREADS = 400;
const list = Array.from({ length: 5000 }, (_, index) => `text ${index}`);
const options = { checkpointer_options: {}, max_queued_runs: 1 };

describe.each([
  ["memory", () => openMemory({ ...options, checkpointer_scheme: "memory" })],
  [
    "sqlite",
    () => openSqlite({ ...options, checkpointer_scheme: "sqlite", checkpointer_uri: ":memory:", cwd: "." }),
  ],
])("a search on %s", (scheme, open) => {
  const test = scheme === "sqlite" ? itSqlite : it;
  test("yields to other work and reads the rows as they are at that time", { timeout: 60_000 }, async () => {
    const storage = await open();
    onTestFinished(() => storage.close());
    const rows = Array.from({ length: THREADS }, (_, index) =>
      threadRow({ metadata: { list, last: [index] } }),
    );
    for (const row of rows) await storage.threads.insert(row);
    const filter = { metadata: { list: list.slice(-1), last: [THREADS - 1] } };
    const query = { ...filter, sortBy: "created_at", sortOrder: "asc", limit: 10, offset: 0 } as const;

    const start = process.cpuUsage();
    const search = storage.threads.search(query);
    const turns = await turnsDuring(search);
    const { user, system } = process.cpuUsage(start);
    expect((await search).rows.map(({ thread_id }) => thread_id)).toEqual([rows.at(-1)?.thread_id]);
    // A turn takes a few milliseconds of CPU time. Elapsed time says nothing on a busy machine.
    expect(turns).toBeGreaterThan((user + system) / 1000 / 50);
    expect(await turnsDuring(storage.threads.count(filter))).toBeGreaterThan(1);

    const counting = storage.threads.count({ metadata: { list: list.slice(-1) } });
    await storage.threads.delete(rows[0]!.thread_id);
    await storage.threads.update(rows[1]!.thread_id, { updated_at: tick() });
    expect(THREADS - (await counting)).toBeLessThanOrEqual(1);
  });
});
