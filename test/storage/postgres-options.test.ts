import { describe, expect, it } from "vitest";
import { ConfigError, StorageUnavailableError } from "../../src/support/errors.js";
import { openStorage } from "../../src/storage/open.js";
import { explainPostgres } from "../../src/storage/postgres/errors.js";
import { withPostgres } from "../helpers/postgres.js";

const SECRET = "s3cret";
const open = (checkpointer_uri: string | undefined, checkpointer_options = {}) =>
  openStorage({
    checkpointer_scheme: "postgres",
    checkpointer_uri,
    checkpointer_options,
    max_queued_runs: 1,
  }).then(
    () => expect.unreachable(),
    (error: unknown) => error as Error & { hint?: string },
  );

describe("postgres options", () => {
  const uri = `postgresql://user:${SECRET}@127.0.0.1:1/db`;

  it.each([undefined, "", "./file.db", "mysql://host/db"])(
    "uri %j is rejected with a clear error",
    async (odd) => {
      const error = await open(odd);
      expect(error).toBeInstanceOf(ConfigError);
      expect(error.message).toMatch(/needs a checkpointer_uri/);
    },
  );

  it("the error for a malformed URI does not contain the URI", async () => {
    const error = await open(`postgresql://user:${SECRET}@host:port/db`);
    expect(error).toBeInstanceOf(ConfigError);
    expect(`${error.message} ${error.hint ?? ""}`).not.toContain(SECRET);
  });

  it.each([
    [{ pool_max_size: 0 }, "pool_max_size must be a whole number above 0"],
    [{ statement_timeout_ms: 1.5 }, "statement_timeout_ms must be a whole number above 0"],
    [{ prepare: "no" }, "prepare must be true or false"],
    [{ schema: 'a"b' }, "schema must be the name of a schema"],
    [{ schema: "" }, "schema must be the name of a schema"],
    [{ schema: "ä".repeat(40) }, "schema must be the name of a schema"],
    [{ lock_uri: "host" }, "lock_uri must be a PostgreSQL connection string"],
    [{ pool_size: 3 }, "pool_size is not known; known are pool_max_size, schema"],
  ])("option %j is rejected", async (options, message) => {
    const error = await open(uri, options);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toContain(`checkpointer_options.${message}`);
  });

  it("an unreachable server is reported without its password", async () => {
    const error = await open(uri);
    expect(error).toBeInstanceOf(StorageUnavailableError);
    expect(error.message).toBe("PostgreSQL at 127.0.0.1:1 cannot be reached");
    expect(JSON.stringify({ ...error, cause: undefined })).not.toContain(SECRET);
  });
});

describe("postgres errors", () => {
  const explain = explainPostgres("db.example:5432");
  const serverError = (code: string) =>
    Object.assign(new Error('relation "secret" …'), { code, severity: "FATAL" });

  it.each([
    ["57P01", "is shutting down or starting up"],
    ["57014", "cancelled a statement that took too long"],
    ["53300", "has no free connection"],
    ["53100", "has no disk space left"],
    ["28P01", "refused the login"],
    ["3D000", "has no database with this name"],
    ["40P01", "aborted a transaction that conflicted with another one"],
    ["22P05", "cannot store a value of this request"],
    ["XX000", "refused a call"],
  ])("error code %s has a clear message", (code, meaning) => {
    expect(explain(serverError(code))?.message).toBe(`PostgreSQL at db.example:5432 ${meaning}`);
  });

  it.each([
    ["Connection terminated unexpectedly", "lost the connection"],
    ["timeout exceeded when trying to connect", "had no free connection in time"],
    ["Query read timeout", "did not answer in time"],
    ["Cannot use a pool after calling end on the pool", "is no longer in use: the storage is closed"],
    ["SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string", "refused the login"],
  ])('driver error "%s" is reported as: %s', (message, meaning) => {
    expect(explain(new Error(message))?.message).toBe(`PostgreSQL at db.example:5432 ${meaning}`);
  });

  it.each([new Error("a bug"), new TypeError("x is not a function"), "text", undefined])(
    "%s is not a storage error",
    (error) => {
      expect(explain(error)).toBeUndefined();
    },
  );
});

withPostgres("a postgres storage", (postgres) => {
  it("the location contains neither user nor password", async () => {
    const uri = new URL(postgres.named("pool"));
    uri.password = SECRET;
    const storage = await postgres.open(
      {},
      { checkpointer_uri: uri.href, checkpointer_scheme: "postgresql" },
    );
    const { host, pathname } = new URL(postgres.uri);
    expect(storage).toMatchObject({
      scheme: "postgres",
      durable: true,
      location: `postgresql://${host}${pathname}`,
    });
    await postgres.close();
  });

  it("a slow statement is cancelled after statement_timeout_ms", async () => {
    const storage = await postgres.open({ statement_timeout_ms: 200 });
    const blocker = await postgres.pool.connect();
    await blocker.query("BEGIN");
    await blocker.query(`LOCK TABLE "${postgres.schema}".gs_threads`);
    await expect(storage.threads.count({ status: "idle" })).rejects.toThrow(
      /cancelled a statement that took too long/,
    );
    await blocker.query("COMMIT");
    blocker.release();
    expect(await storage.threads.count({})).toBe(0);
    await postgres.close();
  });

  it("schema names with special characters are quoted", async () => {
    const schema = "odd; DROP' $1 name";
    const storage = await postgres.open({ schema });
    expect(await storage.threads.count({})).toBe(0);
    await postgres.close();
    await postgres.sql(`DROP SCHEMA "${schema}" CASCADE`);
  });
});
