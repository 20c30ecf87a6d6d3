/** P13: time from process start to a server that answers, compared with importing only the graph. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Stage } from "../processes.js";
import { ratioRow, valueRow, type Row } from "../report.js";
import { median, medianRatio } from "../stats.js";

interface Case {
  graph: string;
  /** A module that imports the graph as its format requires, and prints "listening". */
  importing: string;
  ratio: number;
  megabytes: number;
}

const folder = join(import.meta.dirname, "../ready");
const at = (file: string) => JSON.stringify(join(folder, file));

const CASES: readonly Case[] = [
  {
    graph: "graph.mjs",
    importing: `await import(${at("graph.mjs")}); console.error("listening")`,
    ratio: 1.3,
    megabytes: 100,
  },
  {
    graph: "graph.ts",
    importing: `import { createJiti } from "jiti";
      await createJiti(${at("graph.ts")}).import(${at("graph.ts")}); console.error("listening")`,
    ratio: 1.25,
    megabytes: 150,
  },
];

export async function ready(goal: string, stage: Stage): Promise<Row[]> {
  const rows: Row[] = [];
  for (const one of CASES) {
    const command = [stage.bin, "start", `./${one.graph}:graph`, "--port", "0"];
    // Node 22.8 and newer store the compiled code when the process exits, but not when it is killed.
    await start(command, "SIGTERM");
    const [own, ours, sizes]: [number[], number[], number[]] = [[], [], []];
    for (let turn = 0; turn < stage.scaled(15, 5); turn += 1) {
      own.push((await start(["--input-type=module", "-e", one.importing])).ms);
      const server = await start(command);
      ours.push(server.ms);
      sizes.push(server.megabytes);
    }
    const figures = { floor: median(own), ours: median(ours), unit: "ms", ratio: medianRatio(ours, own) };
    rows.push(
      ratioRow([goal, `ready with ${one.graph}, against importing it`], figures, { atMost: one.ratio }),
    );
    const what = `memory (RSS) when ready with ${one.graph}`;
    rows.push(valueRow([goal, what], median(sizes), "MB", { atMost: one.megabytes }));
  }
  return rows;
}

/** Runs Node until it prints that it listens, then ends it with `signal`. */
async function start(
  args: readonly string[],
  signal: NodeJS.Signals = "SIGKILL",
): Promise<{ ms: number; megabytes: number }> {
  const begin = performance.now();
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  await said(child, "listening");
  const ms = performance.now() - begin;
  const megabytes = residentMegabytes(child);
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
  return { ms, megabytes };
}

function said(child: ChildProcess, word: string): Promise<void> {
  let text = "";
  return new Promise((resolve, reject) => {
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.includes(word)) resolve();
    });
    child.once("exit", () => reject(new Error(`it exited before it was ready: ${text}`)));
  });
}

/** Memory is not measured without /proc. */
function residentMegabytes({ pid }: ChildProcess): number {
  try {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) / 1024;
  } catch {
    return NaN;
  }
}
