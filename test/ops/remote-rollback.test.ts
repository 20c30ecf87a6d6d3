/** Rollbacks that another process than that of the run asks for, and that it cannot complete in time. */
import { expect, it, onTestFinished } from "vitest";
import { newId } from "../../src/support/ids.js";
import type { Settings } from "../../src/config/settings.js";
import type { Service } from "../../src/service/service.js";
import { openStorage } from "../../src/storage/open.js";
import type { Storage } from "../../src/storage/contract/storage.js";
import { StorageUnavailableError } from "../../src/support/errors.js";
import type { Logger } from "../../src/support/log.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { type Backend, onMongodb } from "../helpers/backends.js";
import { deferred } from "../helpers/deferred.js";
import { withPostgres } from "../helpers/postgres.js";
import { replacing } from "../helpers/refusing.js";
import { openTestService, recordingLogger } from "../helpers/service.js";

type Queue = "none" | "postgres";

const declareTests = (backend: () => Pick<Backend, "settings">, queue: Queue) => {
  async function open(
    change: (storage: Storage) => Partial<Storage>,
    own: Partial<Settings> = {},
    logger?: Logger,
  ) {
    const storage = await openStorage({ ...backend().settings, max_queued_runs: 10 });
    onTestFinished(() => storage.close());
    const shared = { ...storage, ...change(storage), close: async () => undefined };
    return openTestService({
      graphs: { gate },
      settings: { ...backend().settings, queue, max_queued_runs: 10, ...own },
      storage: shared,
      logger,
    });
  }

  /** A process with broken storage calls that also executes runs would keep the next one for as long as it has claimed it: 5 s. */
  const api: Partial<Settings> = queue === "none" ? {} : { role: "api", stream: "postgres" };

  /** Starts a run that waits at the gate. */
  const start = async (service: Service, thread_id: string, name: string) =>
    (await service.runs.background(thread_id, { assistant_id: "gate", input: { gate: name } })).run_id;

  /** A run in flight in the process, and one behind it. */
  async function twoRuns(service: Service) {
    const { thread_id } = await service.threads.create({});
    const [name, next] = [newId(), newId()];
    const run_id = await start(service, thread_id, name);
    await gateOf(name).entered;
    gateOf(next).open();
    return { thread_id, run_id, name, next, behind: await start(service, thread_id, next) };
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

  it("leaves nothing of a run that started while it was being requested", async () => {
    const one = await open(() => ({}));
    const { thread_id, run_id, name } = await twoRuns(one);
    const [late, last] = [newId(), newId()];
    gateOf(last).open();
    const undone = await start(one, thread_id, late);
    const behind = await start(one, thread_id, last);
    let isRead = false;
    const two = await open(
      ({ runs }) => ({
        runs: replacing(runs, {
          get: async (...key) => {
            const row = await runs.get(...key);
            if (key[1] !== undone || isRead) return row;
            isRead = true;
            gateOf(name).open();
            await gateOf(late).entered;
            return row;
          },
        }),
      }),
      api,
    );
    await two.runs.cancel(thread_id, undone, { action: "rollback" });
    const { answer } = await two.runs.join(thread_id, behind);
    const { log } = (await answer) as { log: string[] };
    expect(log.filter((line) => line.endsWith(late))).toEqual([]);
    expect(log).toEqual(expect.arrayContaining([...logOf(name), ...logOf(last)]));
    const left = (await two.runs.list(thread_id, {})).map((run) => run.run_id);
    expect(left).not.toContain(undone);
    expect(left).toEqual(expect.arrayContaining([run_id, behind]));
  });

  it("is completed by others if the caller's process fails and the run ends before it is stopped", async () => {
    const logger = recordingLogger();
    const unasked = ({ runs }: Storage) => ({ runs: replacing(runs, { cancelRequests: async () => [] }) });
    const one = await open(unasked, {}, logger);
    const two = await open(
      ({ locks }) => ({
        locks: replacing(locks, {
          acquire: async (threadId, options) => {
            if (options.wait) throw new StorageUnavailableError("the locks are away");
            return locks.acquire(threadId, options);
          },
        }),
      }),
      api,
    );
    const { thread_id, run_id, name, next, behind } = await twoRuns(one);
    await expect(two.runs.cancel(thread_id, run_id, { action: "rollback" })).rejects.toThrow("away");
    gateOf(name).open();
    const { answer } = await one.runs.join(thread_id, behind);
    expect(await answer).toMatchObject({ log: logOf(next) });
    expect(await one.runs.list(thread_id, {})).toMatchObject([{ run_id: behind, status: "success" }]);
    expect(logger.of("warn").filter((line) => line.includes("stopped server"))).toEqual([]);
  });
};

withPostgres("a rollback by another process, on postgres", (postgres) =>
  declareTests(() => ({ settings: postgres.options() }), "none"),
);
withPostgres("a rollback by another process, with queue postgres", (postgres) =>
  declareTests(() => ({ settings: postgres.options() }), "postgres"),
);
onMongodb("a rollback by another process", (backend) => declareTests(backend, "none"));
