import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GraphServeError } from "../../src/support/errors.js";
import { silentLogger } from "../../src/support/log.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { noCluster, PostgresCluster } from "../helpers/postgres-cluster.js";

if (noCluster) process.stderr.write(`The restart of PostgreSQL is not tested: ${noCluster}.\n`);
const title = `a restart of postgres${noCluster ? ` (skipped: ${noCluster})` : ""}`;

describe.skipIf(noCluster)(title, () => {
  let cluster: PostgresCluster;
  let service: Service;
  beforeAll(async () => {
    cluster = await PostgresCluster.start();
    service = await openService({
      graphs: { steps },
      settings: { checkpointer_scheme: "postgres", checkpointer_uri: cluster.uri },
      logger: silentLogger,
    });
  });
  afterAll(async () => {
    await service?.close(0);
    await cluster?.stop();
  });

  const run = async (): Promise<string> => {
    const { thread_id } = await service.threads.create({});
    const { status } = await service.runs.create(thread_id, { assistant_id: "steps", input: { n: 0 } });
    return `${thread_id} ${status}`;
  };

  it("acknowledged runs are kept and the service recovers", { timeout: 90_000 }, async () => {
    const ended: string[] = [];
    const faults: unknown[] = [];
    let isLoaded = true;
    const load = Array.from({ length: 8 }, async () => {
      while (isLoaded)
        await run().then(
          (end) => ended.push(end),
          (error: unknown) => faults.push(error),
        );
    });
    await expect.poll(() => ended.length, { timeout: 30_000 }).toBeGreaterThan(20);
    await cluster.restart();
    const before = ended.length;
    await expect.poll(() => ended.length, { timeout: 30_000 }).toBeGreaterThan(before + 20);
    isLoaded = false;
    await Promise.all(load);
    for (const fault of faults) expect(fault).toBeInstanceOf(GraphServeError);
    expect(await run()).toMatch(/success$/);
    for (const end of ended) {
      const [thread_id = "", status] = end.split(" ");
      if (status !== "success") continue;
      expect((await service.state.get(thread_id)).values).toMatchObject({ n: 10 });
      expect((await service.threads.get(thread_id)).status).toBe("idle");
    }
    await expect.poll(() => service.threads.count({ status: "busy" }), { timeout: 20_000 }).toBe(0);
  });
});
