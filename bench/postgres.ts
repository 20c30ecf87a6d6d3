/** The PostgreSQL server used for measurements, and schemas on it. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { engineSchema } from "../src/storage/postgres/jobs.js";

const URI = process.env.GRAPH_SERVE_TEST_POSTGRES_URI ?? "postgresql://postgres@127.0.0.1:5432/test";

export interface PostgresSchema {
  uri: string;
  schema: string;
  drop: () => Promise<void>;
}

/** Creates a schema; returns undefined without a server. */
export async function createSchema(): Promise<PostgresSchema | undefined> {
  const schema = `bench_${randomBytes(6).toString("hex")}`;
  try {
    await execute(`CREATE SCHEMA ${schema}`);
  } catch (error) {
    process.stderr.write(`PostgreSQL is not measured: no server at ${URI}: ${String(error)}\n`);
    return undefined;
  }
  return {
    uri: URI,
    schema,
    drop: () => execute(`DROP SCHEMA IF EXISTS ${schema}, ${engineSchema(schema)} CASCADE`),
  };
}

/** Executes a statement on the server. */
export async function execute(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: URI });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

let queries = 0;

/** Counts the statements that this process sends from now on. */
export function countQueries(): void {
  const { prototype } = pg.Client;
  const query = Reflect.get(prototype, "query") as (...args: unknown[]) => unknown;
  Reflect.set(prototype, "query", function (this: pg.Client, ...args: unknown[]) {
    queries += 1;
    return Reflect.apply(query, this, args);
  });
}

export const queryCount = (): number => queries;
