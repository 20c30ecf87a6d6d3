/** P5: ten supersteps on a database, compared with the same graph in process. */
import type { FloorUnit } from "../floor-process.js";
import type { Floor, RunningServer, Stage } from "../processes.js";
import { ratioRow, valueRow, type Row } from "../report.js";
import { compared, measureRounds, type Round } from "../rounds.js";
import { CLIENTS, floorRound, ourRound } from "./throughput.js";

const UNIT: FloorUnit = { graph: "g2", input: { n: 0 } };

export async function databases(goal: string, stage: Stage): Promise<Row[]> {
  const sqlite = await compare(stage, await stage.server("sqlite"), stage.floor());
  const rows = [
    ratioRow([goal, `g2 at ${CLIENTS} clients on SQLite, against memory in process`], sqlite, {
      atLeast: 0.75,
    }),
  ];
  const [server, floor] = [await stage.postgresServer(), await stage.postgresFloor()];
  const saver = await stage.postgresFloor(stage.options.dist);
  if (!server || !floor || !saver) return rows;
  const postgres = await compare(stage, server, floor);
  rows.push(
    ratioRow(
      [goal, `g2 at ${CLIENTS} clients, our saver for PostgreSQL in process, against LangGraph's`],
      await compareSavers(stage, saver, floor),
      { atLeast: 2 },
    ),
    ratioRow([goal, `g2 at ${CLIENTS} clients on PostgreSQL, against LangGraph's saver`], postgres, {
      atLeast: 2,
    }),
    valueRow([goal, "statements per run of g2 on PostgreSQL"], await statements(stage, server), "", {
      atMost: 30,
    }),
  );
  return rows;
}

function compare(stage: Stage, server: RunningServer, floor: Floor) {
  const client = stage.client();
  return rounds(stage, floor, (ms) => ourRound(server, client, UNIT, ms));
}

function compareSavers(stage: Stage, saver: Floor, floor: Floor) {
  return rounds(stage, floor, (ms) => floorRound(saver, UNIT, ms));
}

async function rounds(stage: Stage, floor: Floor, ours: (ms: number) => Promise<Round>) {
  const measured = await measureRounds(stage, { floor: (ms) => floorRound(floor, UNIT, ms), ours });
  return compared("perSecond", measured.ours, measured.floor);
}

/** Statements per run, including the creation of its thread. */
async function statements(stage: Stage, server: RunningServer): Promise<number> {
  const before = await server.call("queries");
  const { units } = await stage.client().call("load", { ...UNIT, url: server.url, clients: 1, units: 50 });
  return ((await server.call("queries")) - before) / units;
}
