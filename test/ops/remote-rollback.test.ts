/** Rollbacks that another process than that of the run asks for, and that it cannot complete in time. */
import { expect, it, onTestFinished } from "vitest";
import { newId } from "../../src/support/ids.js";
import type { Settings } from "../../src/config/settings.js";
import { openStorage } from "../../src/storage/open.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { type Backend, onMongodb } from "../helpers/backends.js";
import { deferred } from "../helpers/deferred.js";
import { withPostgres } from "../helpers/postgres.js";
import { replacing } from "../helpers/refusing.js";
import { openTestService } from "../helpers/service.js";

type Queue = "none" | "postgres";

const declareTests = (backend: () => Pick<Backend, "settings">, queue: Queue) => {
  async function open(change: (storage: Storage) => Partial<Storage>, own: Partial<Settings> = {}) {
    const storage = await openStorage({ ...backend().settings, max_queued_runs: 10 });
    onTestFinished(() => storage.close());
    const shared = { ...storage, ...change(storage), close: async () => undefined };
    return openTestService({
      graphs: { gate },
      settings: { ...backend().settings, queue, ...own },
      storage: shared,
    });
  }

  /** A run in flight in the process, and one behind it. */
  async function twoRuns(service: Awaited<ReturnType<typeof open>>) {
    const { thread_id } = await service.threads.create({});
    const [name, next] = [newId(), newId()];
    const start = (of: string) =>
      service.runs.background(thread_id, { assistant_id: "gate", input: { gate: of } });
    const { run_id } = await start(name);
    await gateOf(name).entered;
    gateOf(next).open();
    const behind = await start(next);
    return { thread_id, run_id, name, next, behind: behind.run_id };
  }

  const logOf = (name: string) => [`before ${name}`, `waited ${name}`, `after ${name}`];

  it("is complete before the run behind starts, even if the caller's process gets the thread last", async () => {
    const reverted = deferred();
    let behindEntered = new Promise<void>(() => undefined);
    const one = await open(({ runs }) => ({
      runs: replacing(runs, {
        delete: async (...key) => {
          const isDeleted = await runs.delete(...key);
          reverted.resolve();
          return isDeleted;
        },
      }),
    }));
    const two = await open(({ locks }) => ({
      locks: replacing(locks, {
        acquire: async (threadId, options) => {
          if (options.wait) await Promise.race([reverted.promise, behindEntered]);
          return locks.acquire(threadId, options);
        },
      }),
    }));
    const { thread_id, run_id, next, behind } = await twoRuns(one);
    behindEntered = gateOf(next).entered;
    await two.runs.cancel(thread_id, run_id, { action: "rollback" });
    const { answer } = await two.runs.join(thread_id, behind);
    expect(await answer).toMatchObject({ log: logOf(next) });
    expect(await two.runs.list(thread_id, {})).toMatchObject([{ run_id: behind, status: "success" }]);
    expect((await two.threads.get(thread_id)).status).toBe("idle");
  });

  it("is completed by others if the caller's process fails and the run ends before it is stopped", async () => {
    const one = await open(({ runs }) => ({ runs: replacing(runs, { cancelRequests: async () => [] }) }));
    // A process with broken locks that also executes runs keeps the next one for as long as it has claimed it: 5 s.
    const own: Partial<Settings> = queue === "none" ? {} : { role: "api", stream: "postgres" };
    const two = await open(
      ({ locks }) => ({
        locks: replacing(locks, {
          acquire: async (threadId, options) => {
            if (options.wait) throw new StorageUnavailableError("the locks are away");
            return locks.acquire(threadId, options);
          },
        }),
      }),
      own,
    );
    const { thread_id, run_id, name, next, behind } = await twoRuns(one);
    await expect(two.runs.cancel(thread_id, run_id, { action: "rollback" })).rejects.toThrow("away");
    gateOf(name).open();
    const { answer } = await one.runs.join(thread_id, behind);
    expect(await answer).toMatchObject({ log: logOf(next) });
    expect(await one.runs.list(thread_id, {})).toMatchObject([{ run_id: behind, status: "success" }]);
  });
};

withPostgres("a rollback by another process, on postgres", (postgres) =>
  declareTests(() => ({ settings: postgres.options() }), "none"),
);
withPostgres("a rollback by another process, with queue postgres", (postgres) =>
  declareTests(() => ({ settings: postgres.options() }), "postgres"),
);
onMongodb("a rollback by another process", (backend) => declareTests(backend, "none"));
