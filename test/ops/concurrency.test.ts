import { describe, expect, it, onTestFinished, vi } from "vitest";
import { itSqlite } from "../helpers/with-sqlite.js";
import type { Run } from "../../src/models/run.js";
import { openStorage } from "../../src/storage/open.js";
import type { RunQueue } from "../../src/storage/contract/queue.js";
import type { ThreadLocks } from "../../src/storage/contract/locks.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { GraphServeError } from "../../src/support/errors.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { keptStorage, MEMORY, onEveryBackend, openBackend } from "../helpers/backends.js";
import { deferred } from "../helpers/deferred.js";
import { withPostgres } from "../helpers/postgres.js";
import { replacing } from "../helpers/refusing.js";
import { openTestService, readAll, recordingLogger } from "../helpers/service.js";
import { tempFolder } from "../storage/temp-folder.js";

async function busyThread(options: { deaf?: boolean; settings?: object } = {}) {
  const service = await openTestService({ graphs: { gate, chat }, settings: options.settings });
  const { thread_id } = await service.threads.create({});
  const name = newId();
  const input = { gate: name, deaf: options.deaf ?? false };
  const stream = await service.runs.stream(thread_id, {
    assistant_id: "gate",
    input,
    stream_mode: "updates",
  });
  await gateOf(name).entered;
  return { service, thread_id, stream, gate: gateOf(name) };
}

const inFolder = tempFolder();
const say = (text: string) => ({ assistant_id: "chat", input: { messages: [text] } });
const codeOf = (error: unknown) => (error instanceof GraphServeError ? error.code : error);

/** Intercepts the timer that logs a long wait; `fire` waits for it and calls it immediately. */
function reportTimer() {
  const timers = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => timers.mockRestore());
  const isReport = ([call, ms]: unknown[]) => ms === 10_000 && /^report/.test((call as () => void).name);
  const fire = async () => {
    await expect.poll(() => timers.mock.calls.some(isReport)).toBe(true);
    const [call, , ...args] = timers.mock.calls.find(isReport)! as unknown as [
      (...args: unknown[]) => void,
      number,
      ...unknown[],
    ];
    timers.mockRestore();
    call(...args);
  };
  return { fire };
}

