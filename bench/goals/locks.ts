/** L1: cost of cross-process thread locks for P1's run on PostgreSQL, compared with process-local locks. */
import type { FloorUnit } from "../floor-process.js";
import { QUESTION } from "../graphs.js";
import type { Stage } from "../processes.js";
import { ratioRow, type Row } from "../report.js";
import { median, medianRatio } from "../stats.js";
import { CLIENTS, ourRound, type Round } from "./throughput.js";

const UNIT: FloorUnit = { graph: "g1", input: QUESTION };

export async function locks(goal: string, stage: Stage): Promise<Row[]> {
  const [shared, single] = [await stage.postgresServer(), await stage.postgresServer({ ownLocks: true })];
  if (!shared || !single) return [];
  const client = stage.client();
  const rounds: { ours: Round; floor: Round }[] = [];
  for (let round = 0; round <= stage.options.rounds; round += 1) {
    const ms = stage.options.phaseMs * (round === 0 ? 2 : 1);
    const floor = await ourRound(single, client, UNIT, ms);
    const ours = await ourRound(shared, client, UNIT, ms);
    // The first round warms up the processes.
    if (round > 0) rounds.push({ ours, floor });
  }
  const row = (figure: keyof Round, unit: string, what: string, target: Row["target"]) => {
    const [ours, floor] = [rounds.map((one) => one.ours[figure]), rounds.map((one) => one.floor[figure])];
    const figures = { ours: median(ours), floor: median(floor), unit, ratio: medianRatio(ours, floor) };
    return ratioRow([goal, `locks across processes, g1 on PostgreSQL: ${what}`], figures, target);
  };
  return [
    row("perSecond", "runs/s", `throughput at ${CLIENTS} clients`, { atLeast: 0.85 }),
    row("cpuPerRun", "ms", "CPU per run", { atMost: 1.15 }),
  ];
}
