/**
 * Clients of two servers send any operations on the same threads at once: nothing fails or waits forever, and each thread
 * has exactly what its runs and edits were acknowledged to have written.
 */
import { it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { openStorage } from "../../src/storage/open.js";
import { randomOf } from "../chaos/random.js";
import { graph as marks } from "../fixtures/graphs/marks.js";
import { serve } from "../helpers/app.js";
import { type Backend, onMongodb } from "../helpers/backends.js";
import { withPostgres } from "../helpers/postgres.js";
import { RandomClients } from "../helpers/random-clients.js";
import { newSeed } from "../helpers/seeds.js";
import { openTestService } from "../helpers/service.js";

const OPERATIONS = 400;

function declareTests(backend: () => Pick<Backend, "settings">, own: Partial<Settings> = {}): void {
  const seed = newSeed();
  it(`keep threads consistent (seed ${seed})`, async () => {
    const open = async () => {
      const settings = { ...backend().settings, max_queued_runs: 10, ...own };
      const storage = await openStorage({ ...backend().settings, max_queued_runs: 10 });
      return serve(await openTestService({ graphs: { marks }, settings, storage }));
    };
    const clients = new RandomClients({ servers: [await open(), await open()], random: randomOf(seed) });
    await clients.send(OPERATIONS);
    await clients.check(30_000);
  });
}

withPostgres("operations of two servers, on postgres", (postgres) =>
  declareTests(() => ({ settings: postgres.options() })),
);
withPostgres("operations of two servers, with queue postgres", (postgres) =>
  declareTests(() => ({ settings: postgres.options() }), { queue: "postgres", stream: "postgres" }),
);
onMongodb("operations of two servers", (backend) => declareTests(backend));
