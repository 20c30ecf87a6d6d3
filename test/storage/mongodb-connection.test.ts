/** Connections to MongoDB that end or stand still under the driver. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StorageUnavailableError } from "../../src/errors.js";
import { openStorage } from "../../src/storage/open.js";
import type { Storage } from "../../src/storage/storage.js";
import { MongodbDouble } from "../doubles/mongodb-double.js";
import { TcpRelay } from "../helpers/tcp-relay.js";
import { threadRow } from "./contract/rows.js";

const MEGABYTE = 1024 * 1024;
/** The driver looks at once after a failed call when its last look is older than this, unless told otherwise. */
const DRIVER_PAUSE = 500;
const CUTS = 6;
const CALLS = 8;

describe("a connection to mongodb (on a double)", () => {
  let double: MongodbDouble;
  let relay: TcpRelay;
  let storage: Storage;
  const open = async () => {
    const checkpointer_uri = `mongodb://127.0.0.1:${relay.port}/connection`;
    storage = await openStorage({
      checkpointer_scheme: "mongodb",
      checkpointer_uri,
      checkpointer_options: {},
      max_queued_runs: 2,
    });
  };
  beforeEach(async () => {
    double = await MongodbDouble.start();
    relay = await TcpRelay.open("127.0.0.1", Number(new URL(double.uri).port));
  });
  afterEach(async () => {
    relay.unblock();
    await storage?.close();
    await relay.close();
    await double.stop();
  });

  const insert = () => storage.metadata.insertThread(threadRow());
  const inserted = () =>
    insert().catch((error: unknown) => {
      expect(error).toBeInstanceOf(StorageUnavailableError);
      return false;
    });

  it("all end at once, again and again: service goes on", { timeout: 120_000 }, async () => {
    await open();
    for (let cut = 0; cut < CUTS; cut += 1) {
      const end = performance.now() + DRIVER_PAUSE + 100 * Math.random();
      let isCut = false;
      const caller = async () => {
        while (!isCut) await inserted();
      };
      const callers = Array.from({ length: CALLS }, caller);
      while (performance.now() < end) await inserted();
      relay.cut();
      isCut = true;
      await Promise.all(callers);
      await expect.poll(inserted, { timeout: 8_000 }).toBe(true);
    }
  });

  it("stands still: what is written and what is read ends in time", { timeout: 60_000 }, async () => {
    await open();
    await insert();
    relay.block();
    // More than the sockets on the way take in.
    const large = threadRow({ metadata: { text: "x".repeat(15 * MEGABYTE) } });
    const calls = [storage.metadata.insertThread(large), storage.metadata.getThread(large.thread_id)];
    const ends = await Promise.allSettled(calls);
    for (const end of ends) {
      expect(end).toMatchObject({ status: "rejected", reason: { code: "storage_unavailable" } });
    }
    relay.unblock();
    await expect.poll(inserted, { timeout: 20_000 }).toBe(true);
  });
});
