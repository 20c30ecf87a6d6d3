import type { UsageRow, UsageSum, UsageTable } from "../contract/usage.js";
import { forgetUsageSql, OR_REPLACE, STORED_USAGE_COLUMNS, usageSumSql } from "../rows/usage-sql.js";
import type { SqliteFile } from "./file.js";

const columns = STORED_USAGE_COLUMNS.join(", ");
const values = STORED_USAGE_COLUMNS.map((column) => `@${column}`).join(", ");
const INSERT = `INSERT INTO gs_usage (${columns}) VALUES (${values}) ${OR_REPLACE}`;
const PAGE = `SELECT ${columns} FROM gs_usage ORDER BY run_id, attempt, seq LIMIT ? OFFSET ?`;

const FORGET = forgetUsageSql("gs_usage", "?");

/** Must be called within a write. */
export function insertUsage(file: SqliteFile, rows: readonly UsageRow[]): void {
  for (const row of rows) file.statement(INSERT).run(row);
}

export const createSqliteUsage = (file: SqliteFile): UsageTable => ({
  store: (rows) => file.write(() => insertUsage(file, rows)),
  sum: (query) => {
    const { sql, values: given } = usageSumSql(
      "gs_usage",
      query,
      () => "?",
      (sum) => sum,
    );
    return file.read(() => file.statement(sql).all(...given) as UsageSum[]);
  },
  forget: (before) => file.write(() => file.statement(FORGET).run(before).changes),
  page: ({ limit, offset }) => file.read(() => file.statement(PAGE).all(limit, offset) as UsageRow[]),
});
