/** versions: `versions check` over many stored threads grows with their number in time, and not in memory. */
import { join } from "node:path";
import type { Stage } from "../processes.js";
import { ratioRow, valueRow, type Row } from "../report.js";
import { figuresOf } from "./offline.js";

const GRAPH = join(import.meta.dirname, "../ready/graph.mjs");
const FEW = 1_000;
const MANY = 10_000;

export async function versions(goal: string, stage: Stage): Promise<Row[]> {
  const server = await stage.server("sqlite");
  const check = ["versions", "check", "--json", "--against", `${GRAPH}:graph`, "--graph", "g1"];
  const measure = () => figuresOf(stage, [...check, "--db", server.uri ?? ""]);
  const [fewer, more] = [stage.scaled(FEW), stage.scaled(MANY)];
  await server.call("createConversations", { count: fewer });
  const few = await measure();
  await server.call("createConversations", { count: more - fewer });
  const many = await measure();
  const what = `versions check of ${more.toLocaleString("en")} threads: sqlite`;
  const growth = more / fewer;
  // Without the time to start, which does not depend on the threads.
  const readMs = ({ totalMs, firstMs }: typeof many) => totalMs - firstMs;
  return [
    ratioRow(
      [goal, `${what}, time against ${growth} times ${fewer.toLocaleString("en")}`],
      { floor: readMs(few) * growth, ours: readMs(many), unit: "ms" },
      { atMost: 1.3 },
    ),
    valueRow([goal, `${what}, time`], many.totalMs, "ms", { atMost: 30_000 }),
    valueRow([goal, `${what}, peak memory`], many.peakMb, "MB", { atMost: 200 }),
  ];
}
