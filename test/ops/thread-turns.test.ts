/** The order of a thread's runs among processes without a shared queue. */
import { expect, it, onTestFinished } from "vitest";
import { newId } from "../../src/support/ids.js";
import { openStorage } from "../../src/storage/open.js";
import type { RunCreateRequest } from "../../src/models/run.js";
import type { AcquireOptions } from "../../src/storage/contract/locks.js";
import type { RunRow } from "../../src/storage/contract/runs.js";
import type { Service } from "../../src/service/service.js";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { type Backend, onMongodb } from "../helpers/backends.js";
import { deferred } from "../helpers/deferred.js";
import { withPostgres } from "../helpers/postgres.js";
import { replacing } from "../helpers/refusing.js";
import { openTestService } from "../helpers/service.js";

const declareTests = (
  backend: () => Pick<Backend, "settings">,
  isShared: "with new runs" | "when waiting",
) => {
  const open = async (hold?: Promise<unknown>, onGivesWay = () => undefined as void): Promise<Service> => {
    const settings = {
      ...backend().settings,
      max_queued_runs: 10,
      multitask_cancel: true,
      delayed_runs: true,
    };
    const storage = await openStorage(settings);
    onTestFinished(() => storage.close());
    const { locks } = storage;
    const held = replacing(locks, {
      acquire: async (threadId, options) => {
        if (options.wait) await hold;
        const { givesWay } = options;
        if (!givesWay) return locks.acquire(threadId, options);
        const reported: AcquireOptions["givesWay"] = async (lock) => {
          const gives = await givesWay(lock);
          if (gives) onGivesWay();
          return gives;
        };
        return locks.acquire(threadId, { ...options, givesWay: reported });
      },
    });
    const shared = { ...storage, locks: held, close: async () => undefined };
    return openTestService({ graphs: { gate }, settings, storage: shared });
  };

  /** A run that waits at its gate in one process, and one behind it in a process that gets the thread late. */
  async function threadWithWaiting() {
    const late = deferred();
    const [one, slow] = [await open(), await open(late.promise)];
    const quick = await open(undefined, () => late.resolve());
    onTestFinished(() => late.resolve());
    const { thread_id } = await one.threads.create({});
    const [first, second, third] = [newId(), newId(), newId()];
    for (const name of [second, third]) gateOf(name).open();
    const start = (service: Service, of: string, more: Partial<RunCreateRequest> = {}) =>
      service.runs.background(thread_id, { assistant_id: "gate", input: { gate: of }, ...more });
    const running = await start(one, first);
    await gateOf(first).entered;
    const waiting = await start(slow, second);
    // Without the order, the third run is executed first, and then the second.
    gateOf(third).onEntered(() => late.resolve());
    const ended = async (service: Service, { run_id }: { run_id: string }) =>
      (await service.runs.join(thread_id, run_id)).answer;
    const log = async () => ((await one.state.get(thread_id)).values as { log: string[] }).log;
    const passed = async () => (await log()).filter((line) => line.startsWith("after"));
    const inOrder = [first, second, third].map((name) => `after ${name}`);
    return {
      one,
      slow,
      quick,
      thread_id,
      first,
      third,
      start,
      running,
      waiting,
      ended,
      passed,
      inOrder,
      late,
    };
  }

  it("runs that wait in different processes start in the order in which they were accepted", async () => {
    const thread = await threadWithWaiting();
    const { quick, slow, first, third, start, waiting, ended, passed, inOrder } = thread;
    const last = await start(quick, third);
    gateOf(first).open();
    await Promise.all([ended(quick, last), ended(slow, waiting)]);
    expect(await passed()).toEqual(inOrder);
  });

  it("a run whose caller waits starts after runs accepted before it", async () => {
    const { quick, thread_id, first, third, passed, inOrder } = await threadWithWaiting();
    const last = quick.runs.create(thread_id, { assistant_id: "gate", input: { gate: third } });
    gateOf(first).open();
    expect((await last).status).toBe("success");
    expect(await passed()).toEqual(inOrder);
  });

  if (isShared === "when waiting") return;

  /** The same thread after the first run has ended: it is free, and its second run still waits for the lock. */
  async function freeThreadWithWaiting() {
    const thread = await threadWithWaiting();
    gateOf(thread.first).open();
    await thread.ended(thread.one, thread.running);
    return thread;
  }

  it("a new run on a free thread starts after the runs that wait for it", async () => {
    const { quick, slow, third, start, waiting, ended, passed, inOrder } = await freeThreadWithWaiting();
    const last = await start(quick, third);
    await Promise.all([ended(quick, last), ended(slow, waiting)]);
    expect(await passed()).toEqual(inOrder);
  });

  it("a new run that rejects a busy thread is rejected while others wait", async () => {
    const thread = await freeThreadWithWaiting();
    const { quick, slow, third, start, waiting, ended, passed, inOrder, late } = thread;
    await expect(start(quick, third, { multitask_strategy: "reject" })).rejects.toMatchObject({
      code: "thread_busy",
    });
    late.resolve();
    await ended(slow, waiting);
    expect(await passed()).toEqual(inOrder.slice(0, 2));
  });

  it("a new run that interrupts others stops the runs that wait", async () => {
    const { one, quick, slow, thread_id, third, start, waiting, ended, late } = await freeThreadWithWaiting();
    const last = await start(quick, third, { multitask_strategy: "interrupt" });
    await ended(quick, last);
    late.resolve();
    await ended(slow, waiting);
    const runs = await one.runs.list(thread_id, {});
    expect(runs.map(({ status }) => status)).toEqual(["success", "interrupted", "success"]);
  });

  it("a run that lost its place in the lock's queue is next, even while that is being stored", async () => {
    const [lost, leaving, requeued, granted] = [deferred(), deferred(), deferred(), deferred()];
    const one = await open();
    const storage = await openStorage({ ...backend().settings, max_queued_runs: 10 });
    onTestFinished(() => storage.close());
    const { locks, runs } = storage;
    const once = { lock: true, update: true };
    const two = await openTestService({
      graphs: { gate },
      settings: backend().settings,
      storage: {
        ...storage,
        close: async () => undefined,
        locks: replacing(locks, {
          acquire: async (threadId, options) => {
            if (options.wait && once.lock) {
              once.lock = false;
              await lost.promise;
              throw new StorageUnavailableError("the locks are away");
            }
            const lease = await locks.acquire(threadId, options);
            if (lease) granted.resolve();
            return lease;
          },
        }),
        runs: replacing(runs, {
          update: async (...change) => {
            if (once.update && change[1].state === "queued") {
              once.update = false;
              leaving.resolve();
              await requeued.promise;
            }
            return runs.update(...change);
          },
        }),
      },
    });
    const { thread_id } = await one.threads.create({});
    const names = [newId(), newId(), newId()] as const;
    for (const name of names.slice(1)) gateOf(name).open();
    const start = (service: Service, of: string) =>
      service.runs.background(thread_id, { assistant_id: "gate", input: { gate: of } });
    const ended = async ({ run_id }: { run_id: string }) =>
      (await (
        await one.runs.join(thread_id, run_id)
      ).answer) as unknown;
    const first = await start(one, names[0]);
    await gateOf(names[0]).entered;
    const waiting = await start(two, names[1]);
    gateOf(names[0]).open();
    await ended(first);
    lost.resolve();
    await leaving.promise;
    const last = start(two, names[2]);
    await granted.promise;
    // More reads than a run needs to start.
    for (let reads = 0; reads < 20; reads += 1) await one.threads.get(thread_id);
    requeued.resolve();
    await Promise.all([ended(waiting), ended(await last)]);
    const { values } = await one.state.get(thread_id);
    const passed = (values as { log: string[] }).log.filter((line) => line.startsWith("after"));
    expect(passed).toEqual(names.map((name) => `after ${name}`));
  });

  it("a run that its process requeues while the thread is recovered is resumed before those behind it", async () => {
    const { one, slow, thread_id, first, third, start, waiting, ended, passed, inOrder, running, late } =
      await threadWithWaiting();
    const settings = { ...backend().settings, max_queued_runs: 10 };
    const storage = await openStorage(settings);
    onTestFinished(() => storage.close());
    const { locks, runs } = storage;
    const row = (await runs.get(thread_id, waiting.run_id)) as RunRow;
    const behind = newId();
    gateOf(behind).open();
    const { updated_at, kwargs } = row;
    const input = { gate: behind };
    await runs.insert(
      { ...row, run_id: behind, owner: "gone", kwargs: { ...kwargs, input } },
      { updated_at },
    );
    gateOf(first).open();
    await ended(one, running);
    let isHeld = false;
    const recovering = await openTestService({
      graphs: { gate },
      settings,
      storage: {
        ...storage,
        close: async () => undefined,
        locks: replacing(locks, {
          acquire: async (threadId, options) => {
            const lease = await locks.acquire(threadId, options);
            isHeld ||= threadId === thread_id && lease !== undefined;
            return lease;
          },
        }),
        runs: replacing(runs, {
          unfinished: async (query) => {
            const unfinished = await runs.unfinished(query);
            if (isHeld) {
              isHeld = false;
              late.resolve();
              await slow.close(0);
            }
            return unfinished;
          },
        }),
      },
    });
    await ended(recovering, await start(recovering, third));
    expect(await passed()).toEqual([...inOrder.slice(0, 2), `after ${behind}`, ...inOrder.slice(2)]);
  });

  it("a delayed run on a free thread starts after the runs that wait for it", async () => {
    const thread = await freeThreadWithWaiting();
    const { quick, slow, third, start, waiting, ended, passed, inOrder } = thread;
    const last = await start(quick, third, { after_seconds: 0.001 });
    await Promise.all([ended(quick, last), ended(slow, waiting)]);
    expect(await passed()).toEqual(inOrder);
  });
};

withPostgres("the order of runs in several processes, on postgres", (postgres) =>
  declareTests(() => ({ settings: postgres.options() }), "with new runs"),
);
onMongodb("the order of runs in several processes", (backend) => declareTests(backend, "when waiting"));
