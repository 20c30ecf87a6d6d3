/** P14: memory per retained object. */
import { QUESTION } from "../graphs.js";
import type { RunningServer, Stage } from "../processes.js";
import { valueRow, type Row } from "../report.js";

/** How long frames of ended runs are retained, in ms. */
const FRAMES_KEPT_MS = 5 * 60_000;

export async function memory(goal: string, stage: Stage): Promise<Row[]> {
  const client = stage.client();
  const count = stage.scaled(2000, 400);
  const row = (what: string, kilobytes: number, limit: number) =>
    valueRow([goal, what], kilobytes, "KB", { atMost: limit });

  const server = await stage.server();
  const g1 = { graph: "g1", input: QUESTION, url: server.url, clients: 8 };
  await client.call("load", { ...g1, units: 500 });
  const run = await kept(server, count, () => client.call("load", { ...g1, units: count }));

  const empty = await stage.server();
  await empty.call("createThreads", { count });
  const thread = await kept(empty, count, () => empty.call("createThreads", { count }));

  const waiting = await stage.server();
  const streams = stage.scaled(400, 100);
  await suspend(waiting, 20);
  const suspended = await kept(waiting, streams, () => suspend(waiting, streams));
  const hold = { url: waiting.url, count: streams };
  await client.call("holdStreams", { url: waiting.url, count: 20 });
  const streamed = await kept(waiting, streams, async () => {
    await client.call("holdStreams", hold);
    await reached(waiting, 40 + 2 * streams);
  });
  const [framesKept, framesReleased] = await frames(await stage.server(), stage.scaled(1000, 200));
  return [
    row("a finished run of g1 with its thread", run, 20),
    row("an empty thread", thread, 4),
    row("an idle stream, without its run", streamed - suspended, 25),
    row("a suspended run with its thread", suspended, 100),
    row("frames of an ended run of 200 tokens, for five minutes", framesKept, 60),
    row("the same after five minutes", framesReleased, 2),
  ];
}

/** KB that an ended resumable run holds while its frames are retained, and after they are released. */
async function frames(server: RunningServer, count: number): Promise<[number, number]> {
  await server.call("resumableRuns", { count: 50 });
  await server.call("passTime", { ms: FRAMES_KEPT_MS });
  const before = await server.call("heap");
  const perRun = async () => ((await server.call("heap")) - before) / count / 1024;
  await server.call("resumableRuns", { count });
  const keptFor = await perRun();
  await server.call("passTime", { ms: FRAMES_KEPT_MS });
  return [keptFor, await perRun()];
}

async function kept(server: RunningServer, count: number, make: () => Promise<unknown>): Promise<number> {
  const before = await server.call("heap");
  await make();
  return ((await server.call("heap")) - before) / count / 1024;
}

async function suspend(server: RunningServer, count: number): Promise<void> {
  const { now } = await server.call("inFlight");
  await server.call("suspendRuns", { count });
  await reached(server, now + count);
}

/** Resolves when `count` runs wait inside their graph. */
async function reached(server: RunningServer, count: number): Promise<void> {
  while ((await server.call("inFlight")).now < count);
}
