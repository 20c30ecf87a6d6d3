/** Two servers that run maintenance on one database at the same time. */
import { afterEach, expect, it, vi } from "vitest";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { openStorage } from "../../src/storage/open.js";
import type { StorageOptions } from "../../src/storage/contract/storage.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { withMongodb } from "../helpers/mongodb.js";
import { withPostgres } from "../helpers/postgres.js";

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

withPostgres("two servers on postgres", (postgres) => sweepsOnce(() => postgres.options()));
withMongodb("two servers on mongodb", (mongodb) => sweepsOnce(() => mongodb().options()));
