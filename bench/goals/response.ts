/** P7 and P8: latency of events, also while other clients keep the server busy. */
import { randomUUID } from "node:crypto";
import type { TimedRequest } from "../client-process.js";
import { QUESTION } from "../graphs.js";
import type { Client, RunningServer, Stage } from "../processes.js";
import { ratioRow, valueRow, type Row } from "../report.js";
import { median, percentile } from "../stats.js";

/** P7: the first event of a stream, and health latency of a server that streams. */
export async function firstEvents(goal: string, stage: Stage): Promise<Row[]> {
  const [server, client] = [await stage.server(), stage.client()];
  const echo: TimedRequest = { url: await server.call("openEcho"), body: QUESTION };
  const requests = [echo, firstEvent(server, "g1", QUESTION), firstEvent(server, "selfish", { count: 0 })];
  await client.call("time", { requests, count: 5 });
  const times = await client.call("time", { requests, count: stage.scaled(100, 15) });
  const [floor = NaN, g1 = NaN, selfish = NaN] = times.map(median);
  const row = (what: string, ours: number) =>
    ratioRow([goal, what], { floor, ours, unit: "ms" }, { atMost: 2 });
  return [
    row("first event of g1, against a POST echo", g1),
    row("first event of a graph that never yields", selfish),
    ...(await firstToken(goal, stage, { server, client })),
    await healthWhileStreaming(goal, stage, server),
  ];
}

/**
 * A model that never waits must not delay its own first token. The floor is what the token cannot do without: the first
 * event of its stream, and the time that the graph takes to its first token in process.
 */
async function firstToken(
  goal: string,
  stage: Stage,
  { server, client }: { server: RunningServer; client: Client },
): Promise<Row[]> {
  const unit = { graph: "g3", input: QUESTION } as const;
  const stream = "messages-tuple";
  const process = stage.floor();
  await process.call("firstChunks", { ...unit, stream: "messages", count: 20 });
  const request = firstEvent(server, unit.graph, unit.input, stream);
  const times: Record<"event" | "token" | "inProcess", number[]> = { event: [], token: [], inProcess: [] };
  // In turns, so that other load on the machine affects all.
  for (let turn = 0; turn < stage.scaled(50, 10); turn += 1) {
    times.event.push(...((await client.call("time", { requests: [request], count: 1 }))[0] ?? []));
    const run = { ...unit, stream, createsThread: true, url: server.url, count: 1 };
    times.token.push(...(await client.call("firstTokens", run)));
    times.inProcess.push(...(await process.call("firstChunks", { ...unit, stream: "messages", count: 1 })));
  }
  const [event, token, inProcess] = [times.event, times.token, times.inProcess].map(median) as [
    number,
    number,
    number,
  ];
  const row = (what: string, floor: number, target: Row["target"]) =>
    ratioRow(
      [goal, `first token of a model that never waits, at one client, against ${what}`],
      { floor, ours: token, unit: "ms" },
      target,
    );
  return [
    row("the first event and the graph's first token in process", event + inProcess, { atMost: 1.25 }),
    row("the first event", event, { atMost: 2 }),
  ];
}

async function healthWhileStreaming(goal: string, stage: Stage, server: RunningServer): Promise<Row> {
  const [streams, probe] = [stage.client(), stage.client()];
  const health = { url: `${server.url}/api/health`, everyMs: 5 };
  await probe.call("poll", { ...health, ms: 500 });
  const ms = stage.options.phaseMs;
  const unit = { graph: "g3", input: QUESTION, stream: "messages-tuple" };
  const load = streams.call("load", { ...unit, url: server.url, clients: 8, ms: ms + 1000 });
  const times = await probe.call("poll", { ...health, ms });
  await load;
  return valueRow([goal, "health p99 while eight g3 streams run"], percentile(times, 0.99), "ms", {
    atMost: 25,
  });
}

/** A stream on a new thread, timed until its first event. */
export function firstEvent(
  server: RunningServer,
  graph: string,
  input: unknown,
  stream_mode = "custom",
): TimedRequest {
  const url = `${server.url}/threads/${randomUUID()}/runs/stream`;
  const body = { assistant_id: graph, input, stream_mode, if_not_exists: "create" };
  return { url, body, untilFirstBytes: true };
}

/** P8: latency that serving adds to an event written every 20 ms. */
export async function pacedEvents(goal: string, stage: Stage): Promise<Row[]> {
  const [server, client, floor] = [await stage.server(), stage.client(), stage.floor()];
  const count = stage.scaled(100, 25);
  await client.call("pace", { url: server.url, clients: 8, count: 10 });
  await floor.call("pace", { clients: 8, count: 10 });
  const added = async (clients: number, limit: number): Promise<Row> => {
    const own = median(await floor.call("pace", { clients, count }));
    const ours = median(await client.call("pace", { url: server.url, clients, count }));
    const what = `latency added to a paced event, p50 at ${clients}`;
    return valueRow([goal, what], ours - own, "ms", { atMost: limit });
  };
  const rows = [await added(1, 0.5), await added(64, 1)];
  const { peak } = await server.call("inFlight");
  return [...rows, valueRow([goal, "runs in parallel, of 64 started"], peak, "runs", { atLeast: 64 })];
}
