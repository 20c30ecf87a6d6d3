/**
 * The n-th read of a request throws, for n = 1, 2, 3 ... until none throws: any code that reads it between
 * acquiring the thread's lease and starting the run or edit must free the thread.
 */
import { expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { openStorage } from "../../src/storage/open.js";
import { newId } from "../../src/support/ids.js";
import type { Service } from "../../src/service/service.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { onEveryBackend, openBackend } from "../helpers/backends.js";
import { isHeld } from "../helpers/locks.js";
import { withPostgres } from "../helpers/postgres.js";
import { openTestService, readAll } from "../helpers/service.js";
import { throwingAt } from "../helpers/throwing-reads.js";

const CONFIGURABLE: { tone: object; api_key?: string } = { tone: { kind: "warm" }, api_key: "k" };
const SAY = {
  assistant_id: "chat",
  input: { messages: ["hi"] },
  config: { configurable: CONFIGURABLE, tags: ["a"], metadata: { a: { b: 1 } } },
  context: { user: "u" },
  metadata: { b: [1, { c: 2 }] },
};
const ASK = { assistant_id: "hitl", input: { topic: "x" } };
const EDIT = { values: { messages: ["x"] }, as_node: "model" };

type Body = Record<string, unknown>;
type Step = (service: Service, threadId: string, request: never) => Promise<unknown>;

interface Case {
  before?: (service: Service, threadId: string) => Promise<unknown>;
  request: Body;
  step: Step;
}

const CASES: Record<string, Case> = {
  "a run that a client waits for": {
    request: SAY,
    step: async ({ runs }, id, request) => (await runs.wait(id, request)).answer,
  },
  "a stream": {
    request: { ...SAY, stream_mode: ["values", "messages"], stream_subgraphs: true },
    step: async ({ runs }, id, request) => readAll(await runs.stream(id, request)),
  },
  "a run in the background": {
    request: { ...SAY, multitask_strategy: "enqueue" },
    step: async ({ runs }, id, request) => {
      const run = await runs.background(id, request);
      return (await runs.join(id, run.run_id)).answer;
    },
  },
  "the answer to an interrupt": {
    before: ({ runs }, id) => runs.create(id, ASK),
    request: {
      assistant_id: "hitl",
      command: { resume: { a: ["yes"] }, update: { topic: "y" } },
      strict_resume: true,
    },
    step: async ({ runs }, id, request) => (await runs.wait(id, request)).answer,
  },
  "an edit of the state": {
    before: ({ runs }, id) => runs.create(id, { assistant_id: "chat", input: { messages: ["hi"] } }),
    request: EDIT,
    step: async ({ state }, id, request) => state.update(id, request),
  },
};

/** @param open opens the storage that the service uses */
function throwingReads(open: () => Promise<Storage>, settings: Partial<Settings> = {}): void {
  it.each(Object.keys(CASES))("leaves the thread free: %s", { timeout: 60_000 }, async (name) => {
    const { before, request, step } = CASES[name]!;
    const storage = await open();
    const service = await openTestService({ graphs: { chat, hitl }, storage, settings });
    const { thread_id } = await service.threads.create({ thread_id: newId() });
    await before?.(service, thread_id);
    let thrown = 0;
    for (let nth = 1; ; nth += 1) {
      const own = structuredClone(request);
      // A queue rejects secrets in a request.
      if (settings.queue) delete (own as Partial<typeof SAY>).config?.configurable.api_key;
      const reads = throwingAt(nth, own);
      const outcome = await step(service, thread_id, reads.value as never).catch((error: unknown) => error);
      if (!reads.hasThrown()) {
        expect(outcome, `without a throwing read: ${String(outcome)}`).not.toBeInstanceOf(Error);
        break;
      }
      thrown += 1;
      const context = `read ${nth}, ${reads.path()}: ${String(outcome)}`;
      await expect.poll(() => isHeld(storage.locks, thread_id), { message: context }).toBe(false);
      expect((await service.threads.get(thread_id)).status, context).not.toBe("busy");
    }
    expect(thrown).toBeGreaterThan(3);
    const { status } = await service.runs.create(thread_id, {
      assistant_id: "chat",
      input: { messages: ["bye"] },
    });
    expect(status).toBe("success");
  });
}

onEveryBackend("a request that throws when it is read", (backend) =>
  throwingReads(() => openBackend(backend())),
);
withPostgres("a request that throws when it is read, with a queue", (postgres) =>
  throwingReads(() => openStorage(postgres.options()), {
    checkpointer_scheme: "postgres",
    queue: "postgres",
  }),
);
