import type { TimerKind, TimerRow, TimerTable } from "../contract/timers.js";
import { compareTexts } from "./rows.js";

const keyOf = ({ kind, id }: Pick<TimerRow, "kind" | "id">): string => `${kind} ${id}`;

/** Timers, kept in process memory. There are few of them, so every query scans all rows. */
export function createMemoryTimers(): TimerTable {
  const rows = new Map<string, TimerRow>();

  const timed = (kinds: readonly TimerKind[]): (TimerRow & { due_at: string })[] =>
    [...rows.values()]
      .filter((row): row is TimerRow & { due_at: string } => row.due_at !== null && kinds.includes(row.kind))
      .sort((a, b) => compareTexts(a.due_at, b.due_at) || compareTexts(a.id, b.id));

  return {
    async insert(row) {
      if (rows.has(keyOf(row))) return false;
      rows.set(keyOf(row), structuredClone(row));
      return true;
    },
    get: async (kind, id) => structuredClone(rows.get(keyOf({ kind, id }))),
    async replace(row) {
      if (rows.get(keyOf(row))?.version !== row.version) return false;
      rows.set(keyOf(row), structuredClone({ ...row, version: row.version + 1 }));
      return true;
    },
    async delete(kind, id, version) {
      const key = keyOf({ kind, id });
      if (version !== undefined && rows.get(key)?.version !== version) return false;
      return rows.delete(key);
    },
    due: async (kinds, at, limit, except = []) =>
      structuredClone(
        timed(kinds)
          .filter(({ due_at, scope }) => due_at <= at && !except.includes(scope))
          .slice(0, limit),
      ),
    next: async (kinds) => timed(kinds)[0]?.due_at,
    list: async ({ kind, threadId, scope, limit, offset }) =>
      structuredClone(
        [...rows.values()]
          .filter((row) => row.kind === kind && (threadId === undefined || row.thread_id === threadId))
          .filter((row) => scope === undefined || row.scope === scope)
          .sort((a, b) => compareTexts(a.created_at, b.created_at) || compareTexts(a.id, b.id))
          .slice(offset, offset + limit),
      ),
  };
}
