/** Runs that end while the database is away for longer than anybody waits for it. */
import { expect, it, onTestFinished } from "vitest";
import { openService } from "../../src/service.js";
import { openStorage } from "../../src/storage/open.js";
import { StorageUnavailableError } from "../../src/support/errors.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { withPostgres } from "../helpers/postgres.js";
import { readAll } from "../helpers/service.js";

/** How often an end is stored before it is kept for later. */
const TRIES = 3;

withPostgres("a run whose end cannot be stored", (postgres) => {
  async function open() {
    const inner = await openStorage({ ...postgres.options(), max_queued_runs: 10 });
    onTestFinished(() => inner.close());
    let refused = 0;
    let isAway = false;
    const runs = new Proxy(inner.runs, {
      get: (table, name) => {
        const method: unknown = Reflect.get(table, name, table);
        if (typeof method !== "function") return method;
        return (...args: unknown[]): unknown => {
          if (!isAway || name !== "settle") return Reflect.apply(method, table, args);
          refused += 1;
          return Promise.reject(new StorageUnavailableError("the database is away"));
        };
      },
    });
    const service = await openService({
      graphs: { gate },
      storage: { ...inner, runs, close: async () => {} },
    });
    onTestFinished(() => service.close(0));
    const { thread_id } = await service.threads.create({});
    const name = newId();
    const request = { assistant_id: "gate", input: { gate: name } };
    return {
      ...{ service, thread_id, name, request },
      /** Resolves when the end has been refused so many times. */
      leave: async (times: number) => {
        await gateOf(name).entered;
        isAway = true;
        gateOf(name).open();
        await expect.poll(() => refused).toBeGreaterThanOrEqual(times);
      },
      comeBack: () => (isAway = false),
    };
  }

  it("ends as it did once the database is there, and nothing of it is done again", async () => {
    const { service, thread_id, name, request, leave, comeBack } = await open();
    const { run_id } = await service.runs.background(thread_id, request);
    // Its end, and that it is to go on elsewhere.
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

  it("is an error for a client that waits for it", async () => {
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
});
