/** P1 to P4: runs per second and CPU per run, compared with the same graph in process. */
import type { FloorUnit } from "../floor-process.js";
import { QUESTION } from "../graphs.js";
import type { Client, Floor, RunningServer, Stage } from "../processes.js";
import { ratioRow, type Row } from "../report.js";
import { median, medianRatio } from "../stats.js";

interface Work {
  what: string;
  /** The in-process unit; the server's message stream is called messages-tuple. */
  unit: FloorUnit;
  throughput: number;
  cpu: number;
}

export const WORKS: Record<string, Work> = {
  P1: { what: "g1, one node", unit: { graph: "g1", input: QUESTION }, throughput: 0.7, cpu: 1.45 },
  P2: { what: "g2, ten supersteps", unit: { graph: "g2", input: { n: 0 } }, throughput: 0.88, cpu: 1.12 },
  P3: {
    what: "g3, 200 tokens streamed",
    unit: { graph: "g3", input: QUESTION, stream: "messages" },
    throughput: 1,
    cpu: 1,
  },
  P4: {
    what: "g3c, 200 custom events",
    unit: { graph: "g3c", input: { count: 200 }, stream: "custom" },
    throughput: 0.85,
    cpu: 1.2,
  },
};

export const CLIENTS = 16;

export interface Round {
  perSecond: number;
  cpuPerRun: number;
}

export async function throughput(goal: string, stage: Stage): Promise<Row[]> {
  const work = WORKS[goal];
  if (!work) throw new Error(`${goal} is not a throughput goal`);
  const { options } = stage;
  const [server, client, floor] = [await stage.server(), stage.client(), stage.floor()];
  const other = await stage.otherServer();
  const rounds: { ours: Round; floor: Round; other?: Round; oneRequest?: Round }[] = [];
  // The first round warms up the processes: the engine keeps recompiling the busiest functions at first.
  for (let round = 0; round <= options.rounds; round += 1) {
    const ms = round === 0 ? 2 * options.phaseMs : options.phaseMs;
    rounds.push({
      floor: await floorRound(floor, work.unit, ms),
      ours: await ourRound(server, client, work.unit, ms),
      other: other && (await ourRound(other, client, work.unit, ms)),
      ...(goal === "P1" && {
        oneRequest: await ourRound(server, client, { ...work.unit, createsThread: true }, ms),
      }),
    });
  }
  const [, ...counted] = rounds;
  const figures = (side: "ours" | "floor" | "other" | "oneRequest", figure: keyof Round) =>
    counted.map((round) => round[side]?.[figure] ?? NaN);
  const row = (
    figure: keyof Round,
    unit: string,
    what: string,
    to: "floor" | "other" = "floor",
    side: "ours" | "oneRequest" = "ours",
  ) => {
    const [ours, base] = [figures(side, figure), figures(to, figure)];
    return [
      [goal, `${work.what}: ${what}`] as [string, string],
      { ours: median(ours), floor: median(base), unit, ratio: medianRatio(ours, base) },
    ] as const;
  };
  return [
    ratioRow(...row("perSecond", "runs/s", `throughput at ${CLIENTS} clients`), { atLeast: work.throughput }),
    ratioRow(...row("cpuPerRun", "ms", "CPU per run"), { atMost: work.cpu }),
    ...(goal === "P1"
      ? [
          ratioRow(
            ...row("cpuPerRun", "ms", "CPU per run whose request creates its thread", "floor", "oneRequest"),
            {
              atMost: 1.5,
            },
          ),
        ]
      : []),
    ...(other
      ? [
          ratioRow(...row("cpuPerRun", "ms", "CPU per run, against the other revision", "other"), {
            atMost: 1.05,
          }),
        ]
      : []),
  ];
}

export async function floorRound(floor: Floor, unit: FloorUnit, ms: number): Promise<Round> {
  const done = await floor.call("load", { ...unit, clients: CLIENTS, ms });
  return { perSecond: (done.units / done.ms) * 1000, cpuPerRun: done.cpuMs / done.units };
}

export async function ourRound(
  server: RunningServer,
  client: Client,
  unit: FloorUnit & { createsThread?: boolean },
  ms: number,
): Promise<Round> {
  const stream = unit.stream === "messages" ? "messages-tuple" : unit.stream;
  const cpu = await server.call("cpu");
  const done = await client.call("load", { ...unit, stream, url: server.url, clients: CLIENTS, ms });
  const used = (await server.call("cpu")) - cpu;
  return { perSecond: (done.units / done.ms) * 1000, cpuPerRun: used / done.units };
}
