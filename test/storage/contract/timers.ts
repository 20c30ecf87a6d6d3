import { describe, expect, it } from "vitest";
import type { Storage } from "../../../src/storage/contract/storage.js";
import type { TimerRow, TimerTable } from "../../../src/storage/contract/timers.js";
import { newId } from "../../../src/support/ids.js";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

const timer = (fields: Partial<TimerRow> = {}): TimerRow => ({
  kind: "cron",
  id: newId(),
  thread_id: null,
  scope: null,
  due_at: at(10),
  created_at: at(0),
  version: 1,
  data: { "a.b": ["$x", null], text: "ü" },
  ...fields,
});

/** For backends that store timers: crons, delayed runs and webhooks. */
export function timerTests(storage: () => Storage): void {
  const timers = (): TimerTable => {
    const table = storage().timers;
    if (!table) throw new Error("this backend does not store timers");
    return table;
  };
  const inserted = async (fields: Partial<TimerRow>[]): Promise<string[]> => {
    const rows = fields.map(timer);
    for (const row of rows) expect(await timers().insert(row)).toBe(true);
    return rows.map(({ id }) => id);
  };
  const idsOf = (rows: readonly TimerRow[]) => rows.map(({ id }) => id);

  describe("timers", () => {
    it("timers are read as stored; an id is unique within its kind", async () => {
      const row = timer({ thread_id: newId(), scope: '{"owner":"ann"}' });
      expect(await timers().insert(row)).toBe(true);
      expect(await timers().insert({ ...row, due_at: null })).toBe(false);
      expect(await timers().get("cron", row.id)).toEqual(row);
      expect(await timers().get("run", row.id)).toBeUndefined();
      expect(await timers().insert({ ...row, kind: "run" })).toBe(true);
    });

    it("assistants are stored by scope and are never due", async () => {
      const [id] = await inserted([{ kind: "assistant", due_at: null, scope: '{"owner":"ann"}' }]);
      expect(
        idsOf(await timers().list({ kind: "assistant", scope: '{"owner":"ann"}', limit: 10, offset: 0 })),
      ).toEqual([id]);
      expect(await timers().next(["assistant"])).toBeUndefined();
      expect(await timers().due(["assistant"], at(99), 10)).toEqual([]);
    });

    it("only one of several concurrent updates of a version succeeds", async () => {
      const row = timer();
      await timers().insert(row);
      const writes = Array.from({ length: 8 }, (_, writer) => timers().replace({ ...row, data: { writer } }));
      const succeeded = (await Promise.all(writes)).flatMap((isWritten, writer) =>
        isWritten ? [writer] : [],
      );
      expect(succeeded).toHaveLength(1);
      expect(await timers().get("cron", row.id)).toEqual({
        ...row,
        version: 2,
        data: { writer: succeeded[0] },
      });
      expect(await timers().replace(timer())).toBe(false);
    });

    it("timers are deleted, optionally only in a given version", async () => {
      const row = timer();
      await timers().insert(row);
      await timers().replace(row);
      expect(await timers().delete("cron", row.id, 1)).toBe(false);
      expect(await timers().delete("cron", row.id, 2)).toBe(true);
      expect(await timers().delete("cron", row.id)).toBe(false);
      expect(await timers().replace({ ...row, version: 2 })).toBe(false);
    });

    it("due timers are returned oldest first, without future ones and other kinds", async () => {
      const [late, never, early, later] = await inserted([
        { due_at: at(9) },
        { due_at: null },
        { due_at: at(3), kind: "run" },
        { due_at: at(11) },
      ]);
      const known = new Set([late, never, early, later]);
      const due = async (...args: Parameters<TimerTable["due"]>) =>
        idsOf(await timers().due(...args)).filter((id) => known.has(id));
      expect(await due(["cron", "run"], at(9), 10)).toEqual([early, late]);
      expect(await due(["cron"], at(9), 10)).toEqual([late]);
      expect(await due(["cron", "run", "webhook"], at(20), 2)).toEqual([early, late]);
      expect(await timers().next(["cron", "run"])).toBe(at(3));
      expect(await timers().next(["cron"])).toBe(at(9));
      expect(await timers().next(["webhook"])).toBeUndefined();
    });

    it("due timers of the given scopes are left out", async () => {
      const [ann, bob, unscoped] = await inserted([
        { due_at: at(1), scope: '{"owner":"ann"}' },
        { due_at: at(2), scope: '{"owner":"bob"}' },
        { due_at: at(2), scope: null },
      ]);
      const known = [ann, bob, unscoped];
      const due = async (limit: number, except: (string | null)[]) =>
        new Set(idsOf(await timers().due(["cron"], at(2), limit, except)).filter((id) => known.includes(id)));
      expect(await due(100, [])).toEqual(new Set(known));
      expect(await due(100, ['{"owner":"ann"}'])).toEqual(new Set([bob, unscoped]));
      expect(await due(100, [null, '{"owner":"ann"}'])).toEqual(new Set([bob]));
      expect(await due(1, [null, '{"owner":"ann"}'])).toEqual(new Set([bob]));
    });

    it("timers are listed in order of creation, by page, thread and scope", async () => {
      const thread_id = newId();
      const [second, first, other] = await inserted([
        { created_at: at(2), thread_id, due_at: null },
        { created_at: at(1), thread_id },
        { created_at: at(3) },
      ]);
      const list = async (query: object) =>
        idsOf(await timers().list({ kind: "cron", limit: 10, offset: 0, ...query }));
      expect(await list({})).toEqual([first, second, other]);
      expect(await list({ limit: 1, offset: 1 })).toEqual([second]);
      expect(await list({ threadId: thread_id })).toEqual([first, second]);
      const scope = '{"owner":"ann"}';
      const [last, early] = await inserted([
        { created_at: at(5), scope, thread_id },
        { created_at: at(4), scope },
      ]);
      expect(await list({ scope })).toEqual([early, last]);
      expect(await list({ scope, offset: 1 })).toEqual([last]);
      expect(await list({ scope, threadId: thread_id })).toEqual([last]);
      expect(await list({ scope: "another" })).toEqual([]);
      expect(await list({ kind: "webhook" })).toEqual([]);
    });
  });
}
