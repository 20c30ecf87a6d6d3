/** The statements of usage that SQLite and PostgreSQL share. */
import { USAGE_COLUMNS, USAGE_SUMS, type UsageQuery, type UsageRow } from "../contract/usage.js";

/** Columns of gs_usage. */
export const STORED_USAGE_COLUMNS = [
  ...["run_id", "attempt", "seq", "thread_id", "graph_id", "user_id", "scope", "node", "provider", "model"],
  ...["day", "at", ...USAGE_SUMS],
] as readonly (keyof UsageRow)[];

const REPLACED = ["day", "at", ...USAGE_SUMS].map((column) => `${column} = excluded.${column}`).join(", ");

/** After an INSERT: a row that exists is replaced. */
export const OR_REPLACE = `ON CONFLICT (run_id, attempt, seq) DO UPDATE SET ${REPLACED}`;

/** Rows that one statement removes, so that others need not wait for long. */
const FORGET_BATCH = 5_000;

/** @param before the only parameter: a time */
export const forgetSql = (table: string, key: string, before: string): string =>
  `DELETE FROM ${table} WHERE (${key}) IN
    (SELECT ${key} FROM ${table} WHERE at < ${before} LIMIT ${FORGET_BATCH})`;

export const forgetUsageSql = (table: string, before: string): string =>
  forgetSql(table, "run_id, attempt, seq", before);

const TESTS = {
  since: "at >= ",
  until: "at < ",
  day: "day = ",
  runId: "run_id = ",
  threadId: "thread_id = ",
  userId: "user_id = ",
  scope: "scope = ",
} as const;

interface SumSql {
  sql: string;
  values: (string | number)[];
}

/**
 * @param parameter the nth parameter, from 1
 * @param number converts a sum to a number that the driver returns as such
 */
export function usageSumSql(
  table: string,
  query: UsageQuery,
  parameter: (n: number) => string,
  number: (sum: string) => string,
): SumSql {
  const { by, limit, offset } = query;
  const values: (string | number)[] = [];
  const given = (Object.keys(TESTS) as (keyof typeof TESTS)[]).flatMap((name) => {
    const value = query[name];
    return value === undefined ? [] : [TESTS[name] + parameter(values.push(value))];
  });
  const groups = by.map((group) => USAGE_COLUMNS[group]);
  const columns = [
    ...by.map((group) => `${USAGE_COLUMNS[group]} AS "${group}"`),
    ...USAGE_SUMS.map((field) => `${number(`coalesce(sum(${field}), 0)`)} AS ${field}`),
  ];
  const where = given.length > 0 ? `WHERE ${given.join(" AND ")}` : "";
  const grouped = groups.length > 0 ? `GROUP BY ${groups.join(", ")}` : "";
  const order =
    groups.length > 0 ? `ORDER BY ${groups.map((group) => `${group} NULLS FIRST`).join(", ")}` : "";
  const page = `LIMIT ${parameter(values.push(limit))} OFFSET ${parameter(values.push(offset))}`;
  return { sql: `SELECT ${columns.join(", ")} FROM ${table} ${where} ${grouped} ${order} ${page}`, values };
}
