/** Fails the n-th storage call for n = 1, 2, 3 ... until all calls succeed, on every backend. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { GraphServeError } from "../../src/support/errors.js";
import { newId } from "../../src/support/ids.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { onEveryBackend, openBackend } from "../helpers/backends.js";
import { FailingStorage, type Failure } from "../helpers/failing-storage.js";
import { isHeld } from "../helpers/locks.js";
import { readAll } from "../helpers/service.js";

const SAY = { assistant_id: "chat", input: { messages: ["hi"] } };
const ASK = { assistant_id: "hitl", input: { topic: "x" } };
const REPLY = { assistant_id: "hitl", command: { resume: "yes" } };
const SEED = [{ updates: [{ values: { messages: ["x"] }, as_node: "__start__" }] }];

type Step = (service: Service, threadId: string) => Promise<unknown>;

const ask: Step = async ({ runs }, id) => (await runs.create(id, ASK)).status;
const write: Step = async ({ state }, id) =>
  (await state.update(id, { values: { messages: ["x"] } })).thread_id;

interface Case {
  /** Prepares the thread; no call fails here. */
  before?: Step;
  step: Step;
  /** Result of the step if nothing fails. */
  end: unknown;
  /** Storage calls that the step must make, among others. */
  calls: string[];
}

const RUN_CALLS = ["locks.acquire", "runs.insert", "runs.update", "runs.settle"];
const GRAPH_CALLS = ["checkpointer.getTuple", "checkpointer.put", "checkpointer.putWrites"];

const CASES: Record<string, Case> = {
  "a run": {
    step: async ({ runs }, id) => (await runs.create(id, SAY)).status,
    end: "success",
    calls: [...RUN_CALLS, ...GRAPH_CALLS],
  },
  "a stream": {
    step: async ({ runs }, id) => (await readAll(await runs.stream(id, SAY))).at(-1)?.event,
    end: "end",
    calls: [...RUN_CALLS, ...GRAPH_CALLS],
  },
  "an interrupt": { step: ask, end: "interrupted", calls: [...RUN_CALLS, ...GRAPH_CALLS] },
  "an answer": {
    before: ask,
    step: async ({ runs }, id) => (await runs.create(id, REPLY)).status,
    end: "success",
    calls: [...RUN_CALLS, ...GRAPH_CALLS],
  },
  "a deletion": {
    before: async ({ runs }, id) => runs.create(id, SAY),
    step: async (service, id) => {
      const [run] = await service.runs.list(id, {});
      await service.runs.delete(id, run?.run_id ?? "");
      return "deleted";
    },
    end: "deleted",
    calls: ["runs.list", "runs.delete"],
  },
  "a creation": {
    step: async ({ threads }) => {
      const { thread_id } = await threads.create({ supersteps: SEED });
      await threads.delete(thread_id);
      return "deleted";
    },
    end: "deleted",
    calls: ["threads.insert", "threads.update", "checkpointer.put", "threads.delete"],
  },
  "a state write": {
    step: async (service, id) => (await write(service, id)) === id,
    end: true,
    calls: ["locks.acquire", "checkpointer.put", "threads.update"],
  },
  "a read": {
    before: write,
    step: async ({ threads, state }, id) => [
      (await threads.update(id, { metadata: { a: 1 } })).thread_id === id,
      (await threads.search({ ids: [id] })).total,
      await threads.count({ ids: [id], metadata: { a: 1 } }),
      (await state.history(id, {})).length,
    ],
    end: [true, 1, 1, 1],
    calls: ["threads.get", "threads.search", "threads.count", "checkpointer.list"],
  },
  "a copy": {
    before: write,
    step: async ({ threads }, id) => {
      const { thread_id } = await threads.copy(id);
      return threads.prune({ thread_ids: [id, thread_id], strategy: "keep_latest" });
    },
    end: { pruned_count: 2 },
    calls: ["checkpointer.copyLatest", "threads.insert", "checkpointer.keepLatest"],
  },
};

/** A stream and an interrupt make the storage calls of a run, so the lost response is not tested for them again. */
const TRIALS = Object.keys(CASES).flatMap((name): [string, Failure][] =>
  /stream|interrupt/.test(name)
    ? [[name, "refused"]]
    : [
        [name, "refused"],
        [name, "unanswered"],
      ],
);

/** After any failure the thread is free, its runs have ended, and the next run succeeds. */
async function expectSound(service: Service, storage: Storage, threadId: string, context: string) {
  await expect.poll(() => isHeld(storage.locks, threadId), { message: context }).toBe(false);
  expect((await service.runs.create(threadId, SAY)).status, context).toBe("success");
  const runs = await service.runs.list(threadId, { limit: 100 });
  for (const { status } of runs) expect(["success", "interrupted", "error"], context).toContain(status);
  expect((await service.threads.get(threadId)).status, context).toBe("idle");
  await expect.poll(() => isHeld(storage.locks, threadId), { message: context }).toBe(false);
}

onEveryBackend("failing storage calls", (backend) => {
  let inner: Storage;
  beforeAll(async () => {
    inner = await openBackend(backend());
  });
  afterAll(() => inner?.close());

  it.each(TRIALS)("%s survives any call that is %s", { timeout: 60_000 }, async (name, failure) => {
    const { before, step, end, calls } = CASES[name]!;
    const failing = new FailingStorage(inner, failure);
    const service = await openService({ graphs: { chat, hitl }, storage: failing.storage });
    const failures: string[] = [];
    for (let nth = 1; ; nth += 1) {
      const { thread_id } = await service.threads.create({ thread_id: newId() });
      await before?.(service, thread_id);
      failing.arm(nth);
      const ended = await step(service, thread_id).catch((error: unknown) => error);
      const failed = failing.disarm();
      if (failed === undefined) {
        expect(ended).toEqual(end);
        break;
      }
      failures.push(failed);
      const context = `call ${nth}, ${failed}: ${String(ended)}`;
      if (ended instanceof Error)
        expect((ended as GraphServeError).code, context).toBe("storage_unavailable");
      else expect([JSON.stringify(end), '"error"'], context).toContain(JSON.stringify(ended));
      await expectSound(service, failing.storage, thread_id, context);
      await service.threads.delete(thread_id);
    }
    await service.close(0);
    expect(failures).toEqual(expect.arrayContaining(calls));
  });
});
