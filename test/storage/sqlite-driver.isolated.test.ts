import { describe, expect, it, vi } from "vitest";
import { hasNodeDriver } from "../../src/storage/sqlite/node-driver.js";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { openStorage } from "../../src/storage/open.js";

vi.mock("better-sqlite3", () => {
  throw new Error("Could not locate the bindings file. Tried: /somewhere");
});

const options = { checkpointer_options: {}, checkpointer_uri: ":memory:", max_queued_runs: 2 };

describe("without better-sqlite3", () => {
  it.skipIf(hasNodeDriver())("sqlite reports the command that installs the driver", async () => {
    const opening = openStorage({ ...options, checkpointer_scheme: "sqlite" });
    const error = await opening.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StorageUnavailableError);
    expect(error).toMatchObject({
      message: "checkpointer_scheme sqlite needs better-sqlite3, which was not built for this Node.js",
      hint: expect.stringContaining("npm rebuild better-sqlite3") as string,
    });
  });

  it.runIf(hasNodeDriver())("sqlite uses the driver of Node.js", async () => {
    const storage = await openStorage({ ...options, checkpointer_scheme: "sqlite" });
    expect(await storage.threads.count({})).toBe(0);
    await storage.close();
    await expect(storage.threads.count({})).rejects.toThrow("the storage is closed");
  });

  it("memory storage still works", async () => {
    const storage = await openStorage({ ...options, checkpointer_scheme: "memory" });
    expect(await storage.threads.count({})).toBe(0);
    await storage.close();
  });
});
