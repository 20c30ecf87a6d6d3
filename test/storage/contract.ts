import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Storage } from "../../src/storage/storage.js";
import { checkpointTests } from "./contract/checkpoints.js";
import { deadRunTests } from "./contract/dead-runs.js";
import { forkTests } from "./contract/forks.js";
import { headTests } from "./contract/heads.js";
import { itemTests } from "./contract/items.js";
import { lockTests } from "./contract/locks.js";
import { runSearchTests } from "./contract/run-search.js";
import { runTests } from "./contract/runs.js";
import { searchTests } from "./contract/search.js";
import { takeoverTests } from "./contract/takeovers.js";
import { threadTests } from "./contract/threads.js";
import { timerTests } from "./contract/timers.js";

export interface Capabilities {
  /** What was written survives the process. */
  durable: boolean;
  /** It keeps the graphs' long-term memory too. */
  items?: boolean;
  /** It keeps what is to be done at a time. */
  timers?: boolean;
  /** A run may be taken over from the process that executes it; where left out, as far as it is durable. */
  takesOver?: boolean;
  /** A checkpoint is refused if its writer does not know the newest one; "later" if another may come between the two. */
  comparesHead?: boolean | "later";
}

/** What every backend must do. `open` gives an empty storage; it is closed after each test. */
export function storageContract(
  scheme: string,
  open: () => Promise<Storage>,
  { durable, items = true, timers = true, takesOver = durable, comparesHead = true }: Capabilities,
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
    runSearchTests(() => storage);
    if (takesOver) takeoverTests(() => storage);
    if (takesOver) deadRunTests(() => storage);
    lockTests(() => storage);
    checkpointTests(() => storage, { inDatabase: durable });
    if (comparesHead) headTests(() => storage, { isAtomic: comparesHead === true });
    forkTests(() => storage);
    if (items) itemTests(() => storage);
    if (timers) timerTests(() => storage);
  });
}
