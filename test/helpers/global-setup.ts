/**
 * Setup and teardown of a test run: builds the pages, and drops the PostgreSQL schemas of all workers by
 * their common prefix, and what they built.
 */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { buildPages } from "../../scripts/build-pages.mjs";

declare module "vitest" {
  interface ProvidedContext {
    /** Prefix of the schemas of this test run. */
    schemaPrefix: string;
  }
}

export const POSTGRES_VARIABLE = "GRAPH_SERVE_TEST_POSTGRES_URI";

export const postgresUri = (): string =>
  process.env[POSTGRES_VARIABLE] ?? "postgresql://postgres@127.0.0.1:5432/test";

/** Where `compiled.ts` builds servers and the package for this test run. */
export const compiledFolder = (prefix: string): string => join(tmpdir(), `graph-serve-compiled-${prefix}`);

export default async function setUp({ provide }: TestProject): Promise<() => Promise<void>> {
  await buildPages();
  const prefix = `test_${randomBytes(4).toString("hex")}_`;
  provide("schemaPrefix", prefix);
  return async () => {
    await rm(compiledFolder(prefix), { recursive: true, force: true });
    await dropSchemas(prefix);
  };
}

/** Does nothing without a PostgreSQL server, because its tests were skipped. */
async function dropSchemas(prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgresUri(), connectionTimeoutMillis: 3000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
  } catch {
    return;
  }
  const { rows } = await client.query<{ name: string }>(
    "SELECT quote_ident(nspname) AS name FROM pg_namespace WHERE starts_with(nspname, $1)",
    [prefix],
  );
  for (const { name } of rows) await client.query(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
  await client.end();
}
