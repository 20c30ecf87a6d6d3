import { describe, expect, it, vi } from "vitest";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { openStorage } from "../../src/storage/open.js";

vi.mock("pg", () => {
  throw new Error("Cannot find package 'pg' imported from /somewhere");
});

describe("without pg", () => {
  it("postgres reports the command that installs pg", async () => {
    const opening = openStorage({
      checkpointer_scheme: "postgresql",
      checkpointer_uri: "postgres://127.0.0.1/db",
      checkpointer_options: {},
      max_queued_runs: 2,
    });
    const error = await opening.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StorageUnavailableError);
    expect(error).toMatchObject({
      message: "checkpointer_scheme postgres needs pg, which does not load",
      hint: expect.stringContaining("npm install pg") as string,
    });
  });
});
