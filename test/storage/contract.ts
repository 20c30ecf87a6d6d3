import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Storage } from "../../src/storage/contract/storage.js";
import { checkpointTests } from "./contract/checkpoints.js";
import { deadRunTests } from "./contract/dead-runs.js";
import { forkTests } from "./contract/forks.js";
import { headTests } from "./contract/heads.js";
import { itemTests } from "./contract/items.js";
import { lockTests } from "./contract/locks.js";
import { recordingTests } from "./contract/recordings.js";
import { runSearchTests } from "./contract/run-search.js";
import { runTests } from "./contract/runs.js";
import { searchTests } from "./contract/search.js";
import { takeoverTests } from "./contract/takeovers.js";
import { threadTests } from "./contract/threads.js";
import { timerTests } from "./contract/timers.js";
import { usageTests } from "./contract/usage.js";

export interface Capabilities {
  /** Stored data survives a restart of the process. */
  durable: boolean;
  /** Also stores the graphs' long-term memory. */
  items?: boolean;
  /** Also stores timers. */
  timers?: boolean;
  /** Also records usage. */
  usage?: boolean;
  /** Also keeps recordings. Default: `durable`. */
  recordings?: boolean;
  /** Another process can take over a run. Default: `durable`. */
  takesOver?: boolean;
  /** A checkpoint is rejected if its writer has not seen the newest one; "later" if check and write are not atomic. */
  comparesHead?: boolean | "later";
  /** Keeps values of channels that the writing graph does not know. */
  keepsOtherChannels?: boolean;
}

/** The contract of every backend. `open` returns an empty storage, which is closed after each test. */
export function storageContract(
  scheme: string,
  open: () => Promise<Storage>,
  {
    durable,
    items = true,
    timers = true,
    usage = true,
    recordings = durable,
    takesOver = durable,
    comparesHead = true,
    keepsOtherChannels = true,
  }: Capabilities,
): void {
  describe(`${scheme} storage`, () => {
    let storage: Storage;
    beforeEach(async () => {
      storage = await open();
    });
    afterEach(async () => storage.close());

    it("reports its scheme and durability", () => {
      expect(storage).toMatchObject({ scheme, durable });
    });

    threadTests(() => storage);
    searchTests(() => storage);
    runTests(() => storage);
    runSearchTests(() => storage);
    if (takesOver) takeoverTests(() => storage);
    if (takesOver) deadRunTests(() => storage);
    lockTests(() => storage);
    checkpointTests(() => storage, { inDatabase: durable, keepsOtherChannels });
    if (comparesHead) headTests(() => storage, { isAtomic: comparesHead === true });
    forkTests(() => storage);
    if (items) itemTests(() => storage);
    if (timers) timerTests(() => storage);
    if (usage) usageTests(() => storage);
    if (recordings) recordingTests(() => storage);
  });
}
