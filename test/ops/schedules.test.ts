/** Crons fire each slot exactly once on every backend, with several servers and across crashes. */
import { expect, it } from "vitest";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { graphs, says } from "../clients/open.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { openTestService } from "../helpers/service.js";

const AT = `${new Date().getUTCFullYear() + 1}-01-01T00:00:00.000Z`;
const after = (seconds: number) => new Date(Date.parse(AT) + seconds * 1000).toISOString();
const settings = { crons: true };
const MEMORY = { checkpointer_scheme: "memory", checkpointer_options: {} } as const;
const NEW_YEAR = "0 0 1 1 *";

const runsOf = (service: Service, threadId: string) => service.runs.list(threadId, { limit: 100 });

onEveryBackend("a cron", (backend) => {
  const open = async () => {
    const storage = await keptStorage(backend());
    return { storage, service: await openTestService({ graphs, settings, storage }) };
  };
  const ownThreads = { assistant_id: "chat", schedule: NEW_YEAR, input: says("hello") };
  const withCron = async (service: Service) => {
    const { thread_id } = await service.threads.create({});
    const { cron_id } = await service.crons.create(ownThreads, thread_id);
    return { thread_id, cron_id };
  };
  /** A storage without timers does not support crons. */
  const skip = () => backend().name === "a custom storage";
  /** Backends on which the test can intercept row writes and several servers share the rows. */
  const isBetween = () => ["sqlite", "postgres"].includes(backend().name);

  it("fires a slot once when several servers poll at the same time", async () => {
    if (skip()) return;
    const { service, storage } = await open();
    const others = await Promise.all([1, 2].map(() => openTestService({ graphs, settings, storage })));
    const { thread_id } = await withCron(service);
    await Promise.all([service, ...others].map((each) => each.fireDue(AT)));
    await Promise.all([service, ...others].map((each) => each.fireDue(after(1))));
    expect(await runsOf(service, thread_id)).toHaveLength(1);
  });

  it("claimed by a crashed server is fired by another one after the claim expires", async () => {
    if (skip()) return;
    const { service, storage } = await open();
    const { thread_id, cron_id } = await withCron(service);
    const row = (await storage.timers!.get("cron", cron_id))!;
    // Claimed as the crashed server claims it, without firing.
    expect(await storage.timers!.replace({ ...row, due_at: after(60) })).toBe(true);
    await service.fireDue(after(59));
    expect(await runsOf(service, thread_id)).toEqual([]);
    await service.fireDue(after(61));
    expect(await runsOf(service, thread_id)).toHaveLength(1);
  });

  it("is not fired again when a server crashed after accepting the run", async () => {
    if (skip()) return;
    const { service, storage } = await open();
    const { thread_id, cron_id } = await withCron(service);
    const row = (await storage.timers!.get("cron", cron_id))!;
    await service.fireDue(AT);
    const fired = (await storage.timers!.get("cron", cron_id))!;
    expect(await storage.timers!.replace({ ...row, version: fired.version, due_at: after(60) })).toBe(true);
    await service.fireDue(after(61));
    expect(await runsOf(service, thread_id)).toHaveLength(1);
    expect((await storage.timers!.get("cron", cron_id))?.due_at).not.toBe(after(60));
  });

  it("updated while a server fires it keeps that server's claim", async () => {
    if (skip()) return;
    const { service, storage } = await open();
    const { thread_id, cron_id } = await withCron(service);
    const row = (await storage.timers!.get("cron", cron_id))!;
    expect(await storage.timers!.replace({ ...row, due_at: after(60) })).toBe(true);
    await service.crons.update(cron_id, { metadata: { a: 1 } });
    await service.fireDue(after(59));
    expect(await runsOf(service, thread_id)).toEqual([]);
    const { next_run_date } = await service.crons.update(cron_id, { schedule: "30 0 1 1 *" });
    expect((await storage.timers!.get("cron", cron_id))?.due_at).toBe(next_run_date);
  });

  it("updated while its run is accepted keeps the update for the next slot", async () => {
    if (!isBetween()) return;
    const { service, storage } = await open();
    const { thread_id, cron_id } = await withCron(service);
    const crons = service.crons;
    // The update arrives after the run is stored and before the cron is rescheduled.
    const insert = storage.runs.insert.bind(storage.runs);
    storage.runs.insert = async (row, thread) => {
      const isStored = await insert(row, thread);
      if (row.thread_id === thread_id) await crons.update(cron_id, { metadata: { a: 1 } });
      return isStored;
    };
    await service.fireDue(AT);
    expect(await runsOf(service, thread_id)).toHaveLength(1);
    const { data, due_at } = (await storage.timers!.get("cron", cron_id))!;
    expect(data).toMatchObject({ metadata: { a: 1 }, next_run_date: due_at });
    expect(due_at! > after(3600)).toBe(true);
  });

  it("fires one run when a slower server loses the race to accept it", async () => {
    if (!isBetween()) return;
    const { service, storage } = await open();
    const faster = await openTestService({ graphs, settings, storage: { ...storage } });
    const { cron_id } = await service.crons.create({ ...ownThreads, on_run_completed: "keep" });
    const insert = storage.runs.insert.bind(storage.runs);
    let threadId = "";
    storage.runs.insert = async (row, thread) => {
      if (threadId === "" && row.metadata.cron_id === cron_id) {
        threadId = row.thread_id;
        await faster.fireDue(after(61));
      }
      return insert(row, thread);
    };
    await service.fireDue(AT);
    const status = async () => (await runsOf(service, threadId)).map((run) => run.status);
    await expect.poll(status, { timeout: 20_000 }).toEqual(["success"]);
  });
});

