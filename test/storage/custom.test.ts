import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { checkSettings } from "../../src/config/load.js";
import { defaultSettings } from "../../src/config/settings.js";
import { ConfigError, StorageUnavailableError, type GraphServeError } from "../../src/support/errors.js";
import { openStorage } from "../../src/storage/open.js";
import { openStorage as openMaps } from "../fixtures/storage/map-storage.js";
import { storageContract } from "./contract.js";
import { tempFolder } from "./temp-folder.js";

const FIXTURES = fileURLToPath(new URL("../fixtures/storage", import.meta.url));
const temp = tempFolder();
const options = { checkpointer_options: {}, max_queued_runs: 2 };

storageContract("maps", async () => openMaps({ ...options, checkpointer_scheme: "maps", cwd: "." }), {
  durable: false,
  items: false,
  timers: false,
  usage: false,
  comparesHead: false,
  keepsOtherChannels: false,
});

function moduleOf(name: string, text: string): string {
  const file = temp(name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return `./${name}`;
}

const open = (checkpointer_scheme: string, more: object = {}) =>
  openStorage({ ...options, checkpointer_scheme, cwd: temp("."), ...more });

async function failure(opening: Promise<unknown>): Promise<GraphServeError> {
  const error = await opening.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error as GraphServeError;
}

describe("custom storage", () => {
  it.each(["./map-storage.ts", "./map-storage.ts:openStorage", "map-storage.ts"])(
    "%s is loaded as a storage module",
    async (scheme) => {
      const storage = await open(scheme, { cwd: FIXTURES });
      expect(storage).toMatchObject({ scheme: "maps", durable: false });
      expect(await storage.threads.count({})).toBe(0);
      const lease = await storage.locks.acquire("t", { wait: false });
      expect(await storage.locks.acquire("t", { wait: false })).toBeUndefined();
      await lease?.release();
      await storage.close();
    },
  );

  it("the module receives the URI, options and folder", async () => {
    const scheme = moduleOf(
      "given.mjs",
      "export const openStorage = (options) => { throw new Error(JSON.stringify(options)) };",
    );
    const checkpointer_uri = "whatever://it.takes/";
    const error = await failure(open(scheme, { checkpointer_uri, checkpointer_options: { own: 1 } }));
    expect(error.message).toContain('"own":1');
    expect(error.message).toContain(JSON.stringify(temp(".")));
    // Errors show the name of the setting instead of the URI, which may contain a password.
    expect(error.message).toContain('"checkpointer_uri":"checkpointer_uri"');
  });

  it("a package is resolved from the project folder", async () => {
    moduleOf(
      "node_modules/@me/store/package.json",
      '{ "name": "@me/store", "type": "module", "exports": { "import": "./main.js" } }',
    );
    moduleOf("node_modules/@me/store/main.js", "export const connect = () => ({});");
    expect((await failure(open("@me/store:connect"))).message).toContain(
      "checkpointer_scheme @me/store:connect: its storage lacks",
    );
  });

  it("missing methods of the storage are listed", async () => {
    const text = `export const openStorage = () => ({
      scheme: "half", durable: true, threads: { get() {} }, locks: { acquire() {}, waiting: 1 },
    });`;
    const error = await failure(open(moduleOf("half.mjs", text)));
    expect(error).toBeInstanceOf(ConfigError);
    for (const part of ["threads.insert()", "runs", "owners", "checkpointer", "locks.waiting()", "close()"]) {
      expect(error.message).toContain(part);
    }
    expect(error.message).not.toContain("threads.get()");
    expect(error.hint).toContain("see the type Storage");
    expect(
      (await failure(open(moduleOf("null.mjs", "export const openStorage = () => null;")))).message,
    ).toContain("it is not an object");
  });

  it("a storage written for 0.1.0 is rejected with the renamed methods", async () => {
    const text = "export const openStorage = () => ({ scheme: 'old', metadata: { insertThread() {} } });";
    const error = await failure(open(moduleOf("old.mjs", text)));
    expect(error).toMatchObject({ code: "config_invalid" });
    expect(error.hint).toContain("insertThread is now threads.insert");
  });

  it("a missing module is reported with its path", async () => {
    const error = await failure(open("./nowhere.ts:openStorage"));
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toContain(temp("nowhere.ts"));
    expect(await failure(open("no-such-package:openStorage"))).toMatchObject({
      code: "config_invalid",
      hint: "run: npm install no-such-package",
    });
  });

  it("a missing export is reported with the available functions", async () => {
    const error = await failure(open(moduleOf("other.mjs", "export const connect = () => 1, version = 2;")));
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.hint).toBe("write one of: ./other.mjs:connect");
  });

  it("an error while loading the module is reported", async () => {
    const error = await failure(open(moduleOf("broken.mjs", 'throw new Error("no luck");')));
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toContain("no luck");
  });

  it("an error of the module never contains the password", async () => {
    const text =
      "export const openStorage = (o) => { throw new Error(`cannot reach ${o.checkpointer_uri}, not with s3cret`) };";
    const error = await failure(
      open(moduleOf("failing.mjs", text), { checkpointer_uri: "db://me:s3cret@host/x" }),
    );
    expect(error).toBeInstanceOf(StorageUnavailableError);
    expect(error.message).toContain("cannot reach checkpointer_uri");
    expect(error.message).not.toContain("s3cret");
  });

  it("a connection string is not accepted as a module", async () => {
    const error = await failure(open("redis://host:6379/0"));
    expect(error).toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining("is not known") as string,
    });
  });
});

describe("checkpointer settings", () => {
  const check = (settings: object) =>
    checkSettings(
      { ...defaultSettings(), ...settings },
      { max_concurrent_runs: { kind: "default" } } as never,
      () => undefined,
    );

  it("a module accepts any URI", () => {
    expect(check({ checkpointer_scheme: "./x.ts:openStorage", checkpointer_uri: "any://thing" })).toEqual([]);
  });

  it.each([
    ["postgres", "postgresql://host/db"],
    ["mongo", "mongodb+srv://host/db"],
    ["mongodb", "mongodb://host/db"],
    ["redis", "rediss://host"],
    ["sqlite", "./x.db"],
  ])("%s accepts %s", (checkpointer_scheme, checkpointer_uri) => {
    expect(check({ checkpointer_scheme, checkpointer_uri })).toEqual([]);
  });

  it("a URI of another scheme causes a warning", () => {
    const [warning] = check({ checkpointer_scheme: "redis", checkpointer_uri: "mongodb://host/db" });
    expect(warning).toContain("checkpointer_uri is ignored");
  });
});