describe("a busy thread", () => {
  it("has the status busy while its run is in flight", async () => {
    const { service, thread_id, stream, gate } = await busyThread();
    expect((await service.threads.get(thread_id)).status).toBe("busy");
    expect((await service.runs.get(thread_id, stream.run.run_id)).status).toBe("running");
    gate.open();
    expect((await readAll(stream)).at(-1)).toMatchObject({ event: "end", data: { status: "success" } });
    expect((await service.threads.get(thread_id)).status).toBe("idle");
  });

  it("is logged when a request has waited 10 s for it, with the id of the blocking run", async () => {
    const logger = recordingLogger();
    const service = await openTestService({ graphs: { gate, chat }, logger });
    const { thread_id } = await service.threads.create({});
    const name = newId();
    const begin = { assistant_id: "gate", input: { gate: name } };
    const { run } = await service.runs.stream(thread_id, begin);
    await gateOf(name).entered;
    const { fire } = reportTimer();
    const waiting = service.runs.wait(thread_id, say("hi"));
    await fire();
    await expect
      .poll(() => logger.lines)
      .toContainEqual({
        level: "info",
        message: "a run waits for its thread, which has a run in flight",
        fields: { thread_id, run_id: run.run_id, seconds: 10 },
      });
    gateOf(name).open();
    await waiting;
  });

  it.each(["reject", "rollback", "interrupt"] as const)(
    "rejects a run with the strategy %s as thread_busy and stores no row",
    async (multitask_strategy) => {
      const { service, thread_id, gate } = await busyThread();
      const request = { ...say("x"), multitask_strategy };
      await expect(service.runs.create(thread_id, request)).rejects.toMatchObject({ code: "thread_busy" });
      await expect(service.runs.stream(thread_id, request)).rejects.toMatchObject({ code: "thread_busy" });
      expect(await service.runs.list(thread_id, {})).toHaveLength(1);
      gate.open();
    },
  );

  it("is the same thread when addressed by an upper-case id", async () => {
    const { service, thread_id, gate } = await busyThread();
    const request = { ...say("x"), multitask_strategy: "reject" as const };
    await expect(service.runs.create(thread_id.toUpperCase(), request)).rejects.toMatchObject({
      code: "thread_busy",
    });
    gate.open();
  });

  it("executes enqueued runs in order", async () => {
    const { service, thread_id, gate } = await busyThread();
    const waiting = ["one", "two", "three"].map((text) => service.runs.create(thread_id, say(text)));
    expect(await service.runs.list(thread_id, {})).toHaveLength(1);
    gate.open();
    const runs = await Promise.all(waiting);
    expect(runs.map(({ status }) => status)).toEqual(["success", "success", "success"]);
    const { messages } = (await service.threads.get(thread_id)).values as {
      messages: { type: string; content: string }[];
    };
    expect(messages.filter(({ type }) => type === "human").map(({ content }) => content)).toEqual([
      "one",
      "two",
      "three",
    ]);
  });

  it("is reverted by a rollback before the run behind it starts", async () => {
    const service = await openTestService({ graphs: { gate } });
    const { thread_id } = await service.threads.create({});
    const [name, next] = [newId(), newId()];
    const run = await service.runs.background(thread_id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    const behind = await service.runs.background(thread_id, { assistant_id: "gate", input: { gate: next } });
    gateOf(next).open();
    await service.runs.cancel(thread_id, run.run_id, { action: "rollback" });
    const { answer } = await service.runs.join(thread_id, behind.run_id);
    expect(await answer).toMatchObject({ log: [`before ${next}`, `waited ${next}`, `after ${next}`] });
    expect(await service.runs.list(thread_id, {})).toMatchObject([{ run_id: behind.run_id }]);
    expect((await service.threads.get(thread_id)).status).toBe("idle");
  });

  it("keeps a run whose rollback comes after the run behind it has started", async () => {
    const storage = await openBackend(MEMORY);
    const [finishing, request] = [deferred(), deferred()];
    const [name, next] = [newId(), newId()];
    let isRequested = false;
    const locks = replacing(storage.locks, {
      acquire: async (id, options) => {
        const lease = await storage.locks.acquire(id, options);
        const release = async () => {
          await lease?.release();
          await finishing.promise;
        };
        return lease && { ...lease, release };
      },
    });
    const runs = replacing(storage.runs, {
      get: async (...key) => {
        const row = await storage.runs.get(...key);
        if (!isRequested) return row;
        isRequested = false;
        gateOf(name).open();
        await gateOf(next).entered;
        request.resolve();
        return row;
      },
    });
    const service = await openTestService({ graphs: { gate }, storage: { ...storage, locks, runs } });
    const { thread_id } = await service.threads.create({});
    const start = (gate: string) =>
      service.runs.background(thread_id, { assistant_id: "gate", input: { gate } });
    const run = await start(name);
    await gateOf(name).entered;
    const behind = await start(next);
    isRequested = true;
    const cancelled = service.runs.cancel(thread_id, run.run_id, { action: "rollback" });
    await request.promise;
    setImmediate(() => finishing.resolve());
    gateOf(next).open();
    await cancelled;
    const { answer } = await service.runs.join(thread_id, behind.run_id);
    const log = [name, next].flatMap((gate) => [`before ${gate}`, `waited ${gate}`, `after ${gate}`]);
    expect(await answer).toMatchObject({ log });
    expect(await service.runs.list(thread_id, {})).toMatchObject([
      { run_id: behind.run_id, status: "success" },
      { run_id: run.run_id, status: "success" },
    ]);
  });

  it("drops a waiting caller that disconnects", async () => {
    const { service, thread_id, gate } = await busyThread();
    const caller = new AbortController();
    const waiting = service.runs.create(thread_id, say("x"), { signal: caller.signal });
    caller.abort(new Error("gone"));
    await expect(waiting).rejects.toThrow("gone");
    gate.open();
    await service.runs.create(thread_id, say("y"));
    expect(await service.runs.list(thread_id, {})).toHaveLength(2);
  });

  it("rejects a state update as thread_busy", async () => {
    const { service, thread_id, gate } = await busyThread();
    await expect(service.state.update(thread_id, { values: { log: ["x"] } })).rejects.toMatchObject({
      code: "thread_busy",
    });
    gate.open();
  });

  it("limits waiting callers to max_queued_runs", async () => {
    const { service, thread_id, gate } = await busyThread({ settings: { max_queued_runs: 2 } });
    const calls = [1, 2, 3].map(() =>
      service.runs.create(thread_id, say("x")).then(({ status }) => status, codeOf),
    );
    expect(await calls[2]).toBe("thread_busy");
    gate.open();
    expect(await Promise.all(calls)).toEqual(["success", "success", "thread_busy"]);
  });
});

withPostgres("a thread that is busy in another process", (postgres) => {
  it.each(["none", "postgres"] as const)(
    "is logged with the id of the blocking run when a request has waited 10 s for it, with queue %s",
    async (queue) => {
      const { max_queued_runs: _, ...storage } = postgres.options();
      const settings = { ...storage, queue };
      const logger = recordingLogger();
      const owner = await openTestService({ graphs: { gate, chat }, settings });
      const service = await openTestService({ graphs: { gate, chat }, settings, logger });
      const { thread_id } = await owner.threads.create({});
      const name = newId();
      const { run_id } = await owner.runs.background(thread_id, {
        assistant_id: "gate",
        input: { gate: name },
      });
      await gateOf(name).entered;
      const { fire } = reportTimer();
      const waiting = service.runs.wait(thread_id, say("hi"));
      await fire();
      await expect
        .poll(() => logger.lines)
        .toContainEqual({
          level: "info",
          message: "a run waits for its thread, which has a run in flight",
          fields: expect.objectContaining({ thread_id, run_id, seconds: 10 }) as object,
        });
      gateOf(name).open();
      expect((await waiting).run.thread_id).toBe(thread_id);
    },
  );

  it("is not the cause if a queued run waits for capacity: the log says so", async () => {
    const { max_queued_runs: _, ...storage } = postgres.options();
    const settings = { ...storage, queue: "postgres" as const, max_concurrent_runs: 1 };
    const logger = recordingLogger();
    const service = await openTestService({ graphs: { gate, chat }, settings, logger });
    const name = newId();
    const { thread_id: busy } = await service.threads.create({});
    await service.runs.background(busy, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    const { thread_id } = await service.threads.create({});
    const { fire } = reportTimer();
    const waiting = service.runs.wait(thread_id, say("hi"));
    await fire();
    await expect
      .poll(() => logger.of("info"))
      .toContain("a queued run waits for a process with free capacity");
    gateOf(name).open();
    await waiting;
  });
});

describe("a full thread queue", () => {
  it("rejects background runs immediately and stores no row", async () => {
    const { service, thread_id, gate } = await busyThread({ settings: { max_queued_runs: 1 } });
    const waiting = await service.runs.background(thread_id, say("x"));
    await expect(service.runs.background(thread_id, say("y"))).rejects.toMatchObject({ code: "thread_busy" });
    expect((await service.runs.list(thread_id, {})).map(({ status }) => status)).toEqual([
      "pending",
      "running",
    ]);
    gate.open();
    const { answer } = await service.runs.join(thread_id, waiting.run_id);
    expect(await answer).not.toHaveProperty("__error__");
  });
});

describe("a client disconnect", () => {
  it("interrupts the run and frees the thread", async () => {
    const { service, thread_id, stream, gate } = await busyThread();
    stream.disconnect();
    await gate.aborted;
    const next = await service.runs.create(thread_id, say("next"));
    expect(next.status).toBe("success");
    const cut = await service.runs.get(thread_id, stream.run.run_id);
    expect(cut).toMatchObject({ status: "interrupted", error: null });
    expect(gate.passes).toBe(0);
  });

  it("leaves the thread idle and resumable", async () => {
    const { service, thread_id, stream, gate } = await busyThread();
    stream.disconnect();
    await readAll(stream);
    await gate.aborted;
    gate.open();
    const resumed = await service.runs.create(thread_id, { assistant_id: "gate", input: null });
    expect(resumed.status).toBe("success");
    expect(gate.passes).toBe(1);
  });

  it("frees the thread when a node ignores the abort signal", { timeout: 15_000 }, async () => {
    const { service, thread_id, stream, gate } = await busyThread({ deaf: true });
    stream.disconnect();
    expect(await service.runs.create(thread_id, say("next"))).toMatchObject({ status: "success" });
    const before = await service.state.history(thread_id, { limit: 100 });
    gate.open();
    expect(await service.runs.create(thread_id, say("last"))).toMatchObject({ status: "success" });
    expect(gate.passes).toBe(0);
    const { log } = (await service.threads.get(thread_id)).values as { log?: string[] };
    expect(log ?? []).not.toContain(`waited ${"x"}`);
    expect(before.length).toBeGreaterThan(0);
  });

  it("interrupts the run of a blocking caller", async () => {
    const service = await openTestService({ graphs: { gate } });
    const { thread_id } = await service.threads.create({});
    const caller = new AbortController();
    const name = newId();
    const run = service.runs.create(
      thread_id,
      { assistant_id: "gate", input: { gate: name } },
      { signal: caller.signal },
    );
    await gateOf(name).entered;
    caller.abort();
    expect(await run).toMatchObject({ status: "interrupted" });
    expect((await service.threads.get(thread_id)).status).toBe("idle");
  });
});

describe("concurrent callers", () => {
  it("fifty concurrent streams on one thread all receive their end event", async () => {
    const service = await openTestService({ graphs: { chat } });
    const { thread_id } = await service.threads.create({});
    const streams = await Promise.all(
      Array.from({ length: 50 }, async (_, index) =>
        readAll(await service.runs.stream(thread_id, say(`m${index}`))),
      ),
    );
    expect(streams.every((events) => events.at(-1)?.event === "end")).toBe(true);
    const { messages } = (await service.threads.get(thread_id)).values as {
      messages: { type: string; content: string }[];
    };
    expect(messages).toHaveLength(100);
    expect(messages.map(({ type }) => type)).toEqual(
      Array.from({ length: 50 }, () => ["human", "ai"]).flat(),
    );
    const runs = await service.runs.list(thread_id, { limit: 100 });
    expect(runs.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => "success"));
  });

  it("runs on different threads execute in parallel", async () => {
    const service = await openTestService({ graphs: { gate } });
    const name = newId();
    const runs = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const { thread_id } = await service.threads.create({});
        return service.runs.stream(thread_id, {
          assistant_id: "gate",
          input: { gate: name },
          stream_mode: "updates",
        });
      }),
    );
    await gateOf(name).entered;
    gateOf(name).open();
    await Promise.all(runs.map(readAll));
    expect(gateOf(name).passes).toBe(8);
  });
});

