import {
  USAGE_COLUMNS,
  USAGE_SUMS,
  type UsageQuery,
  type UsageRow,
  type UsageSum,
  type UsageTable,
} from "../contract/usage.js";
import { compareTexts } from "./rows.js";

const keyOf = ({ run_id, attempt, seq }: UsageRow): string => `${run_id} ${attempt} ${seq}`;

/** Usage, kept in process memory. */
export function createMemoryUsage(): UsageTable {
  const rows = new Map<string, UsageRow>();
  return {
    store: async (added) => {
      for (const row of added) rows.set(keyOf(row), { ...row });
    },
    sum: async (query) =>
      sumsOf(
        [...rows.values()].filter((row) => isWanted(row, query)),
        query,
      ),
    forget: async (before) => {
      const old = [...rows].filter(([, { at }]) => at < before);
      for (const [key] of old) rows.delete(key);
      return old.length;
    },
    page: async ({ limit, offset }) =>
      [...rows.values()]
        .sort((a, b) => compareTexts(a.run_id, b.run_id) || a.attempt - b.attempt || a.seq - b.seq)
        .slice(offset, offset + limit)
        .map((row) => ({ ...row })),
  };
}

const isWanted = (
  row: UsageRow,
  { since, until, day, runId, threadId, userId, scope }: UsageQuery,
): boolean =>
  (since === undefined || row.at >= since) &&
  (until === undefined || row.at < until) &&
  (day === undefined || row.day === day) &&
  (runId === undefined || row.run_id === runId) &&
  (threadId === undefined || row.thread_id === threadId) &&
  (userId === undefined || row.user_id === userId) &&
  (scope === undefined || row.scope === scope);

function sumsOf(rows: readonly UsageRow[], { by, limit, offset }: UsageQuery): UsageSum[] {
  const sums = new Map<string, UsageSum>();
  if (by.length === 0) sums.set("[]", noUsage());
  for (const row of rows) {
    const groups = by.map((group) => [group, row[USAGE_COLUMNS[group]]] as const);
    const key = JSON.stringify(groups.map(([, value]) => value));
    const sum = sums.get(key) ?? { ...Object.fromEntries(groups), ...noUsage() };
    for (const field of USAGE_SUMS) sum[field] += row[field];
    sums.set(key, sum);
  }
  const order = (a: UsageSum, b: UsageSum) =>
    by.reduce((found, group) => found || compareTexts(a[group] ?? "", b[group] ?? ""), 0);
  return [...sums.values()].sort(order).slice(offset, offset + limit);
}

const noUsage = () => Object.fromEntries(USAGE_SUMS.map((field) => [field, 0])) as unknown as UsageSum;
