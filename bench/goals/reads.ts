/** P9, P10 and P12: read times do not grow with the amount of stored data. */
import type { TimedRequest } from "../client-process.js";
import type { OpenArguments } from "../server-process.js";
import type { Client, RunningServer, Stage } from "../processes.js";
import { ratioRow, valueRow, type Row } from "../report.js";
import { median } from "../stats.js";

const SCHEMES: readonly OpenArguments["scheme"][] = ["memory", "sqlite", "postgres"];

const serverOn = (stage: Stage, scheme: OpenArguments["scheme"]): Promise<RunningServer | undefined> =>
  scheme === "postgres" ? stage.postgresServer() : stage.server(scheme);

/** A run of g2 leaves twelve checkpoints. */
const RUN = { graph: "g2", input: { n: 0 } } as const;
const LONG = { ...RUN, runs: 84 };
const SHORT = { ...RUN, runs: 1 };

/** Median milliseconds of the first and of the second request. */
export async function pair(client: Client, requests: [TimedRequest, TimedRequest], count: number) {
  await client.call("time", { requests, count: Math.ceil(count / 5) });
  const [floor = NaN, ours = NaN] = (await client.call("time", { requests, count })).map(median);
  return { floor, ours, unit: "ms" };
}

const history = (server: RunningServer, thread: string, limit: number): TimedRequest => ({
  url: `${server.url}/threads/${thread}/history`,
  body: { limit },
});

const state = (server: RunningServer, thread: string): TimedRequest => ({
  method: "GET",
  url: `${server.url}/threads/${thread}/state`,
});

/** P9: a thread with 1,000 checkpoints. */
export async function longThreads(goal: string, stage: Stage): Promise<Row[]> {
  const rows: Row[] = [];
  const client = stage.client();
  const count = stage.scaled(300, 50);
  for (const scheme of SCHEMES) {
    const server = await serverOn(stage, scheme);
    if (!server) continue;
    const short = await server.call("createHistory", SHORT);
    const long = await server.call("createHistory", LONG);
    const row = async (what: string, request: (thread: string) => TimedRequest) =>
      ratioRow(
        [goal, `${what} at 1,000 checkpoints, against 10: ${scheme}`],
        await pair(client, [request(short), request(long)], count),
        { atMost: 1.2 },
      );
    rows.push(await row("history 10", (thread) => history(server, thread, 10)));
    rows.push(await row("state", (thread) => state(server, thread)));
    if (scheme === "memory") rows.push(await wholeHistory(goal, stage, server, long));
  }
  return rows;
}

async function wholeHistory(goal: string, stage: Stage, server: RunningServer, long: string): Promise<Row> {
  const [client, floor] = [stage.client(), stage.floor()];
  const thread = await floor.call("createHistory", LONG);
  const [own, ours]: number[][] = [[], []];
  for (let round = 0; round <= stage.options.rounds; round += 1) {
    const count = stage.scaled(15, 3);
    const floorTimes = await floor.call("timeHistory", { graph: "g2", thread, limit: 1000, count });
    const [times = []] = await client.call("time", { requests: [history(server, long, 1000)], count });
    if (round === 0) continue;
    own?.push(...floorTimes);
    ours?.push(...times);
  }
  const figures = { floor: median(own ?? []), ours: median(ours ?? []), unit: "ms" };
  return ratioRow([goal, "history 1000, against in process"], figures, { atMost: 1.1 });
}

/** P10: one page of a search over many threads. */
export async function search(goal: string, stage: Stage): Promise<Row[]> {
  const rows: Row[] = [];
  const client = stage.client();
  const many = stage.scaled(10_000);
  const pages = {
    "the newest": () => ({}),
    "by metadata": () => ({ metadata: { team: "team 3" } }),
    "by creation": () => ({ sort_by: "created_at" }),
    "the last page": (threads: number) => ({ offset: threads - 10 }),
  };
  for (const scheme of SCHEMES) {
    const [small, large] = [await serverOn(stage, scheme), await serverOn(stage, scheme)];
    if (!small || !large) continue;
    await small.call("createConversations", { count: 100 });
    await large.call("createConversations", { count: many });
    for (const [name, body] of Object.entries(pages)) {
      const request = (server: RunningServer, threads: number): TimedRequest => ({
        url: `${server.url}/threads/search`,
        body: { limit: 10, ...body(threads) },
      });
      const figures = await pair(client, [request(small, 100), request(large, many)], stage.scaled(200, 40));
      const what = `search 10 of ${many.toLocaleString("en")} threads, ${name}, against 100: ${scheme}`;
      rows.push(ratioRow([goal, what], figures, { atMost: 1.5 }));
    }
  }
  return rows;
}

const MEGABYTE = 1024 * 1024;

/** P12: a state of 1 MB. */
export async function largeStates(goal: string, stage: Stage): Promise<Row[]> {
  const [server, client, floor] = [await stage.server(), stage.client(), stage.floor()];
  const run = { graph: "big", input: { size: MEGABYTE }, runs: 1 } as const;
  const [ourThread, thread] = [
    await server.call("createHistory", run),
    await floor.call("createHistory", run),
  ];
  const [own, ours]: [number[], number[]] = [[], []];
  for (let round = 0; round <= stage.options.rounds; round += 1) {
    const count = stage.scaled(50, 10);
    const floorTimes = await floor.call("timeState", { graph: "big", thread, count });
    const [times = []] = await client.call("time", { requests: [state(server, ourThread)], count });
    if (round === 0) continue;
    own.push(...floorTimes);
    ours.push(...times);
  }
  const figures = { floor: median(own), ours: median(ours), unit: "ms" };
  return [
    ratioRow([goal, "GET state of 1 MB, against getState and JSON"], figures, { atMost: 1.3 }),
    await healthGap(goal, stage, server),
  ];
}

async function healthGap(goal: string, stage: Stage, server: RunningServer): Promise<Row> {
  const [client, probe] = [stage.client(), stage.client()];
  const health = { url: `${server.url}/api/health`, everyMs: 1 };
  await probe.call("poll", { ...health, ms: 300 });
  const unit = { graph: "big", input: { size: MEGABYTE }, url: server.url };
  let isDone = false;
  const load = client.call("load", { ...unit, clients: 25, units: 25 }).finally(() => (isDone = true));
  const gaps: number[] = [];
  while (!isDone) gaps.push(...(await probe.call("poll", { ...health, ms: 200 })));
  await load;
  const what = "largest health gap while 25 runs of 1 MB settle";
  return valueRow([goal, what], Math.max(...gaps), "ms", { atMost: 50 });
}
