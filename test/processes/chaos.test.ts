/** Several servers on one PostgreSQL while processes are killed, stand still or are told to end, and the database fails. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chaos } from "../chaos/chaos.js";
import { noCluster, PostgresCluster } from "../helpers/postgres-cluster.js";
import { newSeed } from "../helpers/seeds.js";

const seed = newSeed();

describe.skipIf(noCluster)(`runs under faults (seed ${seed})${noCluster ? `: ${noCluster}` : ""}`, () => {
  let database: PostgresCluster;
  beforeAll(async () => {
    database = await PostgresCluster.start();
  }, 120_000);
  afterAll(() => database?.stop());

  const load = { servers: 4, runs: 200, threads: 20, seconds: 30, restarts: 1, settleSeconds: 120 };

  it("are not lost, end once, and are whole in their threads", { timeout: 400_000 }, async () => {
    const verdict = await chaos({ database, seed, ...load });
    expect(verdict.accepted).toBeGreaterThan(50);
    const { lost, unended, state, inFlight } = verdict;
    expect({ lost, unended, state, inFlight }).toEqual({ lost: [], unended: [], state: [], inFlight: [] });
    // A process that dies or is told to end takes no run along. A database that goes away now and then does, and it is said.
    const known = /lock was lost|lost the connection/;
    expect(verdict.notSurvived.filter((run) => !known.test(run))).toEqual([]);
  });

  it.each([
    { roles: "all", servers: 4, workers: 0 },
    { roles: "2 api, 4 worker", servers: 6, workers: 4 },
  ])(
    "that wait in a queue also keep their order, and survive: $roles",
    { timeout: 400_000 },
    async (roles) => {
      const settings = { queue: "postgres", stream: "postgres" } as const;
      const few = { ...load, runs: 120, seconds: 24, restarts: 0 };
      const verdict = await chaos({ database, seed, settings, ...few, ...roles });
      expect(verdict.accepted).toBeGreaterThan(30);
      // The last frames before a kill may not have left the process.
      expect({ ...verdict, accepted: 0, frames: [] }).toEqual({
        ...{ accepted: 0, notSurvived: [], lost: [], unended: [] },
        ...{ state: [], order: [], inFlight: [], frames: [] },
      });
    },
  );
});
