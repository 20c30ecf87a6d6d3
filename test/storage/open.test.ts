import path from "node:path";
import { describe, expect, it } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import { SCHEMES } from "../../src/config/storage-settings.js";
import { ConfigError } from "../../src/support/errors.js";
import { openStorage, STORAGE_SCHEMES } from "../../src/storage/open.js";
import { isSqliteUri } from "../../src/storage/sqlite/location.js";
import { tempFolder } from "./temp-folder.js";

const temp = tempFolder();
const options = { checkpointer_options: {}, max_queued_runs: 2 };

describe("openStorage", () => {
  it("settings and backends list the same schemes", () => {
    expect([...STORAGE_SCHEMES].sort()).toEqual([...SCHEMES].sort());
  });

  it("memory ignores every URI", async () => {
    const storage = await openStorage({
      ...options,
      checkpointer_scheme: "memory",
      checkpointer_uri: temp("x.db"),
    });
    expect(storage).toMatchObject({ scheme: "memory", durable: false });
    expect(storage.location).toBeUndefined();
    await storage.close();
  });

  itSqlite("sqlite opens its file below cwd", async () => {
    const sqlite = {
      ...options,
      checkpointer_scheme: "sqlite",
      checkpointer_uri: "data/x.db",
      cwd: temp("."),
    };
    const storage = await openStorage(sqlite);
    expect(storage).toMatchObject({
      scheme: "sqlite",
      durable: true,
      location: path.join(temp("."), "data/x.db"),
    });
    await storage.close();
  });

  it("sqlite ignores a URI of another scheme", async () => {
    const checkpointer_uri = "postgres://user:secret@host/db";
    const opening = openStorage({ ...options, checkpointer_scheme: "sqlite", checkpointer_uri });
    const error = await opening.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect(JSON.stringify(error)).not.toContain("secret");
  });

  it("the queue holds max_queued_runs waiters", async () => {
    const storage = await openStorage({
      ...options,
      checkpointer_scheme: "memory",
      max_queued_runs: 0,
    });
    await storage.locks.acquire("t", { wait: true });
    await expect(storage.locks.acquire("t", { wait: true })).rejects.toMatchObject({ code: "thread_busy" });
    await storage.close();
  });

  it.each([
    ["sqllite", 'did you mean "sqlite"? The schemes are: '],
    ["Memory", 'did you mean "memory"? The schemes are: '],
    ["cassandra", "The schemes are: "],
    ["constructor", "The schemes are: "],
    ["__proto__", "The schemes are: "],
  ])("unknown scheme %s is rejected with a hint", async (checkpointer_scheme, hint) => {
    const error = await openStorage({ ...options, checkpointer_scheme }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ hint: `${hint}${STORAGE_SCHEMES.join(", ")}` });
  });
});

describe("a URI", () => {
  it.each([
    [":memory:", true],
    ["./x.db", true],
    ["C:\\data\\x.db", true],
    ["file:x.db", true],
    ["file:///x.db", true],
    ["sqlite:///x.db", true],
    ["postgres://host/db", false],
    ["mongodb+srv://host/db", false],
    ["REDIS://host", false],
  ])("%s is one of SQLite: %s", (uri, expected) => {
    expect(isSqliteUri(uri)).toBe(expected);
  });
});
