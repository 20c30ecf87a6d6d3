/** offline: commands that read a long thread hold only part of it in memory and print their first line early. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { RunningServer, Stage } from "../processes.js";
import { ratioRow, valueRow, type Row } from "../report.js";
import { median } from "../stats.js";

/** A run of g2 leaves twelve checkpoints. */
const RUN = { graph: "g2", input: { n: 0 } } as const;
const CHECKPOINTS_A_RUN = 12;
const SHORT = 1_000;
const LONG = 10_000;

const COMMANDS: Record<string, (thread: string) => string[]> = {
  history: (thread) => ["history", thread],
  "history --reverse": (thread) => ["history", thread, "--reverse"],
  replay: (thread) => ["replay", thread],
  "replay --format html": (thread) => ["replay", thread, "--format", "html"],
  diff: (thread) => ["diff", `${thread}@1`, thread],
  export: (thread) => ["export", thread],
  "inspect thread": (thread) => ["inspect", "thread", thread],
};

/** Writes the process's peak memory, in bytes, to file descriptor 3. */
const TELL_PEAK =
  "data:text/javascript,import fs from 'node:fs';" +
  "process.on('exit',()=>fs.writeSync(3,String(process.resourceUsage().maxRSS*1024)))";

interface Figures {
  peakMb: number;
  firstMs: number;
  totalMs: number;
}

export async function offline(goal: string, stage: Stage): Promise<Row[]> {
  const server = await stage.server("sqlite");
  const [fewer, more] = [SHORT, LONG].map((checkpoints) => stage.scaled(checkpoints / CHECKPOINTS_A_RUN));
  const thread = (runs = 1) => server.call("createHistory", { ...RUN, runs });
  const [short, long] = [await thread(fewer), await thread(more)];
  const rows: Row[] = [];
  for (const [name, argv] of Object.entries(COMMANDS)) {
    const [few, many] = [await measure(stage, server, argv(short)), await measure(stage, server, argv(long))];
    const what = `${name} at ${checkpoints(more)} checkpoints: sqlite`;
    const peaks = { floor: few.peakMb, ours: many.peakMb, unit: "MB" };
    rows.push(
      ratioRow([goal, `${what}, peak memory against ${checkpoints(fewer)}`], peaks, { atMost: 1.6 }),
      valueRow([goal, `${what}, first byte`], many.firstMs, "ms", { atMost: 1000 }),
    );
  }
  return rows;
}

const checkpoints = (runs = 1): string => (runs * CHECKPOINTS_A_RUN).toLocaleString("en");

const measure = (stage: Stage, { uri = "" }: RunningServer, argv: string[]): Promise<Figures> =>
  figuresOf(stage, [...argv, "--raw", "--checkpointer-uri", uri]);

/** The medians of a command that prints. */
export async function figuresOf({ options }: Stage, argv: string[]): Promise<Figures> {
  const rounds: Figures[] = [];
  for (let round = 0; round < options.rounds; round += 1) rounds.push(await run(options.dist, argv));
  const of = (name: keyof Figures) => median(rounds.map((figures) => figures[name]));
  return { peakMb: of("peakMb"), firstMs: of("firstMs"), totalMs: of("totalMs") };
}

async function run(dist: string, argv: string[]): Promise<Figures> {
  const start = performance.now();
  const child = spawn(process.execPath, ["--import", TELL_PEAK, join(dist, "cli/main.js"), ...argv], {
    stdio: ["ignore", "pipe", "ignore", "pipe"],
  });
  const peak = text(child.stdio[3] as Readable);
  const exit = once(child, "close") as Promise<[number]>;
  const stdout = child.stdout as Readable;
  let firstMs: number | undefined;
  stdout.on("data", () => (firstMs ??= performance.now() - start));
  const [code] = await exit;
  if (code !== 0 || firstMs === undefined)
    throw new Error(`${argv.join(" ")} printed nothing, or exited with code ${code}`);
  const totalMs = performance.now() - start;
  return { peakMb: Number(await peak) / 1024 / 1024, firstMs, totalMs };
}

async function text(stream: Readable): Promise<string> {
  let all = "";
  for await (const chunk of stream) all += String(chunk);
  return all;
}
