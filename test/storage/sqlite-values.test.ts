import { emptyCheckpoint, type Checkpoint } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { applyDelta, byteDelta } from "../../src/storage/sqlite/values.js";
import { SqliteSaver } from "../../src/storage/sqlite/saver.js";
import { migrateSqlite } from "../../src/storage/sqlite/schema.js";
import { Database } from "../helpers/sqlite-database.js";

function openSaver() {
  const db = new Database(":memory:");
  migrateSqlite(db);
  return { db, saver: new SqliteSaver(db) };
}

/** A checkpoint with the single channel `log`, whose id is its position. */
function checkpointOf(place: number, log: string): Checkpoint {
  const id = String(place).padStart(8, "0");
  return { ...emptyCheckpoint(), id, channel_values: { log }, channel_versions: { log: place } };
}

async function put(saver: SqliteSaver, checkpoint: Checkpoint, parent?: string, thread_id = "t") {
  const configurable = { thread_id, checkpoint_ns: "", checkpoint_id: parent };
  const metadata = { source: "loop" as const, step: 0, parents: {} };
  await saver.put({ configurable }, checkpoint, metadata, checkpoint.channel_versions);
}

async function logOf(saver: SqliteSaver, checkpoint_id?: string, thread_id = "t"): Promise<unknown> {
  const tuple = await saver.getTuple({ configurable: { thread_id, checkpoint_ns: "", checkpoint_id } });
  return tuple?.checkpoint.channel_values.log;
}

const rows = (db: Database) =>
  db.prepare("SELECT id, base, length(bytes) AS size FROM gs_values ORDER BY id").all() as {
    id: number;
    base: number | null;
    size: number;
  }[];
const long = (text: string) => text.padEnd(5000, "é\u{1F600}");

it("applying a delta restores the value", () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), fc.uint8Array(), (start, middle, end) => {
      const base = Buffer.from([...start, ...end]);
      const value = Buffer.from([...start, ...middle, ...end]);
      for (const [from, to] of [
        [base, value],
        [value, base],
        [base, Buffer.from(middle)],
      ] as const) {
        expect(applyDelta(from, byteDelta(from, to)).equals(to)).toBe(true);
      }
      expect(byteDelta(base, value).middle.length).toBeLessThanOrEqual(middle.length);
    }),
  );
});

describe("large values", () => {
  it("are stored as deltas", async () => {
    const { db, saver } = openSaver();
    let log = long("");
    for (let place = 1; place <= 100; place += 1) {
      log += `\nline ${place}`;
      await put(saver, checkpointOf(place, log), place > 1 ? String(place - 1).padStart(8, "0") : undefined);
    }
    expect(await logOf(saver)).toBe(log);
    expect(await logOf(saver, "00000050")).toBe(log.slice(0, log.indexOf("\nline 51")));
    const sizes = rows(db).map(({ size }) => size);
    expect(sizes).toHaveLength(100);
    // Every 33rd value is stored in full.
    expect(sizes.filter((size) => size > 1000)).toHaveLength(4);
    const read: unknown[] = [];
    for await (const { checkpoint } of saver.list({ configurable: { thread_id: "t" } }))
      read.push(checkpoint.channel_values.log);
    expect(read).toHaveLength(100);
    expect(read[99]).toBe(`${long("")}\nline 1`);
  });

  it("are shared by checkpoints that do not change them", async () => {
    const { db, saver } = openSaver();
    const first = checkpointOf(1, long("a"));
    await put(saver, first);
    const second = { ...first, id: "00000002" };
    const configurable = { thread_id: "t", checkpoint_ns: "", checkpoint_id: first.id };
    await saver.put({ configurable }, second, { source: "loop", step: 1, parents: {} }, {});
    expect(await logOf(saver, second.id)).toBe(long("a"));
    expect(rows(db)).toHaveLength(1);
  });

  it("are kept when another graph on the thread has no such channel", async () => {
    const { saver } = openSaver();
    const first = checkpointOf(1, long("a"));
    await put(saver, first);
    const configurable = { thread_id: "t", checkpoint_ns: "", checkpoint_id: first.id };
    const other = { ...first, id: "00000002", channel_values: {} };
    await saver.put({ configurable }, other, { source: "loop", step: 1, parents: {} }, {});
    expect(await logOf(saver)).toBe(long("a"));
  });

  it("of two branches with the same version are kept apart", async () => {
    const { saver } = openSaver();
    await put(saver, checkpointOf(1, long("root")));
    const [left, right] = [
      checkpointOf(2, long("left")),
      { ...checkpointOf(2, long("right")), id: "00000003" },
    ];
    await put(saver, left, "00000001");
    await put(saver, right, "00000001");
    expect(await logOf(saver, left.id)).toBe(long("left"));
    expect(await logOf(saver, right.id)).toBe(long("right"));
  });

  it("keep their base values when those are pruned", async () => {
    const { db, saver } = openSaver();
    for (let place = 1; place <= 40; place += 1) await put(saver, checkpointOf(place, long("x") + place));
    const newest = [{ checkpoint_ns: "", checkpoint_id: "00000040" }];
    await saver.keepOnly("t", [{ checkpoint_ns: "", checkpoint_id: "00000020" }], newest);
    expect(await logOf(saver)).toBe(`${long("x")}20`);
    expect(rows(db)).toHaveLength(20);
    await put(saver, checkpointOf(50, `${long("x")}50`));
    expect(await logOf(saver)).toBe(`${long("x")}50`);
    await saver.deleteThread("t");
    expect(rows(db)).toEqual([]);
  });

  it("are stored in full when their base is gone", async () => {
    const { db, saver } = openSaver();
    await put(saver, checkpointOf(1, long("x")));
    // As if another process had deleted them.
    db.exec("DELETE FROM gs_values; DELETE FROM gs_checkpoints");
    await put(saver, checkpointOf(2, `${long("x")}2`));
    expect(await logOf(saver)).toBe(`${long("x")}2`);
  });

  it("are not based on a value whose insert failed", async () => {
    const { db, saver } = openSaver();
    await put(saver, checkpointOf(1, long("x")));
    db.exec(
      `CREATE TRIGGER refuse BEFORE INSERT ON gs_checkpoints BEGIN SELECT RAISE(ABORT, 'refused'); END`,
    );
    await expect(put(saver, checkpointOf(2, `${long("x")}2`))).rejects.toThrow("refused");
    db.exec("DROP TRIGGER refuse");
    // Gets the row id that the failed insert would have had.
    await put(saver, checkpointOf(1, long("other")), undefined, "u");
    await put(saver, checkpointOf(3, `${long("x")}23`));
    expect(await logOf(saver)).toBe(`${long("x")}23`);
    expect(await logOf(saver, undefined, "u")).toBe(long("other"));
  });
});
