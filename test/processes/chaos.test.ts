/** Several servers on one PostgreSQL while processes are killed, frozen or shut down and the database restarts. */
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

  it("no run is lost, every run ends once, and each is complete in its thread", LONG, async () => {
    const verdict = await chaos({ database, seed, ...load });
    expect(verdict.accepted).toBeGreaterThan(50);
    const { lost, unended, state, inFlight } = verdict;
    expect({ lost, unended, state, inFlight }).toEqual({ lost: [], unended: [], state: [], inFlight: [] });
    // Killing or stopping a process fails no run. A database restart may fail runs in flight, with one of
    // these errors.
    const known = /lock was lost|lost the connection/;
    expect(verdict.notSurvived.filter((run) => !known.test(run))).toEqual([]);
  });

  /** The verdict for queued runs: no fault may affect them or their readers. */
  const unharmed = {
    ...{ accepted: 0, notSurvived: [], lost: [], unended: [] },
    ...{ state: [], order: [], inFlight: [], frames: [] },
  };

  it("queued runs survive in order and stream every frame with role all", LONG, async () => {
    const settings = { queue: "postgres", stream: "postgres" } as const;
    const verdict = await chaos({ database, seed, settings, ...load });
    expect(verdict.accepted).toBeGreaterThan(30);
    expect({ ...verdict, accepted: 0 }).toEqual(unharmed);
  });

  it("queued runs survive in order if server clocks differ by up to 30 s", LONG, async () => {
    const settings = { queue: "postgres", stream: "postgres" } as const;
    const verdict = await chaos({ database, seed, settings, ...load, skewSeconds: 30, settleSeconds: 150 });
    expect(verdict.accepted).toBeGreaterThan(30);
    expect({ ...verdict, accepted: 0 }).toEqual(unharmed);
  });

  it("a rolling deploy that renames nodes ends no run as success with a skipped node", LONG, async () => {
    const settings = { queue: "postgres", stream: "postgres" } as const;
    const busy = { ...load, runs: 600, threads: 40, restarts: 0, settleSeconds: 90 };
    const verdict = await chaos({ database, seed, settings, ...busy, isDeploy: true });
    expect(verdict.accepted).toBeGreaterThan(100);
    const { lost, unended, state, order, inFlight } = verdict;
    expect({ lost, unended, state, order, inFlight }).toEqual({
      ...{ lost: [], unended: [], state: [], order: [], inFlight: [] },
    });
    // A run that was killed before the node without a migration is dead, and can be redriven.
    expect(verdict.notSurvived.filter((run) => !/graph "chain" has changed/.test(run))).toEqual([]);
  });

  withRedis("with redis", ({ uri }) => {
    it("queued runs survive in order with 2 api and 4 worker processes", LONG, async () => {
      const settings = { queue: "postgres", stream: "redis", stream_uri: uri } as const;
      const verdict = await chaos({ database, seed, settings, ...load, servers: 6, workers: 4 });
      expect(verdict.accepted).toBeGreaterThan(30);
      expect({ ...verdict, accepted: 0 }).toEqual(unharmed);
    });
  });
});
