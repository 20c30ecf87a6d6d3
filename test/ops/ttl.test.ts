/** The setting ttl, on every backend: what expires by default, and what a sweep leaves alone. */
import { expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { THREAD_FILE_FORMAT, THREAD_FILE_VERSION } from "../../src/models/thread-file.js";
import type { Run } from "../../src/models/run.js";
import type { Thread, TtlRequest } from "../../src/models/thread.js";
import { graphs, says } from "../clients/open.js";
import { gateOf } from "../fixtures/gates.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { deferred } from "../helpers/deferred.js";
import { replacing } from "../helpers/refusing.js";
import { openTestService } from "../helpers/service.js";
import { newId } from "../../src/support/ids.js";

const run = { assistant_id: "chat", input: says("hello") };
const afterMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

onEveryBackend("the setting ttl", (backend) => {
  const skip = () => backend().name === "a custom storage";
  const open = async (ttl: Settings["ttl"], more: Partial<Settings> = {}) =>
    openTestService({ graphs, settings: { ttl, ...more }, storage: await keptStorage(backend()) });

  it("new threads without a ttl expire after it", async () => {
    const service = await open({ threads: { minutes: 10 } });
    const plain = await service.threads.create({});
    const own = await service.threads.create({ ttl: 100 });
    const unlimited = await service.threads.create({ ttl: { ttl: null } });
    const created = newId();
    await (
      await service.runs.wait(created, { ...run, if_not_exists: "create" })
    ).answer;
    expect(plain.ttl).toMatchObject({ strategy: "delete", ttl_minutes: 10 });
    await service.sweep(afterMinutes(9));
    const ids = [plain.thread_id, own.thread_id, unlimited.thread_id, created];
    expect((await service.threads.search({ ids })).total).toBe(4);
    await service.sweep(afterMinutes(11));
    const { items } = await service.threads.search({ ids, sort_by: "created_at", sort_order: "asc" });
    expect(items.map(({ thread_id }) => thread_id)).toEqual([own.thread_id, unlimited.thread_id]);
  });

  it("keep_latest prunes a thread again after its next run", async () => {
    const service = await open({ threads: { minutes: 10, strategy: "keep_latest" } });
    const { thread_id } = await service.threads.create({});
    const states = async () => (await service.state.history(thread_id, { limit: 100 })).length;
    for (let turn = 0; turn < 2; turn += 1) {
      await (
        await service.runs.wait(thread_id, run)
      ).answer;
      expect(await states()).toBeGreaterThan(1);
      await service.sweep(afterMinutes(11));
      expect(await states()).toBe(1);
    }
  });

  it("a ttl that a client sets while keep_latest prunes the thread stays", async () => {
    const storage = await keptStorage(backend());
    const { checkpointer } = storage;
    const keepLatest: typeof checkpointer.keepLatest = async (...kept) => {
      await checkpointer.keepLatest(...kept);
      await service.threads.update(thread_id, { ttl: 100 });
    };
    const service = await openTestService({
      graphs,
      storage: { ...storage, checkpointer: replacing(checkpointer, { keepLatest }) },
    });
    const { thread_id } = await service.threads.create({ ttl: { ttl: 10, strategy: "keep_latest" } });
    await (
      await service.runs.wait(thread_id, run)
    ).answer;
    // The change of the thread has a later time.
    const { updated_at } = await service.threads.get(thread_id);
    await expect.poll(() => new Date().toISOString() > updated_at).toBe(true);
    await service.sweep(afterMinutes(11));
    expect((await service.threads.get(thread_id)).ttl).toMatchObject({
      strategy: "delete",
      ttl_minutes: 100,
    });
  });

  /** A service whose sweep calls `meanwhile` before it deletes or patches the row of a thread. */
  async function interrupted(meanwhile: () => Promise<unknown>, settings: Partial<Settings> = {}) {
    const storage = await keptStorage(backend());
    const { threads } = storage;
    let isSweeping = false;
    const once = async () => {
      if (!isSweeping) return;
      isSweeping = false;
      await meanwhile();
    };
    const held = replacing(threads, {
      delete: async (...args) => {
        await once();
        return threads.delete(...args);
      },
      update: async (...args) => {
        await once();
        return threads.update(...args);
      },
    });
    const service = await openTestService({ graphs, settings, storage: { ...storage, threads: held } });
    const expire = async (threadId: string) => {
      // A change of the thread has a later time.
      const { updated_at } = await service.threads.get(threadId);
      await expect.poll(() => new Date().toISOString() > updated_at).toBe(true);
      isSweeping = true;
      await service.sweep(afterMinutes(11));
      expect(isSweeping).toBe(false);
    };
    const create = async (ttl: TtlRequest) => {
      const { thread_id } = await service.threads.create({ ttl });
      const { answer } = await service.runs.wait(thread_id, run);
      await answer;
      return thread_id;
    };
    return { service, expire, create };
  }

  it("a run that is accepted while a sweep deletes the thread is executed", async () => {
    let accepted: Run | undefined;
    const { service, expire, create } = await interrupted(async () => {
      accepted = await service.runs.background(thread_id, { ...run, multitask_strategy: "enqueue" });
    });
    const thread_id = await create(10);
    await expire(thread_id);
    const { answer } = await service.runs.join(thread_id, accepted!.run_id);
    const messages = (await answer).messages as unknown[];
    // Those of the run before, too.
    expect(messages).toHaveLength(4);
    expect(await service.runs.get(thread_id, accepted!.run_id)).toMatchObject({ status: "success" });
  });

  it.each(["a sweep", "a request"])(
    "a run that creates its thread is accepted while %s deletes it",
    async (by) => {
      const storage = await keptStorage(backend());
      const [inserting, deleted] = [deferred(), deferred()];
      let created: Promise<Run> | undefined;
      let isDeleting = false;
      const service = await openTestService({
        graphs,
        storage: {
          ...storage,
          threads: replacing(storage.threads, {
            delete: async (...args) => {
              isDeleting = true;
              const request = { ...run, if_not_exists: "create", multitask_strategy: "enqueue" } as const;
              created ??= service.runs.background(thread_id, request);
              await Promise.race([inserting.promise, created]);
              const isDeleted = await storage.threads.delete(...args);
              deleted.resolve();
              return isDeleted;
            },
          }),
          runs: replacing(storage.runs, {
            insert: async (...args) => {
              inserting.resolve();
              if (isDeleting) await deleted.promise;
              return storage.runs.insert(...args);
            },
          }),
        },
      });
      const { thread_id } = await service.threads.create({ ttl: 10 });
      if (by === "a sweep") await service.sweep(afterMinutes(11));
      else await service.threads.delete(thread_id);
      const { run_id } = (await created)!;
      const { answer } = await service.runs.join(thread_id, run_id);
      expect((await answer).messages).toHaveLength(2);
    },
  );

  it("a patch while a sweep deletes the thread keeps the thread, with its state", async () => {
    const { service, expire, create } = await interrupted(() =>
      service.threads.update(thread_id, { metadata: { kept: true } }),
    );
    const thread_id = await create(10);
    const { values } = await service.threads.get(thread_id);
    await expire(thread_id);
    expect(await service.threads.get(thread_id)).toMatchObject({ metadata: { kept: true }, values });
  });

  it("a cron that is created while a sweep deletes the thread keeps the thread", async () => {
    if (skip()) return;
    const { service, expire, create } = await interrupted(
      () => service.crons.create({ assistant_id: "chat", schedule: "0 0 1 1 *" }, thread_id),
      { crons: true },
    );
    const thread_id = await create(10);
    await expire(thread_id);
    expect((await service.threads.get(thread_id)).thread_id).toBe(thread_id);
    expect((await service.crons.search({ thread_id })).items).toHaveLength(1);
  });

  it("a ttl that a client sets just before keep_latest removes it stays", async () => {
    const { service, expire, create } = await interrupted(() =>
      service.threads.update(thread_id, { ttl: 100 }),
    );
    const thread_id = await create({ ttl: 10, strategy: "keep_latest" });
    await expire(thread_id);
    expect((await service.threads.get(thread_id)).ttl).toMatchObject({ ttl_minutes: 100 });
  });

  it("a copy of a thread that a sweep deletes is complete or refused", async () => {
    const storage = await keptStorage(backend());
    const { checkpointer } = storage;
    let copied: Promise<Thread> | undefined;
    const deleteThread: typeof checkpointer.deleteThread = async (id) => {
      await checkpointer.deleteThread(id);
      if (id === thread_id) await (copied ??= service.threads.copy(id)).catch(() => undefined);
    };
    const service = await openTestService({
      graphs,
      storage: { ...storage, checkpointer: replacing(checkpointer, { deleteThread }) },
    });
    const { thread_id } = await service.threads.create({ ttl: 10 });
    await (
      await service.runs.wait(thread_id, run)
    ).answer;
    await service.sweep(afterMinutes(11));
    await expect(copied).rejects.toMatchObject({ code: "thread_not_found" });
  });

  const oldFile = (source: Thread) => ({
    ...({ format: THREAD_FILE_FORMAT, version: THREAD_FILE_VERSION } as const),
    thread: { ...source, updated_at: "2020-01-01T00:00:00.000Z" },
    ...{ runs: [], states: [], subgraphs: [] },
  });

  it("an imported thread expires after the import, however old it is", async () => {
    const service = await open({ threads: { minutes: 10 } });
    const source = await service.threads.create({});
    const file = oldFile(source);
    const { thread_id } = await service.threads.restore(file, newId());
    await service.sweep();
    expect((await service.threads.search({ ids: [thread_id] })).total).toBe(1);
    await service.sweep(afterMinutes(11));
    expect((await service.threads.search({ ids: [thread_id] })).total).toBe(0);
  });

  it("an imported thread keeps its own ttl, which starts with the import", async () => {
    const service = await open(undefined);
    const source = await service.threads.create({ ttl: { strategy: "keep_latest", ttl: 100 } });
    const file = oldFile(source);
    const { ttl } = await service.threads.restore(file, newId());
    expect(ttl).toMatchObject({ strategy: "keep_latest", ttl_minutes: 100 });
    expect(Date.parse(ttl!.expires_at)).toBeGreaterThan(Date.now());
    const endless = { ...file, thread: { ...file.thread, ttl: { ...ttl!, ttl_minutes: 1e300 } } };
    await expect(service.threads.restore(endless, newId())).rejects.toMatchObject({
      code: "invalid_request",
    });
  });

  it("an imported thread without expiry is kept, and one of another server gets the default", async () => {
    const source = await (await open(undefined)).threads.create({});
    expect(source.ttl).toBeNull();
    const service = await open({ threads: { minutes: 10 } });
    const { thread_id, ttl, updated_at } = await service.threads.restore(oldFile(source), newId());
    expect({ ttl, updated_at }).toEqual({ ttl: null, updated_at: "2020-01-01T00:00:00.000Z" });
    await service.sweep(afterMinutes(11));
    expect((await service.threads.search({ ids: [thread_id] })).total).toBe(1);
    const { ttl: _, ...foreign } = source;
    const file = oldFile(foreign as Thread);
    expect((await service.threads.restore(file, newId())).ttl).toMatchObject({ ttl_minutes: 10 });
  });

  it("a thread with the ttl null never gets the default of keep_latest", async () => {
    const service = await open({ threads: { minutes: 10, strategy: "keep_latest" } });
    const created = await service.threads.create({ ttl: { ttl: null } });
    const patched = await service.threads.create({});
    expect((await service.threads.update(patched.thread_id, { ttl: { ttl: null } })).ttl).toBeNull();
    for (const { thread_id } of [created, patched]) {
      await (
        await service.runs.wait(thread_id, run)
      ).answer;
      expect((await service.threads.get(thread_id)).ttl).toBeNull();
      const count = (await service.state.history(thread_id, { limit: 100 })).length;
      await service.sweep(afterMinutes(11));
      expect(await service.state.history(thread_id, { limit: 100 })).toHaveLength(count);
    }
  });

  it("threads with an active run, a delayed run or a cron are kept", async () => {
    if (skip()) return;
    const service = await open({ threads: { minutes: 10 } }, { crons: true, delayed_runs: true });
    const [active, delayed, scheduled, idle] = await Promise.all(
      [0, 1, 2, 3].map(() => service.threads.create({})),
    );
    const name = newId();
    await service.runs.background(active!.thread_id, { assistant_id: "gate", input: { gate: name } });
    await gateOf(name).entered;
    await service.runs.create(delayed!.thread_id, { ...run, after_seconds: 36_000 });
    await service.crons.create({ assistant_id: "chat", schedule: "0 0 1 1 *" }, scheduled!.thread_id);
    await service.sweep(afterMinutes(11));
    const ids = [active, delayed, scheduled, idle].map((thread) => thread!.thread_id);
    const left = (await service.threads.search({ ids })).items.map(({ thread_id }) => thread_id);
    expect(left.sort()).toEqual(ids.slice(0, 3).sort());
    gateOf(name).open();
  });

  it("threads that are kept do not stop the sweep of those that expire later", async () => {
    if (skip()) return;
    const service = await open({ threads: { minutes: 10 } }, { delayed_runs: true });
    for (let index = 0; index < 101; index += 1) {
      const { thread_id } = await service.threads.create({ ttl: 1 });
      await service.runs.create(thread_id, { ...run, after_seconds: 36_000 });
    }
    const { thread_id } = await service.threads.create({});
    await service.sweep(afterMinutes(11));
    expect((await service.threads.search({ ids: [thread_id] })).total).toBe(0);
    expect((await service.threads.search({})).total).toBeGreaterThanOrEqual(101);
  });

  it("new items without a ttl expire after it, also those of graphs", async () => {
    const service = await open({ store: { minutes: 10, refresh_on_read: false } });
    await service.store.put({ namespace: ["n"], key: "plain", value: {} });
    await service.store.put({ namespace: ["n"], key: "own", value: {}, ttl: 20 });
    await service.store.put({ namespace: ["n"], key: "unlimited", value: {}, ttl: null });
    const items = await service.store.search({});
    expect(items.map(({ key, ttl_minutes }) => [key, ttl_minutes])).toEqual([
      ["own", 20],
      ["plain", 10],
      ["unlimited", null],
    ]);
  });
});