describe("deleting a thread", () => {
  it("ends the run in flight and removes all data", async () => {
    const { service, thread_id, stream, gate } = await busyThread();
    await service.threads.delete(thread_id);
    await gate.aborted;
    expect((await readAll(stream)).at(-1)).toMatchObject({ event: "end", data: { status: "interrupted" } });
    await expect(service.threads.get(thread_id)).rejects.toMatchObject({ code: "thread_not_found" });
    await expect(service.threads.delete(thread_id)).rejects.toMatchObject({ code: "thread_not_found" });
    await service.threads.create({ thread_id });
    expect(await service.state.history(thread_id, {})).toEqual([]);
    expect(await service.runs.list(thread_id, {})).toEqual([]);
  });

  it("takes precedence over waiting callers", async () => {
    const { service, thread_id } = await busyThread();
    const waiting = service.runs.create(thread_id, say("x"));
    const outcome = waiting.then(({ status }) => status, codeOf);
    await service.threads.delete(thread_id);
    expect(await outcome).toBe("thread_not_found");
  });
});

describe("a closing service", () => {
  it("sends clients joined to a queued run the error stored in its row", async () => {
    const { service, thread_id } = await busyThread();
    const queued = await service.runs.background(thread_id, say("x"));
    const { answer } = await service.runs.join(thread_id, queued.run_id);
    const frames = readAll(await service.runs.joinStream(thread_id, queued.run_id));
    const closing = service.close(0);
    const { data } = (await frames).at(-1) as { data: { message: string } };
    expect(data.message).toContain("shut down before");
    expect(await answer).toMatchObject({ __error__: { message: data.message } });
    await closing;
  });

  it("rejects waiting callers and new requests", async () => {
    const { service, thread_id, stream, gate } = await busyThread();
    const waiting = service.runs.create(thread_id, say("x")).then(({ status }) => status, codeOf);
    const closed = service.close(30);
    expect(await waiting).toBe("shutting_down");
    await expect(service.runs.create(thread_id, say("y"))).rejects.toMatchObject({ code: "shutting_down" });
    gate.open();
    expect((await readAll(stream)).at(-1)).toMatchObject({ data: { status: "success" } });
    await closed;
  });

  it("rejects a deletion that waits for the thread", async () => {
    const storage = await openBackend(MEMORY);
    const waits = deferred<void>();
    const locks = replacing(storage.locks, {
      acquire: (id, options) => {
        if (options.wait) waits.resolve();
        return storage.locks.acquire(id, options);
      },
    });
    const service = await openTestService({ graphs: { chat }, storage: { ...storage, locks } });
    const { thread_id } = await service.threads.create({});
    const lease = await storage.locks.acquire(thread_id, { wait: false });
    const deleting = service.threads.delete(thread_id).catch(codeOf);
    await waits.promise;
    const closed = service.close(30);
    expect(await deleting).toBe("shutting_down");
    await lease?.release();
    await closed;
  });

  it("stops runs after the grace period with a shutdown error", async () => {
    const { service, stream, gate } = await busyThread();
    await service.close(0);
    await gate.aborted;
    expect((await readAll(stream)).at(-1)).toMatchObject({
      event: "error",
      data: { status: "error", message: "the server was shut down during the run" },
    });
  });

  itSqlite("stores a shutdown error on stopped runs and on runs that never began", async () => {
    const checkpointer_uri = inFolder("threads.db");
    const settings = { checkpointer_scheme: "sqlite", checkpointer_uri, resume_runs: false };
    const { service, thread_id, gate } = await busyThread({ settings });
    const accepted = [
      await service.runs.background(thread_id, say("x")),
      await service.runs.background(thread_id, say("y")),
    ];
    await service.close(0);
    await gate.aborted;
    const next = await openTestService({ graphs: { chat }, settings });
    const runs = await next.runs.list(thread_id, {});
    expect(runs.map(({ status, error }) => [status, error])).toEqual([
      ["error", "the server was shut down before the run began"],
      ["error", "the server was shut down before the run began"],
      ["error", "the server was shut down during the run"],
    ]);
    expect(runs.slice(0, 2).map(({ run_id }) => run_id)).toEqual(
      accepted.map(({ run_id }) => run_id).reverse(),
    );
    expect(await next.threads.get(thread_id)).toMatchObject({ status: "idle", error: null });
  });
});

