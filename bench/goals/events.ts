/** E1: 200 tokens streamed over thread events, compared with run streams on the same server. */
import { QUESTION } from "../graphs.js";
import type { Client, RunningServer, Stage } from "../processes.js";
import { ratioRow, type Row } from "../report.js";
import { median, medianRatio } from "../stats.js";
import { CLIENTS } from "./throughput.js";

/** What the client hooks of each protocol request. */
const OLDER = { graph: "g3", input: QUESTION, stream: ["values", "messages-tuple"] };
const CHANNELS = ["values", "checkpoints", "lifecycle", "input", "messages", "tools"];
const NEWER = { ...OLDER, stream: undefined, channels: CHANNELS };

type Unit = typeof OLDER | typeof NEWER;

export async function events(goal: string, stage: Stage): Promise<Row[]> {
  const [server, client] = [await stage.server(), stage.client()];
  const { rounds, phaseMs } = stage.options;
  const cpu: { older: number; newer: number }[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const ms = round === 0 ? 2 * phaseMs : phaseMs;
    cpu.push({
      older: await cpuPerRun(server, client, OLDER, ms),
      newer: await cpuPerRun(server, client, NEWER, ms),
    });
  }
  const [, ...counted] = cpu;
  const count = stage.scaled(100, 15);
  const first = async (unit: Unit) =>
    median(await client.call("firstTokens", { ...unit, url: server.url, count }));
  await first(OLDER).then(() => first(NEWER));
  const [older, newer] = [counted.map((each) => each.older), counted.map((each) => each.newer)];
  const ratio = medianRatio(newer, older);
  return [
    ratioRow(
      [goal, "200 tokens by thread events, against the run stream: CPU per run"],
      { ours: median(newer), floor: median(older), unit: "ms", ratio },
      { atMost: 1.25 },
    ),
    ratioRow(
      [goal, "the same: the first token"],
      { ours: await first(NEWER), floor: await first(OLDER), unit: "ms" },
      { atMost: 2 },
    ),
  ];
}

async function cpuPerRun(server: RunningServer, client: Client, unit: Unit, ms: number): Promise<number> {
  const cpu = await server.call("cpu");
  const done = await client.call("load", { ...unit, url: server.url, clients: CLIENTS, ms });
  return ((await server.call("cpu")) - cpu) / done.units;
}
