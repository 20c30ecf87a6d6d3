/** Deleting a thread while another server is starting a run on it, or while it is copied. */
import { expect, it } from "vitest";
import { openStorage } from "../../src/storage/open.js";
import type { StorageOptions } from "../../src/storage/contract/storage.js";
import { newId } from "../../src/support/ids.js";
import { graphs, says } from "../clients/open.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { keptStorage, onEveryBackend } from "../helpers/backends.js";
import { deferred } from "../helpers/deferred.js";
import { withMongodb } from "../helpers/mongodb.js";
import { withPostgres } from "../helpers/postgres.js";
import { replacing } from "../helpers/refusing.js";
import { openTestService } from "../helpers/service.js";

function stopsLateRuns(options: () => StorageOptions): void {
  // The run would wait at its gate until the test times out.
  it("a run that is not stored yet when its thread is deleted is stopped too", async () => {
    const [storing, looked] = [deferred<void>(), deferred<void>()];
    const [one, another] = [await openStorage(options()), await openStorage(options())];
    const runs = replacing(one.runs, {
      insert: async (...args) => {
        storing.resolve();
        await looked.promise;
        return one.runs.insert(...args);
      },
    });
    const unfinished = another.runs.unfinished.bind(another.runs);
    const looking = replacing(another.runs, {
      unfinished: async (query) => {
        const found = await unfinished(query);
        if (query?.threadId !== undefined) looked.resolve();
        return found;
      },
    });
    const service = await openTestService({ graphs: { gate }, storage: { ...one, runs } });
    const other = await openTestService({ graphs: { gate }, storage: { ...another, runs: looking } });
    const { thread_id } = await service.threads.create({});
    const name = newId();
    const started = service.runs.background(thread_id, { assistant_id: "gate", input: { gate: name } });
    await storing.promise;
    await other.threads.delete(thread_id);
    await started;
    expect(gateOf(name).passes).toBe(0);
    await expect(service.threads.get(thread_id)).rejects.toMatchObject({ code: "thread_not_found" });
  });
}

withPostgres("two servers on postgres", (postgres) => stopsLateRuns(() => postgres.options()));
withMongodb("two servers on mongodb", (mongodb) => stopsLateRuns(() => mongodb().options()));

onEveryBackend("a copy of a thread that is deleted meanwhile", (backend) => {
  it("is refused", async () => {
    const storage = await keptStorage(backend());
    const { checkpointer, locks } = storage;
    const waits = deferred();
    let copied: Promise<unknown> | undefined;
    const deleteThread: typeof checkpointer.deleteThread = async (id) => {
      await checkpointer.deleteThread(id);
      if (id !== thread_id) return;
      copied ??= service.threads.copy(id);
      await Promise.race([waits.promise, copied.catch(() => undefined)]);
    };
    const acquire: typeof locks.acquire = (id, options) => {
      if (copied) waits.resolve();
      return locks.acquire(id, options);
    };
    const service = await openTestService({
      graphs,
      storage: {
        ...storage,
        checkpointer: replacing(checkpointer, { deleteThread }),
        locks: replacing(locks, { acquire }),
      },
    });
    const { thread_id } = await service.threads.create({});
    await service.runs.create(thread_id, { assistant_id: "chat", input: says("hello") });
    await service.threads.delete(thread_id);
    await expect(copied).rejects.toMatchObject({ code: "thread_not_found" });
  });
});
