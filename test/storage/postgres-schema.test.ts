import { afterEach, beforeEach, expect, it } from "vitest";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { POSTGRES_SCHEMA_VERSION } from "../../src/storage/postgres/schema.js";
import { withOwnSchema } from "../helpers/postgres.js";
import { threadRow } from "./contract/rows.js";

withOwnSchema("postgres set-up", (postgres) => {
  const drop = () => postgres.sql(`DROP SCHEMA IF EXISTS "${postgres.schema}" CASCADE`);
  beforeEach(drop);
  afterEach(() => postgres.close());

  const version = async () =>
    (await postgres.sql<{ version: number }>(`SELECT version FROM "${postgres.schema}".gs_schema`)).map(
      (row) => row.version,
    );

  it("eight storages create one schema concurrently", async () => {
    await Promise.all(Array.from({ length: 8 }, () => postgres.open({ pool_max_size: 1 })));
    expect(await version()).toEqual([POSTGRES_SCHEMA_VERSION]);
  });

  it("tables of a later release are rejected", async () => {
    await postgres.open();
    await postgres.sql(`UPDATE "${postgres.schema}".gs_schema SET version = 99`);
    const error = await postgres.open().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StorageUnavailableError);
    expect(error).toHaveProperty(
      "message",
      expect.stringMatching(/later graph-serve.*version 99.*supports version \d/),
    );
  });

  it("a failed setup leaves no tables", async () => {
    await postgres.sql(`CREATE SCHEMA "${postgres.schema}"`);
    await postgres.sql(`CREATE TABLE "${postgres.schema}".gs_owners (mine int)`);
    await expect(postgres.open()).rejects.toBeInstanceOf(StorageUnavailableError);
    const tables = await postgres.sql("SELECT 1 FROM pg_tables WHERE schemaname = $1", [postgres.schema]);
    expect(tables).toHaveLength(1);
  });

  it("an existing schema can be used without the privilege to create", async () => {
    await (await postgres.open()).threads.insert(threadRow());
    const role = `${postgres.schema}_user`;
    const s = `"${postgres.schema}"`;
    await postgres.sql(`CREATE ROLE "${role}" LOGIN`);
    await postgres.sql(`GRANT USAGE ON SCHEMA ${s} TO "${role}"`);
    await postgres.sql(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${s} TO "${role}"`);
    try {
      const uri = new URL(postgres.uri);
      uri.username = role;
      const { threads } = await postgres.open({}, { checkpointer_uri: uri.href });
      expect(await threads.insert(threadRow())).toBe(true);
      expect(await threads.count({})).toBe(2);
      await postgres.close();
      await drop();
      await postgres.sql(`CREATE SCHEMA ${s}`);
      await postgres.sql(`GRANT USAGE ON SCHEMA ${s} TO "${role}"`);
      await expect(postgres.open({}, { checkpointer_uri: uri.href })).rejects.toThrow(
        /denied the user a permission/,
      );
    } finally {
      await drop();
      await postgres.sql(`DROP ROLE "${role}"`);
    }
  });

  it.each([
    ["tables", true],
    ["schema", false],
  ])("a read-only storage does not create the %s", async (_, hasSchema) => {
    if (hasSchema) await postgres.sql(`CREATE SCHEMA "${postgres.schema}"`);
    await expect(postgres.open({}, { readOnly: true })).rejects.toThrow(/has no tables of graph-serve/);
    expect(await postgres.sql("SELECT 1 FROM pg_tables WHERE schemaname = $1", [postgres.schema])).toEqual(
      [],
    );
  });

  it("a read-only storage changes nothing", async () => {
    const thread = threadRow();
    await (await postgres.open()).threads.insert(thread);
    const { threads } = await postgres.open({}, { readOnly: true });
    expect(await threads.get(thread.thread_id)).toEqual(thread);
    await expect(threads.delete(thread.thread_id)).rejects.toThrow(/is read-only/);
  });
});
