/** `npm run bench`: measures the goals next to their floors and prints the table. See `--help`. */
import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { commands } from "./goals/commands.js";
import { counts } from "./goals/counts.js";
import { databases } from "./goals/databases.js";
import { disk } from "./goals/disk.js";
import { events } from "./goals/events.js";
import { growth } from "./goals/growth.js";
import { live } from "./goals/live.js";
import { locks } from "./goals/locks.js";
import { memory } from "./goals/memory.js";
import { items } from "./goals/items.js";
import { json } from "./goals/json.js";
import { largeStates, longThreads, search } from "./goals/reads.js";
import { offline } from "./goals/offline.js";
import { peer } from "./goals/peer.js";
import { processes } from "./goals/processes.js";
import { queue } from "./goals/queue.js";
import { ready } from "./goals/ready.js";
import { firstEvents, pacedEvents } from "./goals/response.js";
import { shadow } from "./goals/shadow.js";
import { studio } from "./goals/studio.js";
import { suite } from "./goals/suite.js";
import { throughput } from "./goals/throughput.js";
import { tracing } from "./goals/tracing.js";
import { usage } from "./goals/usage.js";
import { versions } from "./goals/versions.js";
import { buildRevision } from "./other-revision.js";
import { Stage, type BenchOptions } from "./processes.js";
import { digits, isMet, resultOf, table, type Row } from "./report.js";

const HELP = `npm run bench -- [options]

  --only P1,P7     measure only these goals; peer: LangGraph's own server, which npm installs
  --quick          short phases and small counts, for development only
  --rounds <n>     rounds of load, of which the median is reported (default 3)
  --dist <folder>  compiled sources to measure (default: runs the build)
  --counts         count promises, sends, system calls and memory per run; exit code 1 if a limit is exceeded
  --against <rev>  measure another revision in the same run (P1 to P5, Q1 and the counts)
`;

const ROOT = join(import.meta.dirname, "..");

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
  versions,
  shadow,
  commands,
  L1: locks,
  processes,
  Q1: queue,
  T1: suite,
  studio,
  P15: disk,
  E1: events,
  live,
  json,
  tracing,
  usage,
  items,
  counts,
};

/** Measured only by name. */
const ON_REQUEST: typeof GOALS = { peer };

/** Without a collection of garbage, allocations can be counted. */
const NODE_OPTIONS: Record<string, readonly string[]> = {
  counts: ["--max-semi-space-size=256", "--min-semi-space-size=256"],
};

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    rounds: { type: "string", default: "3" },
    dist: { type: "string" },
    counts: { type: "boolean", default: false },
    against: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

const print = (text: string) => process.stdout.write(`${text}\n`);

if (flags.help) print(HELP);
else if (flags.counts) process.exitCode = (await measure(["counts"])).every(isMet) ? 0 : 1;
else await measure(flags.only?.split(",") ?? Object.keys(GOALS));

async function measure(goals: readonly string[]): Promise<Row[]> {
  const options = readOptions();
  const other = flags.against === undefined ? undefined : buildRevision(ROOT, flags.against);
  const rows: Row[] = [];
  try {
    for (const goal of goals) rows.push(...(await measureGoal(goal, { ...options, otherDist: other?.dist })));
  } finally {
    other?.remove();
  }
  print(`${table(rows)}\n\n${machine()}`);
  if (flags.quick) print("quick run: results are not representative");
  return rows;
}

async function measureGoal(goal: string, options: BenchOptions): Promise<Row[]> {
  const stage = new Stage(options, NODE_OPTIONS[goal]);
  try {
    const rows = await { ...GOALS, ...ON_REQUEST }[goal]?.(goal, stage);
    if (!rows) throw new Error(`unknown goal ${goal}; goals: ${Object.keys(GOALS).join(", ")}`);
    for (const row of rows) note(row);
    return rows;
  } finally {
    await stage.close();
  }
}

function readOptions(): BenchOptions {
  if (!flags.dist) execFileSync("npm", ["run", "--silent", "build"], { cwd: ROOT, stdio: "inherit" });
  return {
    dist: resolve(flags.dist ?? join(ROOT, "dist")),
    rounds: Number(flags.rounds),
    phaseMs: flags.quick ? 1000 : 4000,
    scale: flags.quick ? 0.1 : 1,
  };
}

/** Prints progress to stderr. */
function note(row: Row): void {
  process.stderr.write(`${row.goal}  ${row.what}: ${digits(row.measured)} ${resultOf(row)}\n`);
}

function machine(): string {
  const { model = "unknown processor" } = cpus()[0] ?? {};
  return `Node ${process.version} on ${process.platform}, ${cpus().length} cores (${model.trim()})`;
}
