import type { UsageRow, UsageSum, UsageTable } from "../contract/usage.js";
import { forgetUsageSql, OR_REPLACE, STORED_USAGE_COLUMNS, usageSumSql } from "../rows/usage-sql.js";
import { tableIn } from "./options.js";
import type { PostgresPool } from "./pool.js";
import { toJsonColumn } from "./rows.js";

const columns = STORED_USAGE_COLUMNS.join(", ");

/** An INSERT of the rows in a parameter of type json. */
export const usageInsert = (schema: string, parameter: string): string => {
  const usage = tableIn(schema, "gs_usage");
  return `INSERT INTO ${usage} (${columns})
    SELECT ${columns} FROM json_populate_recordset(NULL::${usage}, ${parameter}::json) ${OR_REPLACE}`;
};

export const storeUsage = (rows: readonly UsageRow[]): string => toJsonColumn(rows);

/** Usage in a PostgreSQL schema. */
export function createPostgresUsage({ query }: PostgresPool, schema: string): UsageTable {
  const usage = tableIn(schema, "gs_usage");
  const insert = usageInsert(schema, "$1");
  const casts = STORED_USAGE_COLUMNS.map((column) => (column === "cost" ? "cost::float8" : column));
  const page = `SELECT ${casts.join(", ")} FROM ${usage} ORDER BY run_id, attempt, seq LIMIT $1 OFFSET $2`;
  const forget = `${forgetUsageSql(usage, "$1")} RETURNING seq`;
  return {
    store: async (rows) => void (await query(insert, [storeUsage(rows)])),
    sum: (wanted) => {
      const { sql, values } = usageSumSql(
        usage,
        wanted,
        (n) => `$${n}`,
        // Sums are bigint or numeric, which the driver returns as text.
        (sum) => `(${sum})::float8`,
      );
      return query<UsageSum>(sql, values);
    },
    forget: async (before) => (await query(forget, [before])).length,
    page: ({ limit, offset }) => query<UsageRow>(page, [limit, offset]),
  };
}
