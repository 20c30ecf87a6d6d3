/** Two servers that run maintenance on one database at the same time. */
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { Run } from "../../src/models/run.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { openStorage } from "../../src/storage/open.js";
import type { Storage, StorageOptions } from "../../src/storage/contract/storage.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { withMongodb } from "../helpers/mongodb.js";
import { withPostgres } from "../helpers/postgres.js";
import { replacing } from "../helpers/refusing.js";

const THREADS = 10;
const services: Service[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close(0);
});

/** Opens two services and records the threads whose checkpoints they delete or prune. */
async function two(options: StorageOptions) {
  const swept: string[] = [];
  for (let index = 0; index < 2; index += 1) {
    const storage = await openStorage(options);
    const { checkpointer } = storage;
    const remove = checkpointer.deleteThread.bind(checkpointer);
    vi.spyOn(checkpointer, "deleteThread").mockImplementation((id) => {
      swept.push(id);
      return remove(id);
    });
    const prune = checkpointer.keepLatest.bind(checkpointer);
    vi.spyOn(checkpointer, "keepLatest").mockImplementation((id, namespaces) => {
      swept.push(id);
      return prune(id, namespaces);
    });
    services.push(await openService({ graphs: { steps }, storage }));
  }
  return { services: [...services] as [Service, Service], swept };
}

function sweepsOnce(options: () => StorageOptions): void {
  it("sweep each expired thread once", { timeout: 120_000 }, async () => {
    const {
      services: [one, another],
      swept,
    } = await two(options());
    const expired: string[] = [];
    for (let index = 0; index < THREADS; index += 1) {
      const strategy = index % 2 ? "delete" : "keep_latest";
      const { thread_id } = await one.threads.create({ ttl: { strategy, ttl: 1 } });
      await one.runs.create(thread_id, { assistant_id: "steps", input: { n: 0 } });
      expired.push(thread_id);
    }
    const at = new Date(Date.now() + 120_000).toISOString();
    await Promise.all([one.sweep(at), another.sweep(at)]);
    await Promise.all([one.sweep(at), another.sweep(at)]);
    expect(swept.sort()).toEqual(expired.sort());
  });
}

/** Runs are queued in the database if the settings have a queue, and else by the server that accepts them. */
function keepsRuns(options: () => StorageOptions, settings: Partial<Settings> = {}): void {
  it("a run that another server accepts during a sweep is executed", { timeout: 60_000 }, async () => {
    const storage = await openStorage(options());
    const { threads } = storage;
    let accepted: Run | undefined;
    const held = replacing(threads, {
      delete: async (...args) => {
        accepted ??= await another.runs.background(thread_id, {
          ...{ assistant_id: "steps", input: { n: 0 }, multitask_strategy: "enqueue" },
        });
        return threads.delete(...args);
      },
    });
    const open = async (opened: Storage) => {
      const service = await openService({ graphs: { steps }, settings, storage: opened });
      services.push(service);
      return service;
    };
    const [one, another] = [
      await open({ ...storage, threads: held }),
      await open(await openStorage(options())),
    ];
    const { thread_id } = await one.threads.create({ ttl: 1 });
    await one.sweep(new Date(Date.now() + 120_000).toISOString());
    const { answer } = await one.runs.join(thread_id, accepted!.run_id);
    await answer;
    expect(await one.runs.get(thread_id, accepted!.run_id)).toMatchObject({ status: "success" });
  });
}

withPostgres("two servers on postgres", (postgres) => {
  sweepsOnce(() => postgres.options());
  keepsRuns(() => postgres.options());
  describe("with a queue", () =>
    keepsRuns(() => postgres.options(), { ...postgres.options(), queue: "postgres" }));
});
withMongodb("two servers on mongodb", (mongodb) => {
  sweepsOnce(() => mongodb().options());
  keepsRuns(() => mongodb().options());
});