onEveryBackend("a thread that another process has locked", (backend) => {
  const strategies = ["interrupt", "rollback"] as const;
  it.each(strategies)("is taken over by %s from a run that is stored only afterwards", async (strategy) => {
    if (!["postgres", "mongodb"].includes(backend().name)) return;
    const [storage, ofOther] = [await keptStorage(backend()), await keptStorage(backend())];
    const { runs } = storage;
    const [storing, name] = [newId(), newId()];
    const insert: typeof runs.insert = async (...row) => {
      await gateOf(storing).wait(undefined, false);
      return runs.insert(...row);
    };
    const late = replacing(runs, { insert });
    const settings = { multitask_cancel: true };
    const graphs = { gate, chat };
    const one = await openTestService({ graphs, settings, storage: { ...storage, runs: late } });
    const two = await openTestService({ graphs, settings, storage: ofOther });
    const { thread_id } = await one.threads.create({});
    const run = one.runs.background(thread_id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(storing).entered;
    const taking = two.runs.wait(thread_id, { ...say("hi"), multitask_strategy: strategy });
    await expect.poll(() => ofOther.locks.waiting(thread_id)).toBe(1);
    gateOf(storing).open();
    await (
      await taking
    ).answer;
    const { run_id } = await run;
    const ended = (await two.runs.list(thread_id, {})).map((row) => [row.run_id === run_id, row.status]);
    const stopped = strategy === "interrupt" ? [[true, "interrupted"]] : [];
    expect(ended).toEqual([[false, "success"], ...stopped]);
  });
});

withPostgres("with a queue, a run that another process accepts while a thread is taken over", (postgres) => {
  it.each(["interrupt", "rollback"] as const)("is stopped by %s", async (multitask_strategy) => {
    const settings = { ...postgres.options(), queue: "postgres", multitask_cancel: true } as const;
    const storages = [0, 1].map(() => openStorage({ ...postgres.options(), max_queued_runs: 10 }));
    const [storage, ofOther] = (await Promise.all(storages)) as [Storage, Storage];
    onTestFinished(() => Promise.all([storage.close(), ofOther.close()]).then(() => undefined));
    const close = async () => undefined;
    const graphs = { gate, chat };
    const other = await openTestService({ graphs, settings, storage: { ...ofOther, close } });
    const { thread_id } = await other.threads.create({});
    const name = newId();
    let late: Promise<Run> | undefined;
    // The thread is locked once its runs were stopped.
    const acquire: ThreadLocks["acquire"] = async (threadId, options) => {
      late ??= other.runs.background(thread_id, { assistant_id: "gate", input: { gate: name } });
      await late;
      await gateOf(name).entered;
      return storage.locks.acquire(threadId, options);
    };
    const locks = replacing(storage.locks, { acquire });
    const one = await openTestService({ graphs, settings, storage: { ...storage, locks, close } });
    const run = await one.runs.background(thread_id, { ...say("hi"), multitask_strategy });
    await (
      await one.runs.join(thread_id, run.run_id)
    ).answer;
    const { run_id } = (await late)!;
    const ended = (await one.runs.list(thread_id, {})).map((row) => [row.run_id === run_id, row.status]);
    const stopped = multitask_strategy === "interrupt" ? [[true, "interrupted"]] : [];
    expect(ended).toEqual([[false, "success"], ...stopped]);
  });

  it("of two takeovers in one millisecond, the later one remains", async () => {
    const settings = { ...postgres.options(), queue: "postgres", multitask_cancel: true } as const;
    const storage = await openStorage({ ...postgres.options(), max_queued_runs: 10 });
    onTestFinished(() => storage.close());
    let [queued, bothQueued] = [0, () => {}];
    const both = new Promise<void>((resolve) => (bothQueued = resolve));
    const openQueue: Storage["openQueue"] = async (...args) => {
      const queue = await storage.openQueue!(...args);
      const accept: RunQueue["accept"] = async (...row) => {
        const acceptance = await queue.accept(...row);
        if (++queued === 2) bothQueued();
        await both;
        return acceptance;
      };
      return replacing(queue, { accept });
    };
    const racing = () => ({ ...storage, openQueue, close: async () => undefined });
    const services = await Promise.all(
      [0, 1].map(() => openTestService({ graphs: { chat }, settings, storage: racing() })),
    );
    const { thread_id } = await services[0]!.threads.create({});
    const lease = await storage.locks.acquire(thread_id, { wait: false });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    const runs = await Promise.all(
      services.map((one) =>
        one.runs.background(thread_id, { ...say("hi"), multitask_strategy: "interrupt" }),
      ),
    );
    vi.useRealTimers();
    await lease!.release();
    for (const { run_id } of runs) await (await services[0]!.runs.join(thread_id, run_id)).answer;
    const statuses = (await services[0]!.runs.list(thread_id, {})).map(({ status }) => status);
    expect(statuses.sort()).toEqual(["interrupted", "success"]);
  });
});
