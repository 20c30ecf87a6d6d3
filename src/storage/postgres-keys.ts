import { createHash } from "node:crypto";

/** The 64-bit key of an advisory lock, as decimal text; other users of the database are told apart by it. */
export function lockKey(...parts: readonly string[]): string {
  const text = JSON.stringify(["graph-serve", ...parts]);
  return createHash("sha256").update(text).digest().readBigInt64BE(0).toString();
}

/** The name of a table of `schema` for SQL. */
export const tableIn = (schema: string, table: string): string => `"${schema}".${table}`;
