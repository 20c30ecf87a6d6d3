/** P1 to P4: runs per second and CPU per run, compared with the same graph in process. */
import type { FloorUnit } from "../floor-process.js";
import { QUESTION } from "../graphs.js";
import type { Client, Floor, RunningServer, Stage } from "../processes.js";
import { ratioRow, type Row } from "../report.js";
import { compared, measureRounds, type Round } from "../rounds.js";

export interface Work {
  what: string;
  /** The in-process unit; the server's message stream is called messages-tuple. */
  unit: FloorUnit;
  throughput: number;
  cpu: number;
}

export const WORKS: Record<string, Work> = {
  P1: { what: "g1, one node", unit: { graph: "g1", input: QUESTION }, throughput: 0.6, cpu: 1.9 },
  P2: { what: "g2, ten supersteps", unit: { graph: "g2", input: { n: 0 } }, throughput: 0.85, cpu: 1.25 },
  P3: {
    what: "g3, 200 tokens streamed",
    unit: { graph: "g3", input: QUESTION, stream: "messages" },
    throughput: 1,
    cpu: 1,
  },
  P4: {
    what: "g3c, 200 custom events",
    unit: { graph: "g3c", input: { count: 200 }, stream: "custom" },
    throughput: 0.95,
    cpu: 1.1,
  },
};

export const CLIENTS = 16;

export async function throughput(goal: string, stage: Stage): Promise<Row[]> {
  const work = WORKS[goal];
  if (!work) throw new Error(`${goal} is not a throughput goal`);
  const [server, client, floor] = [await stage.server(), stage.client(), stage.floor()];
  const other = await stage.otherServer();
  const rounds = await measureRounds<string>(stage, {
    floor: (ms) => floorRound(floor, work.unit, ms),
    ours: (ms) => ourRound(server, client, work.unit, ms),
    ...(other && { other: (ms: number) => ourRound(other, client, work.unit, ms) }),
    ...(goal === "P1" && {
      oneRequest: (ms: number) => ourRound(server, client, { ...work.unit, createsThread: true }, ms),
    }),
  });
  const row = (figure: keyof Round, what: string, target: Row["target"], ours = rounds.ours) =>
    ratioRow([goal, `${work.what}: ${what}`], compared(figure, ours ?? [], rounds.floor ?? []), target);
  const { oneRequest } = rounds;
  return [
    row("perSecond", `throughput at ${CLIENTS} clients`, { atLeast: work.throughput }),
    row("cpuPerRun", "CPU per run", { atMost: work.cpu }),
    ...(oneRequest
      ? [row("cpuPerRun", "CPU per run whose request creates its thread", { atMost: 1.5 }, oneRequest)]
      : []),
    ...againstOther([goal, work.what], rounds),
  ];
}

/** The row of `--against`; none without a revision to compare with. */
export function againstOther(
  [goal, what]: [string, string],
  { ours, other }: Partial<Record<"ours" | "other", Round[]>>,
): Row[] {
  if (!ours || !other) return [];
  const figures = compared("cpuPerRun", ours, other);
  return [ratioRow([goal, `${what}: CPU per run, against the other revision`], figures, { atMost: 1.05 })];
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
