import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Storage } from "../../src/storage/storage.js";
import { checkpointTests } from "./contract/checkpoints.js";
import { forkTests } from "./contract/forks.js";
import { itemTests } from "./contract/items.js";
import { lockTests } from "./contract/locks.js";
import { runTests } from "./contract/runs.js";
import { searchTests } from "./contract/search.js";
import { threadTests } from "./contract/threads.js";

export interface Capabilities {
  /** What was written survives the process. */
  durable: boolean;
  /** It keeps the graphs' long-term memory too. */
  items?: boolean;
}

/** What every backend must do. `open` gives an empty storage; it is closed after each test. */
export function storageContract(
  scheme: string,
  open: () => Promise<Storage>,
  { durable, items = true }: Capabilities,
): void {
  describe(`${scheme} storage`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await open();
    });
    afterEach(async () => storage.close());

    it("it names its scheme and durability", () => {
      expect(storage).toMatchObject({ scheme, durable });
    });

    threadTests(() => storage);
    searchTests(() => storage);
    runTests(() => storage);
    lockTests(() => storage);
    checkpointTests(() => storage, { inDatabase: durable });
    forkTests(() => storage);
    if (items) itemTests(() => storage);
  });
}
