import { describe, expect, it, vi } from "vitest";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { openStorage } from "../../src/storage/open.js";

const missing = vi.hoisted(() => (): never => {
  throw new Error("Cannot find package. Looked in /somewhere");
});
vi.mock("mongodb", missing);
vi.mock("redis", missing);

describe("without its driver package", () => {
  it.each([
    ["mongodb", "mongodb://host/db", "run: npm install mongodb @langchain/langgraph-checkpoint-mongodb"],
    ["redis", "redis://host", "run: npm install redis"],
  ])(
    "%s reports the command that installs the driver",
    async (checkpointer_scheme, checkpointer_uri, hint) => {
      const opening = openStorage({
        checkpointer_scheme,
        checkpointer_uri,
        checkpointer_options: checkpointer_scheme === "redis" ? { allow_ephemeral_metadata: true } : {},
        max_queued_runs: 2,
      });
      const error = await opening.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(StorageUnavailableError);
      expect(error).toMatchObject({
        message: `checkpointer_scheme ${checkpointer_scheme} needs ${checkpointer_scheme}, which does not load`,
        hint,
      });
    },
  );
});
