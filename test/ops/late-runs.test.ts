/** Deleting a thread while another server is starting a run on it. */
import { expect, it } from "vitest";
import { openStorage } from "../../src/storage/open.js";
import type { StorageOptions } from "../../src/storage/contract/storage.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
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
