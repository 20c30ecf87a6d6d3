/** Runs with `after_seconds`, on every backend: they wait without an owner and start exactly once when due. */
import { expect, it, onTestFinished, vi } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { RunCreateRequest } from "../../src/models/run.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { newId } from "../../src/support/ids.js";
import { graphs, says } from "../clients/open.js";
import { gateOf } from "../fixtures/gates.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { replacing } from "../helpers/refusing.js";
import { openTestService, recordingLogger } from "../helpers/service.js";

const HOUR = 3600;
const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
const settings = { delayed_runs: true } as const;
const later: RunCreateRequest = { assistant_id: "chat", input: says("hello"), after_seconds: HOUR };

const statusOf = async (service: Service, thread: string, run: string) =>
  (await service.runs.get(thread, run)).status;

onEveryBackend("a delayed run", (backend) => {
  /** A storage without timers does not support delayed runs. */
  const skip = () => backend().name === "a custom storage";
  const open = async (more: Partial<Settings> = {}) => {
    const storage = await keptStorage(backend());
    const service = await openTestService({ graphs, settings: { ...settings, ...more }, storage });
    const { thread_id } = await service.threads.create({});
    return { storage, service, thread_id };
  };

  it("is answered immediately and runs exactly once when due, with several processes polling", async () => {
    if (skip()) return;
    const { service, storage, thread_id } = await open();
    const others = await Promise.all([1, 2].map(() => openTestService({ graphs, settings, storage })));
    const run = await service.runs.create(thread_id, later);
    expect(run).toMatchObject({ status: "pending", attempt: 0, kwargs: { after_seconds: HOUR } });
    expect((await service.threads.get(thread_id)).status).toBe("idle");
    const all = [service, ...others];
    await Promise.all(all.map((each) => each.fireDue(at(HOUR - 60))));
    expect(await service.cutOffRuns()).toEqual([]);
    expect(await service.runs.list(thread_id, {})).toEqual([run]);
    await Promise.all(all.map((each) => each.fireDue(at(HOUR + 1))));
    const { answer } = await service.runs.join(thread_id, run.run_id);
    expect(await answer).toMatchObject({ messages: [{ content: "hello" }, {}] });
    const [ended, ...more] = await service.runs.list(thread_id, {});
    expect(more).toEqual([]);
    expect(ended).toMatchObject({ run_id: run.run_id, status: "success", attempt: 1 });
    expect(await storage.timers!.get("run", run.run_id)).toBeUndefined();
  });

  it("is due after_seconds after its created_at, however long it takes to accept it", async () => {
    if (skip()) return;
    const storage = await keptStorage(backend());
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    const threads = replacing(storage.threads, {
      get: (id) => {
        vi.setSystemTime(Date.now() + 5000);
        return storage.threads.get(id);
      },
    });
    const service = await openTestService({ graphs, settings, storage: { ...storage, threads } });
    const { thread_id } = await service.threads.create({});
    const { run_id, created_at } = await service.runs.create(thread_id, later);
    const timer = await storage.timers!.get("run", run_id);
    expect(Date.parse(timer!.due_at!) - Date.parse(created_at)).toBe(HOUR * 1000);
  });

  it("survives a restart and is not treated as interrupted by the next server", async () => {
    if (skip() || !backend().durable) return;
    const { service, thread_id } = await open();
    const run = await service.runs.create(thread_id, later);
    await service.close(0);
    const warning =
      "delayed runs are stored, but this server does not start them: its setting delayed_runs is off";
    const without = recordingLogger();
    const other = await openService({ graphs, storage: await keptStorage(backend()), logger: without });
    await other.close(0);
    expect(without.of("warn")).toContain(warning);
    const logger = recordingLogger();
    const next = await openTestService({ graphs, settings, storage: await keptStorage(backend()), logger });
    expect(logger.of("warn")).not.toContain(warning);
    expect(await statusOf(next, thread_id, run.run_id)).toBe("pending");
    await next.fireDue(at(HOUR + 1));
    await (
      await next.runs.join(thread_id, run.run_id)
    ).answer;
    expect(await statusOf(next, thread_id, run.run_id)).toBe("success");
  });

  it("does not keep its thread busy, even if it was created while another run was in flight", async () => {
    if (skip()) return;
    const { service, thread_id } = await open();
    const gate = newId();
    const before = await service.runs.background(thread_id, { assistant_id: "gate", input: { gate } });
    await gateOf(gate).entered;
    const run = await service.runs.create(thread_id, later);
    gateOf(gate).open();
    await (
      await service.runs.join(thread_id, before.run_id)
    ).answer;
    expect((await service.threads.get(thread_id)).status).toBe("idle");
    expect(await statusOf(service, thread_id, run.run_id)).toBe("pending");
  });

  it("waits for its turn if its thread is busy when it is due", async () => {
    if (skip()) return;
    const { service, thread_id } = await open();
    const gate = newId();
    const run = await service.runs.create(thread_id, later);
    const before = await service.runs.background(thread_id, { assistant_id: "gate", input: { gate } });
    await service.fireDue(at(HOUR + 1));
    expect(await statusOf(service, thread_id, run.run_id)).toBe("pending");
    gateOf(gate).open();
    await (
      await service.runs.join(thread_id, run.run_id)
    ).answer;
    const runs = await service.runs.list(thread_id, {});
    expect(Object.fromEntries(runs.map((each) => [each.run_id, each.status]))).toEqual({
      [before.run_id]: "success",
      [run.run_id]: "success",
    });
  });

  it("runs of one thread start in order of their due times", async () => {
    if (skip()) return;
    const { service, thread_id } = await open();
    const order: number[] = [];
    const begin = async (hours: number) => {
      const gate = newId();
      gateOf(gate).onEntered(() => order.push(hours));
      gateOf(gate).open();
      const request = { assistant_id: "gate", input: { gate }, after_seconds: hours * HOUR };
      return service.runs.create(thread_id, request);
    };
    const made = new Map<number, string>();
    for (const hours of [4, 2, 5, 1, 3]) made.set(hours, (await begin(hours)).run_id);
    await service.fireDue(at(6 * HOUR));
    const last = async () => statusOf(service, thread_id, made.get(5) ?? "");
    await expect.poll(last, { timeout: 20_000 }).toBe("success");
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  it("fails with the reason if its thread rejects it when due", async () => {
    if (skip()) return;
    const { service, thread_id } = await open();
    const gate = newId();
    const run = await service.runs.create(thread_id, { ...later, multitask_strategy: "reject" });
    await service.runs.background(thread_id, { assistant_id: "gate", input: { gate } });
    await service.fireDue(at(HOUR + 1));
    expect(await service.runs.get(thread_id, run.run_id)).toMatchObject({
      status: "error",
      error: expect.stringContaining("is busy") as string,
    });
    gateOf(gate).open();
  });

  it("starts from the checkpoint that it selects, which a prune to the latest state keeps", async () => {
    if (skip()) return;
    const { service, thread_id } = await open();
    const { answer } = await service.runs.wait(thread_id, { assistant_id: "chat", input: says("one") });
    await answer;
    const before = await service.state.get(thread_id);
    const checkpoint_id = before.checkpoint!.checkpoint_id!;
    const next = await service.runs.wait(thread_id, { assistant_id: "chat", input: says("two") });
    await next.answer;
    const run = await service.runs.create(thread_id, { ...later, checkpoint_id });
    const prune = { thread_ids: [thread_id], strategy: "keep_latest" as const };
    expect(await service.threads.prune(prune)).toEqual({ pruned_count: 0 });
    await service.fireDue(at(HOUR + 1));
    const joined = await service.runs.join(thread_id, run.run_id);
    expect((await joined.answer).messages).toMatchObject([{ content: "one" }, {}, { content: "hello" }, {}]);
    expect(await service.threads.prune(prune)).toEqual({ pruned_count: 1 });
  });

  it("never starts after it was cancelled, rolled back or deleted", async () => {
    if (skip()) return;
    const { service, storage, thread_id } = await open();
    const make = async () => (await service.runs.create(thread_id, later)).run_id;
    const [cancelled, gone, deleted] = [await make(), await make(), await make()];
    await service.runs.cancel(thread_id, cancelled, { wait: true });
    await service.runs.cancel(thread_id, gone, { action: "rollback" });
    await service.runs.delete(thread_id, deleted);
    await service.fireDue(at(HOUR + 1));
    const runs = await service.runs.list(thread_id, {});
    expect(runs.map(({ run_id, status }) => [run_id, status])).toEqual([[cancelled, "interrupted"]]);
    expect(await storage.timers!.list({ kind: "run", threadId: thread_id, limit: 9, offset: 0 })).toEqual([]);
  });

  it("is cancelled by its status after more than 1000 later runs of its thread", async () => {
    // The rule does not depend on the backend, and others take long to store the runs.
    if (!["memory", "sqlite"].includes(backend().name)) return;
    const { service, storage, thread_id } = await open();
    const run = await service.runs.create(thread_id, later);
    const row = (await storage.runs.get(thread_id, run.run_id))!;
    const ended = { ...row, state: "ended", status: "success" } as const;
    const created_at = new Date().toISOString();
    for (let count = 0; count < 1001; count++)
      await storage.runs.insert({ ...ended, run_id: newId(), created_at }, { updated_at: created_at });
    await service.runs.cancelMany({ thread_id, status: "pending" }, {});
    expect(await statusOf(service, thread_id, run.run_id)).toBe("interrupted");
  });

  it("is deleted with its thread; a stateless delayed run creates a thread and deletes it at the end", async () => {
    if (skip()) return;
    const { service, storage, thread_id } = await open();
    await service.runs.create(thread_id, later);
    await service.threads.delete(thread_id);
    const count = () => service.threads.count({});
    const before = await count();
    const own = await service.runs.createStateless(later);
    const called = await service.runs.createStateless(later);
    expect(await count()).toBe(before + 2);
    await service.sweep(at(HOUR + 60));
    await service.runs.cancel(called.thread_id, called.run_id);
    expect(await count()).toBe(before + 1);
    await service.fireDue(at(HOUR + 1));
    await expect.poll(count, { timeout: 20_000 }).toBe(before);
    expect(await storage.timers!.get("run", own.run_id)).toBeUndefined();
  });

  it("is deleted with its temporary thread if it is refused when due, but not with a kept one", async () => {
    if (skip()) return;
    const { service } = await open({ assistants: "managed" });
    const { assistant_id } = await service.managedAssistants.create({ graph_id: "chat" });
    const request = { ...later, assistant_id };
    const { thread_id } = await service.runs.createStateless(request);
    const kept = await service.runs.createStateless({ ...request, on_completion: "keep" });
    await service.managedAssistants.delete(assistant_id);
    await service.fireDue(at(HOUR + 1));
    await expect(service.threads.get(thread_id)).rejects.toMatchObject({ code: "thread_not_found" });
    const { status, error } = await service.runs.get(kept.thread_id, kept.run_id);
    expect([status, error]).toEqual(["error", expect.stringContaining("does not exist")]);
  });

  it("is not started a second time when a crashed process left its timer", async () => {
    if (skip()) return;
    const { service, storage, thread_id } = await open();
    const run = await service.runs.create(thread_id, later);
    const timer = (await storage.timers!.get("run", run.run_id))!;
    await service.fireDue(at(HOUR + 1));
    await (
      await service.runs.join(thread_id, run.run_id)
    ).answer;
    expect(await storage.timers!.insert(timer)).toBe(true);
    await service.fireDue(at(HOUR + 1));
    expect(await service.runs.list(thread_id, {})).toHaveLength(1);
    expect(await storage.timers!.get("run", run.run_id)).toBeUndefined();
  });

  it("is replaced only by a later delayed run with the same strategy, not by an immediate run", async () => {
    if (skip()) return;
    const { service, thread_id } = await open({ multitask_cancel: true });
    const rollback = { ...later, multitask_strategy: "rollback" } as const;
    const plain = await service.runs.create(thread_id, { assistant_id: "chat", input: says("one") });
    const first = await service.runs.create(thread_id, rollback);
    const gate = newId();
    await service.runs.background(thread_id, { assistant_id: "gate", input: { gate } });
    const { after_seconds: _, ...now } = rollback;
    const taken = await service.runs.create(thread_id, now);
    expect(await statusOf(service, thread_id, first.run_id)).toBe("pending");
    const last = await service.runs.create(thread_id, rollback);
    const ids = (await service.runs.list(thread_id, {})).map(({ run_id }) => run_id);
    expect(ids).toEqual([last.run_id, taken.run_id, plain.run_id]);
    gateOf(gate).open();
  });
});
