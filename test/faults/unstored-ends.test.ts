/** Runs that end while the database is unavailable for longer than any retry waits. */
import { expect, it, onTestFinished } from "vitest";
import { openService } from "../../src/service/open.js";
import type { Settings } from "../../src/config/settings.js";
import type { ThreadLocks } from "../../src/storage/contract/locks.js";
import { openStorage } from "../../src/storage/open.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { withPostgres } from "../helpers/postgres.js";
import { refusing } from "../helpers/refusing.js";
import { readAll } from "../helpers/service.js";

/** Storage calls that store the end of a run or requeue it. */
const ENDS = ["settle", "update"];
/** Attempts to store an end before it is deferred. */
const TRIES = 3;

withPostgres("a run whose end cannot be stored", (postgres) => {
  /** @param refusals storage calls that fail while the database is unavailable */
  async function open(refusals = ENDS, settings: Partial<Settings> = {}) {
    const inner = await openStorage({ ...postgres.options(), max_queued_runs: 10 });
    onTestFinished(() => inner.close());
    let refused = 0;
    let isAway = false;
    const isRefused = (name: string) => {
      if (!isAway || !refusals.includes(name)) return false;
      if (ENDS.includes(name)) refused += 1;
      return true;
    };
    const runs = refusing(inner.runs, isRefused);
    const checkpointer = refusing(inner.checkpointer, isRefused);
    const lost: AbortController[] = [];
    const acquire: ThreadLocks["acquire"] = async (...args) => {
      const lease = await inner.locks.acquire(...args);
      if (!lease) return undefined;
      const own = new AbortController();
      lost.push(own);
      return { release: () => lease.release(), confirm: () => lease.confirm?.(), lost: own.signal };
    };
    const locks = { acquire, waiting: (id: string) => inner.locks.waiting(id) };
    const service = await openService({
      graphs: { gate },
      settings,
      storage: { ...inner, runs, checkpointer, locks, close: async () => {} },
    });
    onTestFinished(() => service.close(0));
    const { thread_id } = await service.threads.create({});
    const name = newId();
    const request = { assistant_id: "gate", input: { gate: name } };
    return {
      ...{ service, thread_id, name, request },
      /** Opens the gate and resolves when storing the end has failed `times` times. */
      leave: async (times: number) => {
        await gateOf(name).entered;
        isAway = true;
        gateOf(name).open();
        await expect.poll(() => refused).toBeGreaterThanOrEqual(times);
      },
      goAway: () => (isAway = true),
      comeBack: () => (isAway = false),
      loseThreads: () => {
        for (const one of lost) one.abort();
      },
    };
  }

  it("is settled without running again when the database returns", async () => {
    const { service, thread_id, name, request, leave, comeBack } = await open();
    const { run_id } = await service.runs.background(thread_id, request);
    // Storing the end, then requeueing the run.
    await leave(2 * TRIES);
    expect((await service.runs.get(thread_id, run_id)).status).toBe("running");
    comeBack();
    await expect
      .poll(() => service.runs.get(thread_id, run_id))
      .toMatchObject({ status: "success", error: null });
    expect(gateOf(name)).toMatchObject({ entries: 1, passes: 1 });
    const { values } = await service.state.get(thread_id);
    expect(values).toMatchObject({ log: [`before ${name}`, `waited ${name}`, `after ${name}`] });
    expect((await service.threads.get(thread_id)).status).toBe("idle");
  });

  it("is resumed by the same process if its thread was lost after the graph stopped", async () => {
    const { service, thread_id, request, leave, loseThreads, comeBack } = await open([...ENDS, "putWrites"]);
    const { run_id } = await service.runs.background(thread_id, request);
    await leave(TRIES);
    loseThreads();
    comeBack();
    await expect
      .poll(() => service.runs.get(thread_id, run_id))
      .toMatchObject({ status: "success", error: null, attempt: 2 });
  });

  it("is reported as an error to a waiting client", async () => {
    const { service, thread_id, request, leave, comeBack } = await open();
    const stream = await service.runs.stream(thread_id, request);
    const told = readAll(stream);
    await leave(TRIES);
    expect((await told).at(-1)?.event).toBe("error");
    comeBack();
    await expect
      .poll(() => service.runs.get(thread_id, stream.run.run_id))
      .toMatchObject({ status: "error", error: expect.stringContaining("could not be stored") as string });
  });

  it("fails after max_attempts if only its own storage calls fail", async () => {
    const { service, thread_id, name, request, goAway, loseThreads } = await open(["getTuple"], {
      max_attempts: 1,
    });
    const { run_id } = await service.runs.background(thread_id, request);
    await gateOf(name).entered;
    goAway();
    loseThreads();
    await expect
      .poll(() => service.runs.get(thread_id, run_id))
      .toMatchObject({ status: "error", error: expect.stringContaining("is away") as string });
  });
});
