/** peer: CPU per run of LangGraph's own development server, next to this server and the graph in process. */
import { startPeer } from "../peer-server.js";
import type { FloorUnit } from "../floor-process.js";
import type { Client, Stage } from "../processes.js";
import { ratioRow, type Row } from "../report.js";
import { compared, measureRounds, type Round } from "../rounds.js";
import { CLIENTS, floorRound, WORKS } from "./throughput.js";

/** The goals whose work both servers do. */
const COMPARED = ["P1", "P2", "P3"];

interface Measured {
  url: string;
  cpu: () => Promise<number>;
}

export async function peer(goal: string, stage: Stage): Promise<Row[]> {
  const other = await startPeer(await stage.file("peer"), ["g1", "g2", "g3"]);
  try {
    const [server, client, floor] = [await stage.server(), stage.client(), stage.floor()];
    const ours = { url: server.url, cpu: () => server.call("cpu") };
    const theirs = { url: other.url, cpu: async () => other.group.cpuMs() };
    const rows: Row[] = [];
    for (const name of COMPARED) {
      const { what, unit } = WORKS[name] ?? { what: name, unit: { graph: "g1", input: {} } as const };
      const rounds = await measureRounds(stage, {
        floor: (ms) => floorRound(floor, unit, ms),
        ours: (ms) => roundOf(ours, client, unit, ms),
        theirs: (ms) => roundOf(theirs, client, unit, ms),
      });
      const row = (whose: string, side: keyof typeof rounds, to: keyof typeof rounds, atMost: number) =>
        ratioRow([goal, `${what}: CPU per run, ${whose}`], compared("cpuPerRun", rounds[side], rounds[to]), {
          atMost,
        });
      rows.push(
        row("this server against in process", "ours", "floor", 3),
        row("LangGraph's server against in process", "theirs", "floor", Infinity),
        row("this server against LangGraph's", "ours", "theirs", 0.7),
      );
    }
    return rows;
  } finally {
    await other.group.stop();
  }
}

/** The interface that both servers have: a thread, then a run that is awaited or streamed. */
async function roundOf({ url, cpu }: Measured, client: Client, unit: FloorUnit, ms: number): Promise<Round> {
  const stream = unit.stream === "messages" ? "messages-tuple" : unit.stream;
  const before = await cpu();
  const done = await client.call("load", { ...unit, stream, url, clients: CLIENTS, ms, isShared: true });
  return { perSecond: (done.units / done.ms) * 1000, cpuPerRun: ((await cpu()) - before) / done.units };
}
