/** `npm run bench`: measures the goals next to their floors and prints the table. See `--help`. */
import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { commands } from "./goals/commands.js";
import { databases } from "./goals/databases.js";
import { disk } from "./goals/disk.js";
import { events } from "./goals/events.js";
import { growth } from "./goals/growth.js";
import { live } from "./goals/live.js";
import { locks } from "./goals/locks.js";
import { memory } from "./goals/memory.js";
import { largeStates, longThreads, search } from "./goals/reads.js";
import { offline } from "./goals/offline.js";
import { queue } from "./goals/queue.js";
import { ready } from "./goals/ready.js";
import { firstEvents, pacedEvents } from "./goals/response.js";
import { studio } from "./goals/studio.js";
import { suite } from "./goals/suite.js";
import { throughput } from "./goals/throughput.js";
import { Stage, type BenchOptions } from "./processes.js";
import { digits, isMet, table, type Row } from "./report.js";

const HELP = `npm run bench -- [options]

  --only P1,P7     measure only these goals
  --quick          short phases and small counts, for development only
  --rounds <n>     rounds of load, of which the median is reported (default 3)
  --dist <folder>  compiled sources to measure (default: runs the build)
`;

const GOALS: Record<string, (goal: string, stage: Stage) => Promise<Row[]>> = {
  P1: throughput,
  P2: throughput,
  P3: throughput,
  P4: throughput,
  P5: databases,
  P7: firstEvents,
  P8: pacedEvents,
  P9: longThreads,
  P10: search,
  P11: growth,
  P12: largeStates,
  P13: ready,
  P14: memory,
  offline,
  commands,
  L1: locks,
  Q1: queue,
  T1: suite,
  studio,
  P15: disk,
  E1: events,
  live,
};

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    rounds: { type: "string", default: "3" },
    dist: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

const print = (text: string) => process.stdout.write(`${text}\n`);

if (flags.help) print(HELP);
else print(await measure(flags.only?.split(",") ?? Object.keys(GOALS)));

async function measure(goals: readonly string[]): Promise<string> {
  const options = readOptions();
  const rows: Row[] = [];
  for (const goal of goals) {
    const stage = new Stage(options);
    try {
      const found = await GOALS[goal]?.(goal, stage);
      if (!found) throw new Error(`unknown goal ${goal}; goals: ${Object.keys(GOALS).join(", ")}`);
      rows.push(...found);
      for (const row of found) note(row);
    } finally {
      await stage.close();
    }
  }
  return `${table(rows)}\n\n${machine()}${flags.quick ? "\nquick run: results are not representative" : ""}`;
}

function readOptions(): BenchOptions {
  const root = join(import.meta.dirname, "..");
  if (!flags.dist) execFileSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: "inherit" });
  return {
    dist: resolve(flags.dist ?? join(root, "dist")),
    rounds: Number(flags.rounds),
    phaseMs: flags.quick ? 1000 : 4000,
    scale: flags.quick ? 0.1 : 1,
  };
}

/** Prints progress to stderr. */
function note(row: Row): void {
  process.stderr.write(
    `${row.goal}  ${row.what}: ${digits(row.measured)} ${isMet(row) ? "met" : "missed"}\n`,
  );
}

function machine(): string {
  const { model = "unknown processor" } = cpus()[0] ?? {};
  return `Node ${process.version} on ${process.platform}, ${cpus().length} cores (${model.trim()})`;
}
