import { MongoClient } from "mongodb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConfigError, StorageUnavailableError, type GraphServeError } from "../../src/support/errors.js";
import { openStorage } from "../../src/storage/open.js";
import { MongodbDouble } from "../doubles/mongodb-double.js";
import { threadRow } from "./contract/rows.js";

let double: MongodbDouble;
const options = { checkpointer_scheme: "mongodb", checkpointer_options: {}, max_queued_runs: 2 };
const uri = (query = "") => `${double.uri}/start${query}`;
const open = (more: object = {}) => openStorage({ ...options, checkpointer_uri: uri(), ...more });

beforeAll(async () => {
  double = await MongodbDouble.start();
});
afterAll(() => double.stop());

describe("MongoDB at startup", () => {
  const failure = (more: object) =>
    open(more).then(
      async (opened) => {
        await opened.close();
        return undefined;
      },
      (error: unknown) => error as GraphServeError,
    );

  it("an unreachable server is reported without the password", async () => {
    const checkpointer_uri = "mongodb://me:s3cret@127.0.0.1:9/db?serverSelectionTimeoutMS=100";
    const error = await failure({ checkpointer_uri });
    expect(error).toBeInstanceOf(StorageUnavailableError);
    expect(error?.message).toBe("MongoDB at 127.0.0.1:9 cannot be reached");
    expect(`${error?.message} ${error?.hint}`).not.toContain("s3cret");
  });

  it.each([
    ["mongodb://", undefined],
    ["mongodb://me:s3cret@host:notaport/db", undefined],
    [undefined, undefined],
    ["mongodb://host/db", { schema: "x" }],
  ])("%s with %j is rejected with a clear error", async (checkpointer_uri, checkpointer_options) => {
    const error = await failure({ checkpointer_uri, checkpointer_options: { ...checkpointer_options } });
    expect(error).toBeInstanceOf(ConfigError);
    expect(`${error?.message} ${error?.hint}`).not.toContain("s3cret");
  });

  it("a server that does not answer causes a timeout", async () => {
    double.fateOf = () => "hang";
    const error = await failure({ checkpointer_uri: uri("?socketTimeoutMS=100") });
    double.fateOf = () => "run";
    expect(error).toBeInstanceOf(StorageUnavailableError);
    expect(error?.message).toContain("did not answer in time");
  });

  it("the database name comes from the URI", async () => {
    const other = await open({ checkpointer_uri: `${double.uri}/other%20one` });
    expect(other.location).toBe(`${double.uri}/other one`);
    const row = threadRow();
    await other.threads.insert(row);
    const storage = await open();
    expect(await storage.threads.get(row.thread_id)).toBeUndefined();
    await storage.close();
    await other.close();
    const unnamed = await open({ checkpointer_scheme: "mongo", checkpointer_uri: double.uri });
    expect(unnamed).toMatchObject({ scheme: "mongodb", location: `${double.uri}/graph_serve` });
    await unnamed.close();
  });

  it("a read-only storage creates nothing", async () => {
    const missing = await failure({ checkpointer_uri: `${double.uri}/nowhere`, readOnly: true });
    expect(missing?.message).toContain("holds no threads of graph-serve");
    await (await open()).close();
    double.commands.length = 0;
    const reader = await open({ readOnly: true });
    await reader.threads.count({});
    await reader.close();
    const writes = ["insert", "update", "delete", "findAndModify", "createIndexes"];
    expect(double.commands.filter((name) => writes.includes(name))).toEqual([]);
  });

  it("documents of a later version are rejected", async () => {
    const client = await new MongoClient(double.uri).connect();
    const versions = client.db("later").collection<{ _id: string; version: number }>("gs_schema");
    await versions.insertOne({ _id: "version", version: 99 });
    await client.close();
    for (const readOnly of [false, true]) {
      const error = await failure({ checkpointer_uri: `${double.uri}/later`, readOnly });
      expect(error).toBeInstanceOf(StorageUnavailableError);
      expect(error?.message).toContain("a later graph-serve");
    }
  });
});
