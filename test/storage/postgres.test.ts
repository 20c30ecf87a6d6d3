import { afterEach, beforeAll } from "vitest";
import { explainPostgres } from "../../src/storage/postgres/errors.js";
import { loadPostgresDriver, readPostgresOptions } from "../../src/storage/postgres/options.js";
import { PostgresPool } from "../../src/storage/postgres/pool.js";
import { FastPostgresSaver } from "../../src/storage/postgres/saver.js";
import { withPostgres } from "../helpers/postgres.js";
import { conformance } from "./conformance.js";
import { storageContract } from "./contract.js";

withPostgres("postgres contract", (postgres) => {
  afterEach(() => postgres.close());

  async function open() {
    await postgres.empty();
    return postgres.open();
  }

  // The suite closes each storage itself.
  async function openOnce() {
    const storage = await open();
    postgres.forget(storage);
    return storage;
  }

  storageContract("postgres", openOnce, { durable: true });
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
