import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import { expect, it } from "vitest";
import { nextTurn } from "../../src/support/event-loop.js";
import { newId } from "../../src/support/ids.js";
import { RunCheckpointer } from "../../src/context/run-checkpointer.js";
import { openStorage } from "../../src/storage/open.js";
import type { ThreadLease } from "../../src/storage/contract/locks.js";
import { deferred } from "../helpers/deferred.js";

const METADATA = { source: "loop" as const, step: 0, parents: {} };

async function open() {
  const { checkpointer: inner } = await openStorage({
    checkpointer_scheme: "memory",
    checkpointer_options: {},
    max_queued_runs: 1,
  });
  const [thread_id, run_id] = [newId(), newId()];
  const config = { configurable: { thread_id, run_id, checkpoint_ns: "" } };
  const checkpointer = new RunCheckpointer(inner);
  const failures: unknown[] = [];
  return {
    inner,
    failures,
    run_id,
    watch: (lease: Partial<ThreadLease> = {}, before?: () => Promise<void>) =>
      checkpointer.watch(run_id, {
        before,
        lease: { release: () => undefined, ...lease },
        origin: { graphs: ["agent"], scope: null },
        onFailure: (error) => failures.push(error),
      }),
    drained: () => checkpointer.drained(run_id),
    unwatch: () => checkpointer.unwatch(run_id),
    write: () => checkpointer.put(config, emptyCheckpoint(), METADATA, {}),
    writePending: () => checkpointer.putWrites(config, [["a", 1]], newId()),
    isStored: async () => (await inner.getTuple({ configurable: { thread_id } })) !== undefined,
  };
}

it("a run can write until it has ended", async () => {
  const run = await open();
  run.watch();
  await run.write();
  expect(await run.isStored()).toBe(true);
});

it("a write waits until its preceding frames are stored", async () => {
  const run = await open();
  const stored = deferred();
  const asked = deferred();
  run.watch({}, () => {
    asked.resolve();
    return stored.promise;
  });
  const written = run.write();
  await asked.promise;
  await nextTurn();
  expect(await run.isStored()).toBe(false);
  stored.resolve();
  await written;
  expect(await run.isStored()).toBe(true);
});

it("writes after the end of a run are dropped", async () => {
  const run = await open();
  run.watch();
  run.unwatch();
  const { configurable } = await run.write();
  await run.writePending();
  expect(configurable).toHaveProperty("checkpoint_id");
  expect(await run.isStored()).toBe(false);
  expect(run.failures).toEqual([]);
});

it("a write that is pending at the end of a run is dropped", async () => {
  const run = await open();
  const confirmed = deferred();
  run.watch({ confirm: () => confirmed.promise });
  const written = run.write();
  run.unwatch();
  confirmed.resolve();
  await written;
  expect(await run.isStored()).toBe(false);
});

it("a run is drained once its consecutive writes have completed", async () => {
  const run = await open();
  const [first, second] = [deferred(), deferred()];
  const confirms = [first.promise, second.promise];
  run.watch({ confirm: () => confirms.shift() });
  let drained = false;
  const written = run.write().then(() => run.write());
  const end = run.drained().then(() => (drained = true));
  first.resolve();
  await expect.poll(() => confirms.length).toBe(0);
  expect(drained).toBe(false);
  second.resolve();
  await end;
  await written;
  expect(await run.isStored()).toBe(true);
});

it("a write that detects a lost lease is rejected", async () => {
  const run = await open();
  // A run fences its writes when its lease is lost.
  run.watch({ confirm: async () => run.inner.fence(run.run_id) });
  await run.write();
  await run.writePending();
  expect(await run.isStored()).toBe(false);
  expect(run.failures).toMatchObject([{ code: "run_failed" }, { code: "run_failed" }]);
});
