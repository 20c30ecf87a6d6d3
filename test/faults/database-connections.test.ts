/** Database connections that all close at the same time, or that stall: calls end, and the service recovers. */
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { expect, it, onTestFinished } from "vitest";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { newId } from "../../src/support/ids.js";
import { openStorage } from "../../src/storage/open.js";
import type { StorageOptions } from "../../src/storage/contract/storage.js";
import type { Checkpointer } from "../../src/storage/contract/checkpointer.js";
import { withMongodb } from "../helpers/mongodb.js";
import { withPostgres } from "../helpers/postgres.js";
import { withRedis } from "../helpers/redis.js";
import { TcpRelay } from "../helpers/tcp-relay.js";

/** Larger than the socket buffers on the way. */
const LARGE = "x".repeat(15 * 1024 * 1024);
/** Calls must end within 20 s; the rest is slack for a busy machine. */
const LONGEST = { timeout: 40_000 };
/** Longer than this after their last check, in ms, drivers check the server immediately when a call fails. */
const DRIVER_PAUSE = 500;
const CUTS = 6;
const CALLERS = 8;

const placeOf = (thread_id: string) => ({ configurable: { thread_id, checkpoint_ns: "" } });

async function openRelayed(options: StorageOptions, defaultPort: number) {
  const { relay, uri } = await TcpRelay.before(options.checkpointer_uri ?? "", defaultPort);
  onTestFinished(() => relay.close());
  const storage = await openStorage({ ...options, checkpointer_uri: uri });
  onTestFinished(() => storage.close());
  return { relay, checkpointer: storage.checkpointer };
}

/** Returns whether a read succeeded; a failure must report that the storage is unavailable. */
async function isServed(checkpointer: Checkpointer): Promise<boolean> {
  try {
    await checkpointer.getTuple(placeOf(newId()));
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(StorageUnavailableError);
    return false;
  }
}

function putLarge(checkpointer: Checkpointer): Promise<unknown> {
  const values = { channel_values: { text: LARGE }, channel_versions: { text: 1 } };
  const metadata = { source: "input", step: -1, parents: {} } as const;
  return checkpointer.put(placeOf(newId()), { ...emptyCheckpoint(), ...values }, metadata, { text: 1 });
}

function promises(options: () => StorageOptions, defaultPort: number): void {
  it("are re-established each time all of them close", { timeout: 300_000 }, async () => {
    const { relay, checkpointer } = await openRelayed(options(), defaultPort);
    for (let cut = 0; cut < CUTS; cut += 1) {
      const end = performance.now() + DRIVER_PAUSE + 100 * Math.random();
      let isCut = false;
      const caller = async () => {
        while (!isCut) await isServed(checkpointer);
      };
      const callers = Array.from({ length: CALLERS }, caller);
      while (performance.now() < end) await isServed(checkpointer);
      relay.cut();
      isCut = true;
      await Promise.all(callers);
      await expect.poll(() => isServed(checkpointer), LONGEST).toBe(true);
    }
  });

  it("fail pending reads and writes when they stall, then recover", { timeout: 120_000 }, async () => {
    const { relay, checkpointer } = await openRelayed(options(), defaultPort);
    relay.block();
    const begin = performance.now();
    const ends = await Promise.allSettled([putLarge(checkpointer), checkpointer.getTuple(placeOf(newId()))]);
    for (const end of ends) {
      expect(end).toMatchObject({ status: "rejected", reason: { code: "storage_unavailable" } });
    }
    expect(performance.now() - begin).toBeLessThan(LONGEST.timeout);
    relay.unblock();
    await expect.poll(() => isServed(checkpointer), LONGEST).toBe(true);
  });
}

withPostgres("connections to postgres", (postgres) => promises(() => postgres.options(), 5432));
withMongodb("connections to mongodb", (mongodb) => promises(() => mongodb().options(), 27017));
withRedis("connections to redis", (redis) => promises(() => redis.options(), 6379));
