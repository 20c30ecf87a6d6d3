import { beforeAll } from "vitest";
import type { Storage } from "../../src/storage/contract/storage.js";
import { explainPostgres } from "../../src/storage/postgres/errors.js";
import { loadPostgresDriver, readPostgresOptions } from "../../src/storage/postgres/options.js";
import { PostgresPool } from "../../src/storage/postgres/pool.js";
import { FastPostgresSaver } from "../../src/storage/postgres/saver.js";
import { withPostgres } from "../helpers/postgres.js";
import { conformance } from "./conformance.js";
import { storageContract } from "./contract.js";

withPostgres("postgres contract", (postgres) => {
  // The tests share a storage: to connect takes PostgreSQL longer than the statements of a test.
  let shared: Storage;
  beforeAll(async () => {
    shared = await postgres.open();
  });

  async function open(): Promise<Storage> {
    await postgres.empty();
    return { ...shared, close: async () => undefined };
  }

  storageContract("postgres", open, { durable: true });
});

withPostgres("postgres conformance", (postgres) => {
  let pool: PostgresPool;
  beforeAll(async () => {
    await postgres.open();
    await postgres.close();
    pool = new PostgresPool(
      await loadPostgresDriver(),
      readPostgresOptions(postgres.options()),
      explainPostgres("test"),
    );
    return () => pool.close();
  });

  conformance("@langchain/langgraph-checkpoint-postgres", async () => {
    await postgres.empty();
    return new FastPostgresSaver(pool, postgres.schema);
  });
});
