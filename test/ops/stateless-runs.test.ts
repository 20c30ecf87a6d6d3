/** The thread of a stateless run is deleted before any client sees the end of the run. */
import { describe, expect, it, onTestFinished } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { RunCreateRequest } from "../../src/models/run.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { openStorage } from "../../src/storage/open.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { onEveryBackend, openBackend } from "../helpers/backends.js";
import { deferred } from "../helpers/deferred.js";
import { recordingLogger } from "../helpers/service.js";

const graphs = { steps, fail, hitl, gate };
const REQUESTS: Record<"success" | "error" | "interrupted", RunCreateRequest> = {
  success: { assistant_id: "steps", input: { n: 0 } },
  error: { assistant_id: "fail", input: { x: 0 } },
  interrupted: { assistant_id: "hitl", input: { topic: "cats" } },
};

async function openOn(storage: Storage, logger = recordingLogger()): Promise<Service> {
  const service = await openService({ graphs, storage, logger });
  onTestFinished(() => service.close(0));
  return service;
}

/** How each kind of request observes the end of the run. */
const WAYS: Record<string, (service: Service, request: RunCreateRequest) => Promise<unknown>> = {
  wait: async (service, request) => (await service.runs.waitStateless(request)).answer,
  stream: async (service, request) => {
    for await (const batch of (await service.runs.streamStateless(request)).frames)
      for (const { event, data } of batch) if (event === "end" || event === "error") return data;
    return undefined;
  },
  background: async (service, request) => {
    const { run_id } = await service.runs.createStateless(request);
    for await (const batch of (await service.runs.joinStatelessStream(run_id)).frames)
      for (const { event, data } of batch) if (event === "end" || event === "error") return data;
    return undefined;
  },
};

onEveryBackend("a stateless run", (backend) => {
  it.each(Object.entries(WAYS))("leaves no thread after its end when requested by %s", async (_way, ask) => {
    const storage = await openBackend(backend());
    const service = await openOn(storage);
    for (const request of Object.values(REQUESTS)) {
      const before = await service.threads.count({});
      expect(await ask(service, request)).toBeDefined();
      expect(await service.threads.count({})).toBe(before);
    }
  });
});

onEveryBackend("a batch with a run that is refused", (backend) => {
  const openWith = async (settings: Partial<Settings>) => {
    const service = await openService({ graphs, settings, storage: await openBackend(backend()) });
    onTestFinished(() => service.close(0));
    return service;
  };
  const waiting = () => ({ assistant_id: "gate", input: { gate: newId() } });

  it("starts no run if the limit does not allow all", async () => {
    const service = await openWith({ max_active_runs: 2 });
    const batch = [waiting(), waiting(), waiting()];
    await expect(service.runs.createBatch(batch)).rejects.toMatchObject({ code: "too_many_runs" });
    expect(batch.map(({ input }) => gateOf(input.gate).entries)).toEqual([0, 0, 0]);
    expect(await service.threads.count({})).toBe(0);
  });

  it("withdraws the runs that were accepted before, except those that a key finds again", async () => {
    if (backend().name === "a custom storage") return;
    const service = await openWith({ delayed_runs: true });
    const keyed = { ...waiting(), idempotency_key: newId(), on_completion: "keep" as const };
    const batch = [waiting(), keyed, { ...waiting(), on_completion: "keep" as const }];
    const tooLate = { ...waiting(), after_seconds: 1e9 };
    await expect(service.runs.createBatch([...batch, tooLate])).rejects.toThrow("after_seconds");
    const [first] = await service.runs.createBatch([keyed]);
    const { items } = await service.threads.search({ select: ["thread_id"] });
    expect(items).toEqual([{ thread_id: first?.thread_id }]);
    expect((await service.runs.search({})).items).toMatchObject([{ run_id: first?.run_id }]);
  });
});

describe("the end of a stateless run", () => {
  /** A service whose storage waits for `allowed` before it deletes a thread. */
  async function openGated() {
    const storage = await openStorage({
      checkpointer_scheme: "memory",
      checkpointer_options: {},
      max_queued_runs: 1,
    });
    const [asked, allowed] = [deferred(), deferred<Error | undefined>()];
    const deleteThread = storage.threads.delete.bind(storage.threads);
    storage.threads.delete = async (threadId) => {
      asked.resolve();
      const error = await allowed.promise;
      if (error) throw error;
      return deleteThread(threadId);
    };
    const logger = recordingLogger();
    return { service: await openOn(storage, logger), asked, allowed, logger };
  }

  it.each(Object.entries(WAYS))("is not reported by %s before its thread is deleted", async (_way, ask) => {
    const { service, asked, allowed } = await openGated();
    let isTold = false;
    const told = ask(service, REQUESTS.success).then(() => (isTold = true));
    await asked.promise;
    await new Promise((resolve) => setImmediate(resolve));
    expect(isTold).toBe(false);
    allowed.resolve(undefined);
    await told;
    expect(await service.threads.count({})).toBe(0);
  });

  it("is reported with a warning in the log when the thread cannot be deleted", async () => {
    const { service, allowed, logger } = await openGated();
    allowed.resolve(new Error("no"));
    expect(await WAYS.wait?.(service, REQUESTS.success)).toMatchObject({ n: 10 });
    expect(logger.of("warn")).toEqual(["a temporary thread could not be removed yet"]);
    const [left] = (await service.threads.search({})).items;
    expect(left?.ttl).toMatchObject({ strategy: "delete", ttl_minutes: 60 });
  });

  it("keeps the thread with on_completion keep, and deletes it after a client disconnects", async () => {
    const { service, allowed } = await openGated();
    allowed.resolve(undefined);
    const kept = await service.runs.waitStateless({ ...REQUESTS.success, on_completion: "keep" });
    await kept.answer;
    expect(await service.threads.count({})).toBe(1);
    const stream = await service.runs.streamStateless({ assistant_id: "gate", input: { gate: "stateless" } });
    await gateOf("stateless").entered;
    stream.disconnect();
    await expect.poll(() => service.threads.count({})).toBe(1);
  });
});