it("a stopping server fires no due crons", async () => {
  const storage = await keptStorage({ name: "memory", durable: false, settings: MEMORY, cwd: "." });
  const service = await openTestService({ graphs, settings, storage });
  const crons = service.crons;
  const request = { assistant_id: "chat", schedule: NEW_YEAR, input: says("hello") };
  for (let made = 0; made < 25; made += 1) await crons.create(request);
  const timers = storage.timers!;
  const due = timers.due.bind(timers);
  let looks = 0;
  timers.due = (...asked) => {
    looks += 1;
    if (looks > 5) throw new Error("the due timers are polled repeatedly");
    return due(...asked);
  };
  void service.close(0);
  await service.fireDue(after(1));
  expect(await service.threads.count({})).toBe(0);
  const rows = await timers.list({ kind: "cron", limit: 100, offset: 0 });
  expect(rows.every(({ due_at, version }) => due_at !== null && due_at < after(1) && version === 1)).toBe(
    true,
  );
});

it("a storage without timers is rejected if a setting requires them", async () => {
  const { openMemory } = await import("../../src/storage/memory/open.js");
  const memory = await openMemory({
    checkpointer_scheme: "memory",
    checkpointer_options: {},
    max_queued_runs: 1,
  });
  const storage: Storage = { ...memory, timers: undefined };
  await expect(openService({ graphs, settings, storage })).rejects.toThrow(
    "the setting crons requires a storage with timers, and memory has none",
  );
});

it("the crons of a deleted assistant are found by its id", async () => {
  const service = await openTestService({ graphs, settings: { ...settings, assistants: "managed" } });
  const { assistant_id } = await service.managedAssistants.create({ graph_id: "chat" });
  const { cron_id } = await service.crons.create({ assistant_id, schedule: NEW_YEAR, input: says("hello") });
  await service.managedAssistants.delete(assistant_id);
  for (const id of [assistant_id, `urn:uuid:${assistant_id.toUpperCase()}`]) {
    expect((await service.crons.search({ assistant_id: id })).items).toMatchObject([{ cron_id }]);
    expect(await service.crons.count({ assistant_id: id })).toBe(1);
  }
  expect((await service.crons.search({ assistant_id: "never served" })).items).toEqual([]);
});

it("the info flags report whether crons are enabled", async () => {
  expect((await openTestService({ graphs, settings })).info().flags.crons).toBe(true);
  const service = await openTestService({ graphs });
  expect(service.info().flags.crons).toBe(false);
  await expect(service.crons.search({})).rejects.toThrow("the setting crons is off");
});
