/** Backends that compare embeddings in the database: SQLite with sqlite-vec, and PostgreSQL with pgvector. */
import { type Extensions, PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite/vector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import pg from "pg";
import { afterAll, beforeAll, describe, it } from "vitest";
import type { Storage } from "../../src/storage/contract/storage.js";
import { type OnBackends, withSqlite } from "./backends.js";
import { freePort } from "./free-port.js";
import { postgresUri } from "./global-setup.js";
import { withPostgres } from "./postgres.js";

/** PostgreSQL with pgvector in this process. All its connections share one session. */
export interface PgvectorDatabase {
  uri: string;
  sql: (text: string) => Promise<unknown[]>;
}

/** Declares tests for each backend. The backend `postgres` of this machine is skipped if it lacks pgvector. */
export const onVectorSearch: OnBackends = (title, declare) => {
  withSqlite(`${title} with sqlite-vec`, declare);
  withPgvector(`${title} with pgvector`, (database) =>
    declare(() => ({ name: "pglite", durable: true, settings: settingsOf(database().uri), cwd: "." })),
  );
  const own = `${title} with pgvector of the server`;
  if (lacksPgvector !== undefined) it.skip(`${own}: skipped, ${lacksPgvector}`, () => undefined);
  else
    withPostgres(own, (postgres) =>
      declare(() => ({ name: "postgres", durable: true, settings: postgres.options(), cwd: "." })),
    );
};

const settingsOf = (uri: string) => ({
  checkpointer_scheme: "postgres",
  checkpointer_uri: uri,
  checkpointer_options: { pool_max_size: 1, prepare: false },
});

/** @param extensions those of the server: none for a server without pgvector */
export function withPgvector(
  title: string,
  declare: (database: () => PgvectorDatabase) => void,
  extensions: Extensions = { vector },
): void {
  describe(title, () => {
    let database: (PgvectorDatabase & { close(): Promise<void> }) | undefined;
    beforeAll(async () => {
      database = await startPgvector(extensions);
    });
    afterAll(() => database?.close());
    declare(() => database!);
  });
}

async function startPgvector(extensions: Extensions) {
  const db = await newDatabase(extensions);
  const port = await freePort();
  const server = new PGLiteSocketServer({ db, host: "127.0.0.1", port, maxConnections: 20 });
  await server.start();
  return {
    uri: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    sql: async (text: string) => (await db.query(text)).rows,
    close: async () => {
      await server.stop();
      await db.close();
    },
  };
}

/** The files of an empty database. To load them takes a third of the CPU time that initializing a database takes. */
let initialized: Blob | undefined;

async function newDatabase(extensions: Extensions): Promise<PGlite> {
  if (initialized) return PGlite.create({ extensions, loadDataDir: initialized });
  const db = await PGlite.create({ extensions });
  initialized = await db.dumpDataDir("none");
  return db;
}

/** The storage without the vector search of its database. */
export function withoutVectorSearch(storage: Storage): Storage {
  const { items } = storage;
  return items?.openVectorSearch ? { ...storage, items: { ...items, openVectorSearch: undefined } } : storage;
}

const lacksPgvector = await whyNoPgvector();

async function whyNoPgvector(): Promise<string | undefined> {
  const reason = await reasonOf();
  if (reason !== undefined && process.env.GRAPH_SERVE_REQUIRE_BACKENDS?.split(",").includes("pgvector"))
    throw new Error(`GRAPH_SERVE_REQUIRE_BACKENDS requires pgvector: ${reason}`);
  return reason;
}

async function reasonOf(): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: postgresUri(), connectionTimeoutMillis: 3000 });
  try {
    await client.connect();
    const found = await client.query("SELECT FROM pg_available_extensions WHERE name = 'vector'");
    return found.rowCount === 0 ? "PostgreSQL has no pgvector" : undefined;
  } catch {
    return "no PostgreSQL";
  } finally {
    await client.end();
  }
}
