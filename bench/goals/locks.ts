/** L1: cost of cross-process thread locks for P1's run on PostgreSQL, compared with process-local locks. */
import type { FloorUnit } from "../floor-process.js";
import { QUESTION } from "../graphs.js";
import type { Stage } from "../processes.js";
import { ratioRow, type Row } from "../report.js";
import { compared, measureRounds, type Round } from "../rounds.js";
import { CLIENTS, ourRound } from "./throughput.js";

const UNIT: FloorUnit = { graph: "g1", input: QUESTION };

export async function locks(goal: string, stage: Stage): Promise<Row[]> {
  const [shared, single] = [await stage.postgresServer(), await stage.postgresServer({ ownLocks: true })];
  if (!shared || !single) return [];
  const client = stage.client();
  const { ours, floor } = await measureRounds(stage, {
    floor: (ms) => ourRound(single, client, UNIT, ms),
    ours: (ms) => ourRound(shared, client, UNIT, ms),
  });
  const row = (figure: keyof Round, what: string, target: Row["target"]) =>
    ratioRow(
      [goal, `locks across processes, g1 on PostgreSQL: ${what}`],
      compared(figure, ours, floor),
      target,
    );
  return [
    row("perSecond", `throughput at ${CLIENTS} clients`, { atLeast: 0.85 }),
    row("cpuPerRun", "CPU per run", { atMost: 1.15 }),
  ];
}
