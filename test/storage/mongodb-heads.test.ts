/** Checkpoints that reach MongoDB after their process has lost the thread. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { openStorage } from "../../src/storage/open.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { newId } from "../../src/support/ids.js";
import { MongodbDouble } from "../doubles/mongodb-double.js";
import { idAt, idsOf, nextId, putKnowing } from "./contract/heads.js";

let double: MongodbDouble;
let slow: Storage;
let next: Storage;

beforeAll(async () => {
  double = await MongodbDouble.start();
});
beforeEach(async () => {
  const options = { checkpointer_scheme: "mongodb", checkpointer_options: {}, max_queued_runs: 2 };
  const open = () => openStorage({ ...options, checkpointer_uri: `${double.uri}/heads` });
  [slow, next] = [await open(), await open()];
});
afterEach(async () => {
  double.fateOf = () => "run";
  double.release();
  await Promise.all([slow.close(), next.close()]);
});
afterAll(() => double.stop());

/** A thread with one checkpoint, and a second one that is delayed on its way to the server. */
async function lateWrite(id: string) {
  const config = { configurable: { thread_id: newId(), checkpoint_ns: "" } };
  const first = idAt(0);
  await putKnowing(slow, config, first, "");
  double.fateOf = (name, command) => (name === "update" && command.update === "checkpoints" ? "hold" : "run");
  const written = putKnowing(slow, config, id, first);
  await vi.waitFor(() => expect(double.held).toBe(1));
  double.fateOf = () => "run";
  const arrive = async () => {
    double.release();
    await written;
  };
  return { config, first, arrive };
}

it("a late checkpoint does not hide those stored before it arrived", async () => {
  const late = nextId();
  const { config, first, arrive } = await lateWrite(late);
  const acknowledged = nextId();
  await putKnowing(next, config, acknowledged, first);
  await arrive();
  expect(await idsOf(next, config)).toEqual([acknowledged, late, first]);
});

it("lower checkpoint ids are rejected while a checkpoint from a clock ahead is in flight", async () => {
  const before = nextId();
  const late = nextId();
  const { config, first, arrive } = await lateWrite(late);
  await expect(putKnowing(next, config, before, first)).rejects.toMatchObject({ code: "clock_behind" });
  await arrive();
  await expect(putKnowing(next, config, nextId(), first)).rejects.toMatchObject({ code: "thread_changed" });
  expect(await idsOf(next, config)).toEqual([late, first]);
});
