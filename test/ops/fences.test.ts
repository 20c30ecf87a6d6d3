/** Fencing rejects late writes of a graph whose run has lost its lease, and no other writes. */
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { openService } from "../../src/service/open.js";
import { newId } from "../../src/support/ids.js";
import { Gate, gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { MEMORY, openBackend } from "../helpers/backends.js";

const ABORT_GRACE_MS = 2000;

afterEach(() => void vi.useRealTimers());

it("a run whose graph has settled is not fenced again while the storage delays its end", async () => {
  const storage = await openBackend(MEMORY);
  const { checkpointer, locks } = storage;
  const lost = new AbortController();
  const acquire = locks.acquire.bind(locks);
  vi.spyOn(locks, "acquire").mockImplementation(async (...args) => {
    const lease = await acquire(...args);
    return lease && { release: () => lease.release(), lost: lost.signal };
  });
  const service = await openService({ graphs: { gate }, storage });
  onTestFinished(() => service.close(0));
  const { thread_id } = await service.threads.create({});
  const name = newId();
  const ended = service.runs.wait(thread_id, { assistant_id: "gate", input: { gate: name } });
  await gateOf(name).entered;

  const away = new Gate("away");
  const getTuple = checkpointer.getTuple.bind(checkpointer);
  vi.spyOn(checkpointer, "getTuple").mockImplementation(async (config) => {
    await away.wait(undefined, true);
    return getTuple(config);
  });
  const fences = vi.spyOn(checkpointer, "fence");
  const unfences = vi.spyOn(checkpointer, "unfence");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  lost.abort();
  // The end of the run reads the failed checkpoint, which the storage delays.
  await away.entered;
  expect(fences).toHaveBeenCalledOnce();
  expect(unfences).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(ABORT_GRACE_MS);
  away.open();
  vi.useRealTimers();
  await ended;
  expect(fences).toHaveBeenCalledOnce();
});
