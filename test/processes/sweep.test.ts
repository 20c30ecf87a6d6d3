/** Two servers that run maintenance on one database at the same time. */
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import type { Run } from "../../src/models/run.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { openStorage } from "../../src/storage/open.js";
import type { Storage, StorageOptions } from "../../src/storage/contract/storage.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { serve, type TestServer } from "../helpers/app.js";
import { withMongodb } from "../helpers/mongodb.js";
import { withPostgres } from "../helpers/postgres.js";
import { replacing } from "../helpers/refusing.js";
import { openTestService } from "../helpers/service.js";
import { openEvents } from "../helpers/thread-events.js";

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

/** The stream of a thread's runs and that of its events. */
async function readersOn(server: TestServer, threadId: string): Promise<Promise<unknown>[]> {
  const runs = await server.fetch("GET", `/threads/${threadId}/stream`);
  expect(runs.status).toBe(200);
  return [runs.text(), (await openEvents(server, threadId)).ended];
}

/** Without the end of a stream, the test times out. */
function endsReaders(options: () => StorageOptions): void {
  const remove = {
    sweep: ({ service }: TestServer) => service.sweep(new Date(Date.now() + 120_000).toISOString()),
    "DELETE /threads/{thread_id}": (server: TestServer, id: string) =>
      server.request("DELETE", `/threads/${id}`),
  };
  for (const [name, by] of Object.entries(remove)) {
    it(`a ${name} ends the streams of the thread on every server`, { timeout: 30_000 }, async () => {
      const open = async () =>
        serve(await openTestService({ graphs: { steps }, storage: await openStorage(options()) }));
      const [one, another] = [await open(), await open()];
      const [{ thread_id }, kept] = [
        await one.service.threads.create({ ttl: 1 }),
        await one.service.threads.create({}),
      ];
      await one.service.runs.create(thread_id, { assistant_id: "steps", input: { n: 0 } });
      const readers = [...(await readersOn(one, thread_id)), ...(await readersOn(another, thread_id))];
      let hasEnded = false;
      void (await openEvents(another, kept.thread_id)).ended.then(() => (hasEnded = true));
      await by(one, thread_id);
      await Promise.all(readers);
      expect(hasEnded).toBe(false);
    });
  }
}

withPostgres("two servers on postgres", (postgres) => {
  sweepsOnce(() => postgres.options());
  keepsRuns(() => postgres.options());
  endsReaders(() => postgres.options());
  describe("with a queue", () =>
    keepsRuns(() => postgres.options(), { ...postgres.options(), queue: "postgres" }));
});
withMongodb("two servers on mongodb", (mongodb) => {
  sweepsOnce(() => mongodb().options());
  keepsRuns(() => mongodb().options());
  endsReaders(() => mongodb().options());
});
