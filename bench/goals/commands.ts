/**
 * commands: CPU time of a command that prints, lists or starts, compared with the process it requires. The first turn
 * stores the compiled code of the command, on Node 22.8 and newer; the median is that of later turns.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import type { Stage } from "../processes.js";
import { ratioRow, type Row } from "../report.js";
import { median } from "../stats.js";

const TURNS = 15;
const GRAPH = join(import.meta.dirname, "../ready/graph.mjs");
/** Imports LangGraph and a graph. */
const IMPORTING = ["--input-type=module", "-e", `await import(${JSON.stringify(GRAPH)})`];
const THREADS = 30;

/** Writes the process's CPU time, in milliseconds, to file descriptor 3. */
const TELL_CPU =
  "data:text/javascript,import fs from 'node:fs';" +
  "process.on('exit',()=>{const {user,system}=process.cpuUsage();fs.writeSync(3,String((user+system)/1000))})";

/** Requests the first answer of a server once it listens, then ends the process. */
const ANSWER_AND_EXIT = `data:text/javascript,${encodeURIComponent(`
  import { get, Server } from "node:http";
  const { listen } = Server.prototype;
  Server.prototype.listen = function (...args) {
    this.once("listening", () =>
      get("http://127.0.0.1:" + this.address().port + "/ok", ({ statusCode }) =>
        process.exit(statusCode === 200 ? 0 : 1)));
    return listen.apply(this, args);
  };`)}`;

export async function commands(goal: string, stage: Stage): Promise<Row[]> {
  const { bin } = stage;
  const version = await inTurns(["-e", "0"], [bin, "--version"]);
  const server = await stage.server("sqlite");
  for (let count = 0; count < stage.scaled(THREADS); count += 1)
    await server.call("createHistory", { graph: "g2", input: { n: 0 }, runs: 1 });
  const listing = [bin, "threads", "list", "--limit", "20", "--db", server.uri ?? ""];
  const list = await inTurns(
    ["--input-type=module", "-e", await listingFloor(listing, stage.options.dist)],
    listing,
  );
  const listed = await inTurns(IMPORTING, listing);
  const starting = ["--import", ANSWER_AND_EXIT, bin, "start", `${GRAPH}:graph`, "--port", "0"];
  const started = await inTurns(IMPORTING, starting);
  const row = (what: string, figures: { floor: number; ours: number }, atMost: number) =>
    ratioRow([goal, what], { ...figures, unit: "ms" }, { atMost });
  return [
    row("--version, CPU time: bare node", version, 1.3),
    row("threads list, CPU time: its modules and better-sqlite3", list, 1.6),
    row("threads list, CPU time: importing LangGraph and a graph", listed, 1.3),
    row("start to its first answer, CPU time: importing LangGraph and the graph", started, 1.6),
  ];
}

/** Imports the driver and our own modules that the command loads, and nothing else. */
async function listingFloor(listing: readonly string[], dist: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "graph-serve-loaded-"));
  try {
    const env = { ...process.env, NODE_V8_COVERAGE: folder };
    await once(spawn(process.execPath, listing, { env, stdio: "ignore" }), "close");
    const [report = ""] = await readdir(folder);
    const { result } = JSON.parse(await readFile(join(folder, report), "utf8")) as {
      result: { url: string }[];
    };
    const built = pathToFileURL(dist).href;
    const own = result
      .map(({ url }) => url)
      .filter((url) => url.startsWith(built) && !url.endsWith("/main.js"));
    return ["better-sqlite3", ...own].map((module) => `await import(${JSON.stringify(module)});`).join("\n");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Median CPU time of both in milliseconds, measured in turns. */
async function inTurns(floor: readonly string[], ours: readonly string[]) {
  const figures = { floor: [] as number[], ours: [] as number[] };
  for (let turn = 0; turn < TURNS; turn += 1) {
    figures.floor.push(await cpuOf(floor));
    figures.ours.push(await cpuOf(ours));
  }
  return { floor: median(figures.floor), ours: median(figures.ours) };
}

async function cpuOf(argv: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, ["--import", TELL_CPU, ...argv], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const [said, [code]] = await Promise.all([
    text(child.stdio[3] as Readable),
    once(child, "close") as Promise<[number]>,
  ]);
  if (code !== 0) throw new Error(`${argv.join(" ")} exited with code ${code}`);
  return Number(said);
}
