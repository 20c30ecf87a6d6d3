/** Several servers on one PostgreSQL while processes are killed, stand still or are told to end, and the database fails. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chaos } from "../chaos/chaos.js";
import { noCluster, PostgresCluster } from "../helpers/postgres-cluster.js";
import { withRedis } from "../helpers/redis.js";
import { newSeed } from "../helpers/seeds.js";

const seed = newSeed();
const LONG = { timeout: 400_000 };

describe.skipIf(noCluster)(`runs under faults (seed ${seed})${noCluster ? `: ${noCluster}` : ""}`, () => {
  let database: PostgresCluster;
  beforeAll(async () => {
    database = await PostgresCluster.start();
  }, 120_000);
  afterAll(() => database?.stop());

  const load = { servers: 4, runs: 200, threads: 20, seconds: 30, restarts: 1, settleSeconds: 30 };

  it("are not lost, end once, and are whole in their threads", LONG, async () => {
    const verdict = await chaos({ database, seed, ...load });
    expect(verdict.accepted).toBeGreaterThan(50);
    const { lost, unended, state, inFlight } = verdict;
    expect({ lost, unended, state, inFlight }).toEqual({ lost: [], unended: [], state: [], inFlight: [] });
    // A process that dies or is told to end takes no run along. A database that goes away now and then does, and it is said.
    const known = /lock was lost|lost the connection/;
    expect(verdict.notSurvived.filter((run) => !known.test(run))).toEqual([]);
  });

  /** What a fault may do to no run that waits in a queue, nor to its readers. */
  const unharmed = {
    ...{ accepted: 0, notSurvived: [], lost: [], unended: [] },
    ...{ state: [], order: [], inFlight: [], frames: [] },
  };

  it("that wait in a queue also keep their order, survive, and are told whole: all", LONG, async () => {
    const settings = { queue: "postgres", stream: "postgres" } as const;
    const verdict = await chaos({ database, seed, settings, ...load });
    expect(verdict.accepted).toBeGreaterThan(30);
    expect({ ...verdict, accepted: 0 }).toEqual(unharmed);
  });

  it(
    "that wait in a queue do so too where the clocks of the servers differ by up to 30 s",
    LONG,
    async () => {
      const settings = { queue: "postgres", stream: "postgres" } as const;
      const verdict = await chaos({ database, seed, settings, ...load, skewSeconds: 30, settleSeconds: 150 });
      expect(verdict.accepted).toBeGreaterThan(30);
      expect({ ...verdict, accepted: 0 }).toEqual(unharmed);
    },
  );

  withRedis("with redis", ({ uri }) => {
    it("that wait in a queue do so with roles too: 2 api, 4 worker", LONG, async () => {
      const settings = { queue: "postgres", stream: "redis", stream_uri: uri } as const;
      const verdict = await chaos({ database, seed, settings, ...load, servers: 6, workers: 4 });
      expect(verdict.accepted).toBeGreaterThan(30);
      expect({ ...verdict, accepted: 0 }).toEqual(unharmed);
    });
  });
});
