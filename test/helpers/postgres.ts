/**
 * A PostgreSQL server for tests. Each worker uses one schema, dropped at the end. Tests are skipped with a
 * message if there is no server.
 */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, describe, inject, it } from "vitest";
import { openStorage } from "../../src/storage/open.js";
import { engineSchema } from "../../src/storage/postgres/jobs.js";
import type { Storage, StorageOptions } from "../../src/storage/contract/storage.js";
import { POSTGRES_VARIABLE, postgresUri } from "./global-setup.js";

export class TestPostgres {
  readonly uri: string;
  readonly schema: string;
  readonly pool: pg.Pool;
  readonly #opened: Storage[] = [];

  constructor(uri: string, schema: string) {
    this.uri = uri;
    this.schema = schema;
    this.pool = new pg.Pool({ connectionString: uri, max: 2 });
    this.pool.on("error", () => undefined);
  }

  /** The URI with an application name, by which `terminate` finds the connections. */
  named(name: string): string {
    const named = new URL(this.uri);
    named.searchParams.set("application_name", `${this.schema} ${name}`);
    return named.href;
  }

  /** Options to open a storage on the schema. Its connections are named `pool` and `locks`. */
  options(checkpointer_options: StorageOptions["checkpointer_options"] = {}): StorageOptions {
    return {
      checkpointer_scheme: "postgres",
      checkpointer_uri: this.named("pool"),
      checkpointer_options: {
        schema: this.schema,
        lock_uri: this.named("locks"),
        ...checkpointer_options,
      },
      max_queued_runs: 2,
    };
  }

  /** Opens a storage; `close()` of this class closes it. */
  async open(
    checkpointer_options?: StorageOptions["checkpointer_options"],
    more: Partial<StorageOptions> = {},
  ): Promise<Storage> {
    const storage = await openStorage({ ...this.options(checkpointer_options), ...more });
    this.#opened.push(storage);
    return storage;
  }

  /** Closes all storages that `open` opened. */
  async close(): Promise<void> {
    for (const storage of this.#opened.splice(0)) await storage.close();
  }

  /** Stops tracking a storage that the test closed itself. */
  forget(storage: Storage): void {
    this.#opened.splice(this.#opened.indexOf(storage), 1);
  }

  async sql<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    text: string,
    values?: unknown[],
  ): Promise<Row[]> {
    return (await this.pool.query<Row>(text, values)).rows;
  }

  /** Empties all tables of the schema except version tables. DELETE is much faster than TRUNCATE for a few rows. */
  async empty(): Promise<void> {
    const tables = await this.sql<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname = $1 AND tablename NOT IN ('gs_schema', 'checkpoint_migrations')
       ORDER BY tablename = 'gs_fact_counts'`,
      [this.schema],
    );
    // The triggers of runs delete their jobs. Rows must be deleted before the table of their counts.
    await this.sql(tables.map(({ name }) => `DELETE FROM ${name};`).join("\n"));
  }

  /** Terminates connections on the server and returns their number. */
  async terminate(name: "pool" | "locks"): Promise<number> {
    const ended = await this.sql(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = $1 AND datname = current_database()`,
      [`${this.schema} ${name}`],
    );
    return ended.length;
  }

  async drop(): Promise<void> {
    await this.sql(`DROP SCHEMA IF EXISTS "${this.schema}", "${engineSchema(this.schema)}" CASCADE`);
  }
}

const uri = postgresUri();
const unreachable = await whyUnreachable();

/**
 * Declares tests on the PostgreSQL server at GRAPH_SERVE_TEST_POSTGRES_URI, by default 127.0.0.1:5432.
 * Without a server they are skipped with the reason in their title, or fail if GRAPH_SERVE_REQUIRE_BACKENDS
 * lists postgres.
 */
export const withPostgres = (title: string, declare: (postgres: TestPostgres) => void): void =>
  onPostgres(title, declare, false);

/** Like `withPostgres`, for tests of the tables themselves: uses a separate schema that does not exist at first. */
export const withOwnSchema = (title: string, declare: (postgres: TestPostgres) => void): void =>
  onPostgres(title, declare, true);

function onPostgres(title: string, declare: (postgres: TestPostgres) => void, ownSchema: boolean): void {
  if (unreachable !== undefined) {
    it.skip(`${title}: skipped, no PostgreSQL (${unreachable})`, () => undefined);
    return;
  }
  describe(title, () => {
    // Files of a worker run one after another in the same schema, and each leaves the tables empty.
    const name = ownSchema ? randomBytes(6).toString("hex") : process.pid;
    const postgres = new TestPostgres(uri, `${inject("schemaPrefix")}${name}`);
    afterAll(async () => {
      await postgres.close();
      await (ownSchema ? postgres.drop() : postgres.empty());
      await postgres.pool.end();
    });
    declare(postgres);
  });
}

async function whyUnreachable(): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: uri, connectionTimeoutMillis: 3000 });
  try {
    await client.connect();
    await client.end();
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message || error.name : String(error);
    if (process.env.GRAPH_SERVE_REQUIRE_BACKENDS?.split(",").includes("postgres")) {
      throw new Error(`GRAPH_SERVE_REQUIRE_BACKENDS requires postgres: ${reason}`);
    }
    process.stderr.write(
      `PostgreSQL tests are skipped: ${reason}. Set ${POSTGRES_VARIABLE} to the URI of a server.\n`,
    );
    return reason;
  }
}
