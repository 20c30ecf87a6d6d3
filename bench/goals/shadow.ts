/** shadow: stored runs of five supersteps, executed again on the same graph. Fails if a run is not the same. */
import { join } from "node:path";
import type { Stage } from "../processes.js";
import { valueRow, type Row } from "../report.js";
import { figuresOf } from "./offline.js";

const GRAPH = join(import.meta.dirname, "../ready/steps.mjs");
const THREADS = 1_000;
/** g2 counts up to 10. */
const FROM = 5;

export async function shadow(goal: string, stage: Stage): Promise<Row[]> {
  const server = await stage.server("sqlite");
  const threads = stage.scaled(THREADS);
  for (let made = 0; made < threads; made += 1)
    await server.call("createHistory", { graph: "g2", runs: 1, input: { n: FROM } });
  const argv = ["shadow", "--ci", "--json", "--against", `${GRAPH}:graph`, "--graph", "g2"];
  const { totalMs, peakMb } = await figuresOf(stage, [...argv, "--db", server.uri ?? ""]);
  const what = `shadow of ${threads.toLocaleString("en")} threads with 5 steps: sqlite`;
  return [
    valueRow([goal, `${what}, time`], totalMs, "ms", { atMost: 60_000 }),
    valueRow([goal, `${what}, peak memory`], peakMb, "MB", { atMost: 400 }),
  ];
}
