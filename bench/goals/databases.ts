/** P5: ten supersteps on a database, compared with the same graph in process. */
import type { FloorUnit } from "../floor-process.js";
import type { Floor, RunningServer, Stage } from "../processes.js";
import { ratioRow, valueRow, type Row } from "../report.js";
import { compared, measureRounds, type Round } from "../rounds.js";
import { againstOther, CLIENTS, floorRound, ourRound } from "./throughput.js";

const UNIT: FloorUnit = { graph: "g2", input: { n: 0 } };

/** The servers on one kind of database, and what they are compared with. */
interface Sides {
  on: string;
  ours: RunningServer;
  /** The server of another revision. */
  other?: RunningServer;
  floor: Floor;
  floorIs: string;
  throughput: number;
  cpu: number;
}

export async function databases(goal: string, stage: Stage): Promise<Row[]> {
  const rows = await compare(goal, stage, {
    on: "SQLite",
    ours: await stage.server("sqlite"),
    other: await stage.otherServer((dist) => stage.server("sqlite", undefined, dist)),
    floor: stage.floor(),
    floorIs: "memory in process",
    throughput: 0.75,
    cpu: 1.5,
  });
  const [ours, floor] = [await stage.postgresServer(), await stage.postgresFloor()];
  const saver = await stage.postgresFloor(stage.options.dist);
  if (!ours || !floor || !saver) return rows;
  rows.push(
    ratioRow(
      [goal, `g2 at ${CLIENTS} clients, our saver for PostgreSQL in process, against LangGraph's`],
      await compareSavers(stage, saver, floor),
      { atLeast: 2 },
    ),
    ...(await compare(goal, stage, {
      on: "PostgreSQL",
      ours,
      other: await stage.otherServer((dist) => stage.postgresServer({}, dist)),
      floor,
      floorIs: "LangGraph's saver in process",
      throughput: 2,
      cpu: 1.03,
    })),
    valueRow([goal, "statements per run of g2 on PostgreSQL"], await statements(stage, ours), "", {
      atMost: 30,
    }),
  );
  return rows;
}

async function compare(goal: string, stage: Stage, sides: Sides): Promise<Row[]> {
  const { on, ours, other, floor, floorIs } = sides;
  const client = stage.client();
  const rounds = await measureRounds<string>(stage, {
    floor: (ms) => floorRound(floor, UNIT, ms),
    ours: (ms) => ourRound(ours, client, UNIT, ms),
    ...(other && { other: (ms: number) => ourRound(other, client, UNIT, ms) }),
  });
  const what = `g2 on ${on}`;
  const row = (figure: keyof Round, measured: string, target: Row["target"]) =>
    ratioRow([goal, `${what}: ${measured}`], compared(figure, rounds.ours ?? [], rounds.floor ?? []), target);
  return [
    row("perSecond", `throughput at ${CLIENTS} clients, against ${floorIs}`, { atLeast: sides.throughput }),
    row("cpuPerRun", `CPU per run, against ${floorIs}`, { atMost: sides.cpu }),
    ...againstOther([goal, what], rounds),
  ];
}

async function compareSavers(stage: Stage, saver: Floor, floor: Floor) {
  const measured = await measureRounds(stage, {
    floor: (ms) => floorRound(floor, UNIT, ms),
    ours: (ms) => floorRound(saver, UNIT, ms),
  });
  return compared("perSecond", measured.ours, measured.floor);
}

/** Statements per run, including the creation of its thread. */
async function statements(stage: Stage, server: RunningServer): Promise<number> {
  const before = await server.call("queries");
  const { units } = await stage.client().call("load", { ...UNIT, url: server.url, clients: 1, units: 50 });
  return ((await server.call("queries")) - before) / units;
}
