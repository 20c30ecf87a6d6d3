/** Several servers on one PostgreSQL while processes are killed, frozen or shut down and the database restarts. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chaos, type ChaosOptions } from "../chaos/chaos.js";
import { installPackage } from "../helpers/compiled.js";
import { noCluster, PostgresCluster } from "../helpers/postgres-cluster.js";
import { withRedis } from "../helpers/redis.js";
import { newSeed } from "../helpers/seeds.js";

const seed = newSeed();
const LONG = { timeout: 400_000 };

describe.skipIf(noCluster)(`runs under faults (seed ${seed})${noCluster ? `: ${noCluster}` : ""}`, () => {
  let database: PostgresCluster;
  let installed: string;
  beforeAll(async () => {
    [database, installed] = await Promise.all([PostgresCluster.start(), installPackage()]);
  }, 120_000);
  afterAll(async () => {
    await database?.stop();
    await rm(installed, { recursive: true, force: true });
  });

  /** A sample; `npm run test:all:chaos` runs 1,000. Runs settle in seconds, unless the machine is busy. */
  const load = { servers: 4, runs: 140, threads: 20, seconds: 18, restarts: 1, settleSeconds: 150 };
  const wreak = (options: Partial<ChaosOptions> = {}) =>
    chaos({ ...load, ...options, database, seed, program: [join(installed, "bin/graph-serve.js")] });

  it("no run is lost, every run ends once, and each is complete in its thread", LONG, async () => {
    const verdict = await wreak();
    expect(verdict.accepted).toBeGreaterThan(30);
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
    const verdict = await wreak({ settings });
    expect(verdict.accepted).toBeGreaterThan(30);
    expect({ ...verdict, accepted: 0 }).toEqual(unharmed);
  });

  it("queued runs survive in order if server clocks differ by up to 30 s", LONG, async () => {
    const settings = { queue: "postgres", stream: "postgres" } as const;
    const verdict = await wreak({ settings, skewSeconds: 30 });
    expect(verdict.accepted).toBeGreaterThan(30);
    expect({ ...verdict, accepted: 0 }).toEqual(unharmed);
  });

  it("a rolling deploy that renames nodes ends no run as success with a skipped node", LONG, async () => {
    const settings = { queue: "postgres", stream: "postgres" } as const;
    const verdict = await wreak({ settings, runs: 300, threads: 40, restarts: 0, isDeploy: true });
    expect(verdict.accepted).toBeGreaterThan(50);
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
      const verdict = await wreak({ settings, servers: 6, workers: 4 });
      expect(verdict.accepted).toBeGreaterThan(20);
      expect({ ...verdict, accepted: 0 }).toEqual(unharmed);
    });
  });
});
