/** Webhooks, on every backend: each end of a run is sent, regardless of how it ended. */
import { expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { Service } from "../../src/service/service.js";
import { newId } from "../../src/support/ids.js";
import { graphs, says } from "../clients/open.js";
import { gateOf } from "../fixtures/gates.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { deferred } from "../helpers/deferred.js";
import { replacing } from "../helpers/refusing.js";
import { openTestService } from "../helpers/service.js";
import { type Receiver, startReceiver, webhooks } from "../helpers/webhook-receiver.js";

const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();

onEveryBackend("a webhook", (backend) => {
  /** A storage without timers does not support webhooks. */
  const skip = () => backend().name === "a custom storage";
  const open = async (more: Partial<Settings> = {}) => {
    const storage = await keptStorage(backend());
    const settings = { webhooks, delayed_runs: true, crons: true, ...more };
    const service = await openTestService({ graphs, settings, storage });
    const { thread_id } = await service.threads.create({});
    return { storage, service, thread_id, settings, receiver: await startReceiver() };
  };
  const listed = async (service: Service) => (await service.webhooks.list({ limit: 1000 })).items;
  /** The webhook of a run. Other tests may have left webhooks in the storage. */
  const stateOf = async (service: Service, runId: string) =>
    (await listed(service)).find(({ run_id }) => run_id === runId);
  const unsent = async (service: Service, { url }: Receiver) =>
    (await listed(service)).filter((webhook) => url.startsWith(webhook.url));

  it("is sent for threaded, stateless, delayed and cron runs", async () => {
    if (skip()) return;
    const { service, thread_id, receiver } = await open();
    const request = { assistant_id: "chat", input: says("hello"), webhook: receiver.url };
    const run = await service.runs.create(thread_id, request);
    const { run: told } = await receiver.next();
    expect(told).toEqual({
      ...(await service.runs.get(thread_id, run.run_id)),
      values: (await service.threads.get(thread_id)).values,
    });
    const own = await service.runs.createStateless(request);
    expect((await receiver.next()).run).toMatchObject({ run_id: own.run_id, values: { messages: [{}, {}] } });
    // A webhook whose lease expires while it is being sent would be sent by another server.
    await expect.poll(() => unsent(service, receiver)).toEqual([]);
    const later = await service.runs.create(thread_id, { ...request, after_seconds: 60 });
    await service.fireDue(at(61));
    expect((await receiver.next()).run).toMatchObject({ run_id: later.run_id, status: "success" });
    await expect.poll(() => unsent(service, receiver)).toEqual([]);
    const crons = service.crons;
    const { cron_id } = await crons.create({ ...request, schedule: "0 0 1 1 *" });
    await service.fireDue(at(366 * 86_400));
    await crons.delete(cron_id);
    expect((await receiver.next()).run).toMatchObject({
      metadata: { cron_id },
      values: { messages: [{}, {}] },
    });
    await expect.poll(() => unsent(service, receiver)).toEqual([]);
  });

  it("is sent for runs that fail, are cancelled, are interrupted or never begin", async () => {
    if (skip()) return;
    const { service, thread_id, receiver } = await open();
    const webhook = receiver.url;
    await service.runs.create(thread_id, { assistant_id: "fail", input: {}, webhook });
    expect((await receiver.next()).run).toMatchObject({
      status: "error",
      error: expect.any(String) as string,
    });
    const asked = await service.threads.create({});
    await service.runs.create(asked.thread_id, { assistant_id: "hitl", input: {}, webhook });
    expect((await receiver.next()).run).toMatchObject({ values: { __interrupt__: [{}] } });
    const gate = newId();
    const other = await service.threads.create({});
    const start = () =>
      service.runs.background(other.thread_id, { assistant_id: "gate", input: { gate }, webhook });
    const [running, queued] = [await start(), await start()];
    await gateOf(gate).entered;
    await service.runs.cancel(other.thread_id, queued.run_id, { wait: true });
    // At once, not when the run is polled.
    expect((await receiver.next()).run).toMatchObject({ run_id: queued.run_id, status: "interrupted" });
    await service.runs.cancel(other.thread_id, running.run_id, { wait: true });
    expect((await receiver.next()).run).toMatchObject({ run_id: running.run_id, status: "interrupted" });
    const waits = await service.runs.create(thread_id, {
      assistant_id: "chat",
      input: says("hello"),
      after_seconds: 60,
      webhook,
    });
    await service.runs.cancel(thread_id, waits.run_id);
    expect((await receiver.next()).run).toMatchObject({ run_id: waits.run_id, status: "interrupted" });
  });

  /** A thread with a run that waits at its gate, and one behind it. */
  const openBusy = async () => {
    const opened = await open();
    const { service, thread_id, receiver } = opened;
    const gate = newId();
    const request = { assistant_id: "gate", input: { gate }, webhook: receiver.url };
    const running = await service.runs.background(thread_id, request);
    const queued = await service.runs.background(thread_id, request);
    await gateOf(gate).entered;
    return { ...opened, request, running, queued };
  };

  it("is sent for runs that are rolled back, running or queued", async () => {
    if (skip()) return;
    const { service, thread_id, receiver, running, queued } = await openBusy();
    for (const { run_id } of [queued, running]) {
      await service.runs.cancel(thread_id, run_id, { action: "rollback", wait: true });
      const { run } = await receiver.next();
      expect(run).toMatchObject({ run_id, status: "interrupted" });
    }
    expect(await service.runs.list(thread_id, {})).toEqual([]);
    await expect.poll(() => unsent(service, receiver)).toEqual([]);
  });

  it("is sent for all runs of a thread that is deleted", async () => {
    if (skip()) return;
    const { service, thread_id, receiver, request, running, queued } = await openBusy();
    const later = await service.runs.create(thread_id, { ...request, after_seconds: 60 });
    await service.threads.delete(thread_id);
    const sent = [await receiver.next(), await receiver.next(), await receiver.next()];
    expect(new Set(sent.map(({ run }) => `${run.run_id} ${run.status}`))).toEqual(
      new Set([running, queued, later].map(({ run_id }) => `${run_id} interrupted`)),
    );
    await expect.poll(() => unsent(service, receiver)).toEqual([]);
  });

  it("is sent for a run that is queued while its thread is being deleted, or deleted as it ends", async () => {
    if (skip()) return;
    const storage = await keptStorage(backend());
    const { checkpointer, runs } = storage;
    let meanwhile: () => Promise<unknown> = () => Promise.resolve();
    let settled: (threadId: string, runId: string) => Promise<unknown> = () => Promise.resolve();
    const racing = {
      ...storage,
      checkpointer: replacing(checkpointer, {
        deleteThread: async (threadId) => {
          await meanwhile();
          await checkpointer.deleteThread(threadId);
        },
      }),
      runs: replacing(runs, {
        settle: async (outcomes) => {
          await runs.settle(outcomes);
          for (const { runId, threadId } of outcomes) await settled(threadId, runId);
        },
      }),
    };
    const settings = { webhooks, delayed_runs: true };
    const service = await openTestService({ graphs, settings, storage: racing });
    const receiver = await startReceiver();
    const request = { assistant_id: "chat", input: says("hello"), webhook: receiver.url };
    for (const delay of [{}, { after_seconds: 60 }]) {
      const { thread_id } = await service.threads.create({});
      let late = "";
      meanwhile = async () => {
        late ||= (await service.runs.background(thread_id, { ...request, ...delay })).run_id;
      };
      await service.threads.delete(thread_id);
      expect((await receiver.next()).run).toMatchObject({ run_id: late, status: "interrupted" });
      expect(await service.threads.count({ ids: [thread_id] })).toBe(0);
    }
    const other = await service.threads.create({});
    settled = (threadId, runId) => service.runs.delete(threadId, runId);
    const { run_id } = await service.runs.background(other.thread_id, request);
    expect((await receiver.next()).run).toMatchObject({ run_id, status: "success" });
    await expect.poll(() => unsent(service, receiver)).toEqual([]);
    expect(receiver.received).toHaveLength(3);
  });

  it("is sent for a delayed run that is cancelled or refused while its thread is being deleted", async () => {
    if (skip()) return;
    const storage = await keptStorage(backend());
    const { runs } = storage;
    let ended: () => Promise<unknown> = () => Promise.resolve();
    const racing = {
      ...storage,
      runs: replacing(runs, {
        update: async (runId, patch, holder) => {
          const isUpdated = await runs.update(runId, patch, holder);
          if (patch.state === "ended") await ended();
          return isUpdated;
        },
      }),
    };
    const settings = { webhooks, delayed_runs: true };
    const service = await openTestService({ graphs, settings, storage: racing });
    const receiver = await startReceiver();
    const later = async () => {
      const { thread_id } = await service.threads.create({});
      const request = { assistant_id: "gate", input: { gate: newId() }, webhook: receiver.url };
      const run = await service.runs.create(thread_id, { ...request, after_seconds: 60 });
      ended = () => {
        ended = () => Promise.resolve();
        return service.threads.delete(thread_id);
      };
      return run;
    };
    const cancelled = await later();
    await service.runs.cancel(cancelled.thread_id, cancelled.run_id);
    expect((await receiver.next()).run).toMatchObject({ run_id: cancelled.run_id, status: "interrupted" });
    await expect.poll(() => unsent(service, receiver)).toEqual([]);
    const refused = await later();
    const timer = (await storage.timers!.get("run", refused.run_id))!;
    const request = { assistant_id: "unknown" };
    await storage.timers!.replace({
      ...timer,
      data: { ...timer.data, request: { ...(timer.data.request as object), ...request } },
    });
    await service.fireDue(at(61));
    expect((await receiver.next()).run).toMatchObject({ run_id: refused.run_id, status: "error" });
    await expect.poll(() => unsent(service, receiver)).toEqual([]);
    expect(await service.threads.count({ ids: [cancelled.thread_id, refused.thread_id] })).toBe(0);
  });

  it("is sent for a run of a dead process whose thread is deleted", async () => {
    if (skip()) return;
    const { service, storage, thread_id, receiver } = await open();
    const request = { assistant_id: "chat", input: says("hello"), webhook: receiver.url };
    const { run_id } = await service.runs.create(thread_id, { ...request, after_seconds: 60 });
    const dead = { status: "running", state: "running", owner: "a dead process", attempt: 1 } as const;
    await storage.runs.update(run_id, { updated_at: at(0), ...dead });
    await service.threads.delete(thread_id);
    expect((await receiver.next()).run).toMatchObject({ run_id, status: "interrupted" });
  });

  it("is sent for a run that ended as its process died, and whose thread is then deleted", async () => {
    if (skip()) return;
    const { service, storage, thread_id, receiver } = await open();
    const request = { assistant_id: "chat", input: says("hello"), webhook: receiver.url };
    const { run_id } = await service.runs.create(thread_id, { ...request, after_seconds: 60 });
    // The end of the run is stored, but not yet its webhook.
    await storage.runs.update(run_id, { updated_at: at(0), state: "ended", status: "success" });
    await service.threads.delete(thread_id);
    expect((await receiver.next()).run).toMatchObject({ run_id, status: "success" });
    await expect.poll(() => unsent(service, receiver)).toEqual([]);
  });

  it("is sent for a run that ended as its process died, and whose thread then expires", async () => {
    if (skip()) return;
    const { service, storage, receiver } = await open();
    const { thread_id } = await service.threads.create({ ttl: { ttl: 1, strategy: "delete" } });
    const request = { assistant_id: "chat", input: says("hello"), webhook: receiver.url };
    const { run_id } = await service.runs.create(thread_id, { ...request, after_seconds: 60 });
    await storage.timers!.delete("run", run_id);
    await storage.runs.update(run_id, { updated_at: at(0), state: "ended", status: "success" });
    await service.sweep(at(61));
    expect(await service.threads.count({ ids: [thread_id] })).toBe(1);
    await service.fireDue(at(61));
    expect((await receiver.next()).run).toMatchObject({ run_id, status: "success", values: {} });
    await expect.poll(() => unsent(service, receiver)).toEqual([]);
    await service.sweep(at(61));
    expect(await service.threads.count({ ids: [thread_id] })).toBe(0);
  });

  it("is not kept for a run that is refused", async () => {
    if (skip()) return;
    const storage = await keptStorage(backend());
    const { runs } = storage;
    let storing: (threadId: string) => Promise<unknown> = () => Promise.resolve();
    const racing = {
      ...storage,
      runs: replacing(runs, {
        insert: async (row, ...rest) => {
          await storing(row.thread_id);
          return runs.insert(row, ...rest);
        },
      }),
    };
    const settings = { webhooks, delayed_runs: true };
    const service = await openTestService({ graphs, settings, storage: racing });
    const receiver = await startReceiver();
    const { thread_id } = await service.threads.create({});
    const gate = newId();
    const request = { assistant_id: "gate", input: { gate }, webhook: receiver.url };
    const first = await service.runs.background(thread_id, request);
    await gateOf(gate).entered;
    // The storages of the tests let at most ten runs wait.
    const behind = Array.from({ length: 11 }, () => service.runs.background(thread_id, request));
    const [accepted, refused] = [[first], [] as unknown[]];
    for (const result of await Promise.allSettled(behind)) {
      if (result.status === "fulfilled") accepted.push(result.value);
      else refused.push(result.reason);
    }
    expect(refused).toContainEqual(expect.objectContaining({ code: "thread_busy" }));
    storing = (threadId) => storage.threads.delete(threadId);
    for (const more of [{}, { after_seconds: 60 }]) {
      const other = await service.threads.create({});
      const started = service.runs.background(other.thread_id, { ...request, ...more });
      await expect(started).rejects.toMatchObject({ code: "thread_not_found" });
    }
    storing = () => Promise.resolve();
    expect(new Set((await unsent(service, receiver)).map(({ run_id }) => run_id))).toEqual(
      new Set(accepted.map(({ run_id }) => run_id)),
    );
    gateOf(gate).open();
    for (const _ of accepted) await receiver.next();
    await expect.poll(() => unsent(service, receiver)).toEqual([]);
  });

  it("is sent by the next server for a run whose process crashed or stopped", async () => {
    if (skip() || !backend().durable) return;
    const { service, storage, thread_id, receiver, settings } = await open({ resume_runs: false });
    const request = { assistant_id: "chat", input: says("hello"), webhook: receiver.url };
    const { run_id } = await service.runs.create(thread_id, { ...request, after_seconds: 60 });
    // The state left by a process that crashed during the run.
    await storage.timers!.delete("run", run_id);
    await storage.runs.update(run_id, {
      updated_at: at(0),
      status: "running",
      state: "running",
      owner: "a dead process",
      attempt: 1,
    });
    const gate = newId();
    const other = await service.threads.create({});
    const gated = { assistant_id: "gate", input: { gate }, webhook: receiver.url };
    const stopped = await service.runs.background(other.thread_id, gated);
    await gateOf(gate).entered;
    await service.close(0);
    const next = await openTestService({ graphs, settings, storage: await keptStorage(backend()) });
    await next.fireDue(at(31));
    const told = [(await receiver.next()).run, (await receiver.next()).run];
    expect(new Set(told.map((run) => `${run.run_id} ${run.status}`))).toEqual(
      new Set([`${run_id} error`, `${stopped.run_id} error`]),
    );
  });

  it("is sent once if a poll finds the end of the run while its process schedules it", async () => {
    if (skip()) return;
    const storage = await keptStorage(backend());
    const timers = storage.timers!;
    const sent = deferred();
    let ended: Promise<unknown> = Promise.resolve();
    const racing = replacing(timers, {
      get: async (...key) => {
        if (key[0] === "webhook") await sent.promise;
        return timers.get(...key);
      },
      delete: async (...key) => {
        sent.resolve();
        await ended;
        return timers.delete(...key);
      },
    });
    const service = await openTestService({
      graphs,
      settings: { webhooks },
      storage: { ...storage, timers: racing },
    });
    const receiver = await startReceiver();
    const { thread_id } = await service.threads.create({});
    const request = { assistant_id: "chat", input: says("hello"), webhook: receiver.url };
    const { run_id } = await service.runs.background(thread_id, request);
    ended = service.runs.join(thread_id, run_id).then(({ answer }) => answer);
    await expect.poll(async () => (await service.runs.get(thread_id, run_id)).status).toBe("success");
    await service.fireDue(at(31));
    await service.fireDue(at(120));
    await expect.poll(() => unsent(service, receiver)).toEqual([]);
    expect(receiver.received).toHaveLength(1);
  });

  it("is not delayed by the slow receiver of another webhook", async () => {
    if (skip()) return;
    const { service, receiver } = await open();
    const slow = deferred();
    receiver.hold = slow.promise;
    const request = { assistant_id: "chat", input: says("hello"), webhook: receiver.url };
    await service.runs.createStateless(request);
    await receiver.next();
    const { run_id } = await service.runs.createStateless(request);
    expect((await receiver.next()).run).toMatchObject({ run_id });
    expect(receiver.aborted).toBe(0);
    slow.resolve();
    await expect.poll(() => unsent(service, receiver)).toEqual([]);
  });

  it("is kept while its run may still be stored, and removed after that", async () => {
    if (skip()) return;
    const { service, storage, thread_id, receiver } = await open();
    const request = { assistant_id: "chat", input: says("hello"), webhook: receiver.url, after_seconds: 600 };
    const { run_id } = await service.runs.create(thread_id, request);
    await storage.timers!.delete("run", run_id);
    await storage.runs.delete(thread_id, run_id);
    await service.fireDue(at(125));
    expect(await stateOf(service, run_id)).toMatchObject({ run_id });
    await service.fireDue(at(300));
    expect(await stateOf(service, run_id)).toBeUndefined();
  });

  it("is retried with the same id by any server after an error, and not sent again once delivered", async () => {
    if (skip()) return;
    const { service, storage, thread_id, receiver, settings } = await open();
    receiver.answers.push(500, 302);
    const request = { assistant_id: "chat", input: says("hello"), webhook: receiver.url };
    const run = await service.runs.create(thread_id, request);
    const first = await receiver.next();
    const failed = () => stateOf(service, run.run_id);
    await expect.poll(failed).toMatchObject({
      run_id: run.run_id,
      status: "pending",
      sendings: 1,
      last_error: "the receiver answered 500",
      url: receiver.url.replace(/\?.*/, ""),
    });
    const other = await openTestService({ graphs, settings, storage });
    await Promise.all([service.fireDue(at(6)), other.fireDue(at(6))]);
    await expect.poll(failed).toMatchObject({ sendings: 2, last_error: "the receiver answered 302" });
    await Promise.all([service.fireDue(at(60)), other.fireDue(at(60))]);
    const again = [await receiver.next(), await receiver.next()];
    expect(again.map(({ headers }) => headers["webhook-id"])).toEqual(
      [1, 2].map(() => first.headers["webhook-id"]),
    );
    await service.fireDue(at(120));
    expect(receiver.received).toHaveLength(3);
    expect(await unsent(service, receiver)).toEqual([]);
  });

  it("is retried five seconds after a failed attempt, regardless of how long the receiver took", async () => {
    if (skip()) return;
    const { service, thread_id, receiver } = await open();
    const answered = deferred<void>();
    receiver.hold = answered.promise;
    receiver.answers.push(500);
    const request = { assistant_id: "chat", input: says("hello"), webhook: receiver.url };
    const { run_id } = await service.runs.create(thread_id, request);
    await receiver.next();
    const received = Date.now();
    await expect.poll(() => Date.now()).toBeGreaterThan(received);
    const failed = Date.now();
    answered.resolve();
    await expect.poll(() => stateOf(service, run_id)).toMatchObject({ sendings: 1 });
    const { next_sending_at } = (await stateOf(service, run_id))!;
    expect(Date.parse(next_sending_at!) - failed).toBeGreaterThanOrEqual(5_000);
  });

  it("fails after eight attempts, can be sent again, and is deleted after a week", async () => {
    if (skip()) return;
    const { service, thread_id, receiver } = await open();
    receiver.otherwise = 503;
    const request = { assistant_id: "chat", input: says("hello"), webhook: receiver.url };
    const run = await service.runs.create(thread_id, request);
    await receiver.next();
    let days = 0;
    const state = () => stateOf(service, run.run_id);
    await expect.poll(async () => (await state())?.sendings).toBe(1);
    while ((await state())?.status === "pending") await service.fireDue(at((days += 1) * 86_400));
    expect(await state()).toMatchObject({ status: "failed", sendings: 8, next_sending_at: null });
    receiver.otherwise = 204;
    await service.webhooks.send(run.run_id);
    await expect.poll(() => unsent(service, receiver)).toEqual([]);
    receiver.answers.push(410);
    const gone = await service.runs.create(thread_id, request);
    await expect
      .poll(() => stateOf(service, gone.run_id))
      .toMatchObject({ status: "failed", sendings: 1, last_error: "the receiver answered 410" });
    await service.fireDue(at(8 * 86_400));
    expect(await unsent(service, receiver)).toEqual([]);
  });

  it("is rejected for a user with 1,000 undelivered webhooks, and accepted for other users", async () => {
    if (skip()) return;
    const { storage, service } = await open();
    const of = (identity: string) => service.as({ user: { identity }, scope: { owner: newId() } });
    const [ann, bob] = [of("ann"), of("bob")];
    const ask = async ({ threads, runs }: ReturnType<typeof of>) => {
      const { thread_id } = await threads.create({});
      const request = { assistant_id: "gate", input: { gate: newId() }, webhook: "http://127.0.0.1:9/hook" };
      return runs.background(thread_id, request);
    };
    const { run_id } = await ask(ann);
    const row = (await storage.timers!.get("webhook", run_id))!;
    expect(row.scope).not.toBeNull();
    const { thread_id } = await ann.threads.create({});
    const chat = { assistant_id: "chat", input: says("hello"), webhook: "http://127.0.0.1:9/hook" };
    const later = await ann.runs.create(thread_id, { ...chat, after_seconds: 60 });
    const others = Array.from({ length: 998 }, () => ({ ...row, id: newId(), due_at: null }));
    for (const each of others) await storage.timers!.insert(each);
    await expect(ask(ann)).rejects.toMatchObject({
      code: "too_many_runs",
      message: "1000 of your webhooks wait to be sent",
    });
    expect(await ask(bob)).toMatchObject({ status: "pending" });
    // The delayed run above already counts.
    await service.fireDue(at(61));
    const ended = async () => (await ann.runs.get(thread_id, later.run_id)).status;
    await expect.poll(ended, { timeout: 20_000 }).toBe("success");
    await storage.timers!.delete("webhook", run_id);
    expect(await ask(ann)).toMatchObject({ status: "pending" });
  });
});
