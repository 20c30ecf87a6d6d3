/** Q1: cost of the PostgreSQL queue and of shared frames, compared with a server without them. */
import { QUESTION } from "../graphs.js";
import type { Client, RunningServer, Stage } from "../processes.js";
import { ratioRow, type Row, type Target } from "../report.js";
import { median, medianRatio } from "../stats.js";
import { firstEvent } from "./response.js";
import { CLIENTS, ourRound } from "./throughput.js";

/** Number of runs enqueued on one thread. */
const LINE = 24;
const EVENTS = 200;

type Measure = (server: RunningServer) => Promise<number>;

export async function queue(goal: string, stage: Stage): Promise<Row[]> {
  const none = await stage.postgresServer();
  const withQueue = { settings: { queue: "postgres", max_concurrent_runs: CLIENTS } } as const;
  const queued = await stage.postgresServer(withQueue);
  const shared = await stage.postgresServer({ settings: { stream: "postgres" } });
  const redis = await stage.postgresServer({ settings: { stream: "redis", stream_uri: stage.redisUri } });
  if (!none || !queued || !shared || !redis) return [];
  const client = stage.client();
  const { phaseMs, rounds } = stage.options;
  const compare = async (
    what: string,
    unit: string,
    ours: RunningServer,
    measure: Measure,
    target: Target,
    floor = none,
  ) => {
    const figures: { ours: number; floor: number }[] = [];
    for (let round = 0; round <= rounds; round += 1)
      figures.push({ floor: await measure(floor), ours: await measure(ours) });
    // The first round warms up the processes.
    const [own, others] = [figures.slice(1).map((one) => one.ours), figures.slice(1).map((one) => one.floor)];
    const ratio = medianRatio(own, others);
    return ratioRow([goal, what], { ours: median(own), floor: median(others), unit, ratio }, target);
  };
  const perSecond =
    (graph: "g1" | "g3c", input: unknown, stream?: "custom"): Measure =>
    async (server) =>
      (await ourRound(server, client, { graph, input, stream }, phaseMs)).perSecond;
  const events: Measure = async (server) =>
    EVENTS * (await perSecond("g3c", { count: EVENTS }, "custom")(server));
  const inLine: Measure = (server) => server.call("lineUp", { count: LINE });
  const first: Measure = (server) => firstEventOf(client, server, stage.scaled(60, 15));
  const other = await stage.otherServer((dist) => stage.postgresServer(withQueue, dist));
  if (other) {
    const beside = (what: string, unit: string, measure: Measure, target: Target) =>
      compare(`queue against the other revision: ${what}`, unit, queued, measure, target, other);
    return [
      await beside("first event on a free thread", "ms", first, { atMost: 1.2 }),
      await beside(`${LINE} runs enqueued on one thread, each`, "ms", inLine, { atMost: 1.2 }),
      await beside("g1 at 16 clients", "runs/s", perSecond("g1", QUESTION), { atLeast: 0.9 }),
    ];
  }
  return [
    await compare("queue: first event on a free thread", "ms", queued, first, { atMost: 1.25 }),
    await compare(`queue: ${LINE} runs enqueued on one thread, each`, "ms", queued, inLine, {
      atMost: 1.4,
    }),
    await compare("queue: g1 at 16 clients", "runs/s", queued, perSecond("g1", QUESTION), { atLeast: 0.85 }),
    await compare("stream postgres: custom events", "events/s", shared, events, { atLeast: 0.7 }),
    await compare("stream redis: custom events", "events/s", redis, events, { atLeast: 0.7 }),
  ];
}

async function firstEventOf(client: Client, server: RunningServer, count: number): Promise<number> {
  const [times = []] = await client.call("time", { requests: [firstEvent(server, "g1", QUESTION)], count });
  return median(times);
}
