/** Servers with the graphs that measure the Studio, as separate processes, and their threads. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Stage } from "../processes.js";

const GRAPHS = join(import.meta.dirname, "graphs.mjs");
/** Supersteps of the long thread. */
export const LONG = 10_000;
/** Clock ticks of /proc per second. */
const TICKS = 100;

export interface Server {
  url: string;
  /** Time to the first line that says where it listens, in milliseconds. */
  ms: number;
  /** CPU time so far, in milliseconds. */
  cpu: () => number;
  end: () => Promise<void>;
}

export async function startServer({ options }: Stage, isOn: boolean): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), "graph-serve-bench-"));
  const graphs = Object.fromEntries(["counter", "wide", "fast", "slow"].map((id) => [id, `${GRAPHS}:${id}`]));
  const settings = { graphs, studio: isOn, checkpointer_scheme: "memory", list_all_assistants: true };
  await writeFile(join(folder, "graph-server.config.json"), JSON.stringify(settings));
  const begin = performance.now();
  const args = [join(options.dist, "cli/main.js"), "start", "--port", "0"];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const url = await listening(child);
  const ms = performance.now() - begin;
  const end = async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    await rm(folder, { recursive: true });
  };
  return { url, ms, cpu: () => cpuOf(child.pid ?? 0), end };
}

function listening(child: ChildProcess): Promise<string> {
  let text = "";
  return new Promise((resolve, reject) => {
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const url = /http:\/\/[\d.]+:\d+/.exec(text)?.[0];
      if (url !== undefined && text.includes("listening")) resolve(url);
    });
    child.once("exit", () => reject(new Error(`it exited before it was ready: ${text}`)));
  });
}

/** User and system time of a process, in milliseconds. */
function cpuOf(pid: number): number {
  const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const fields = rest.split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}

export async function post(url: string, path: string, body: object): Promise<Record<string, string>> {
  const answer = await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>;
}

/** A thread with one finished run. */
export async function ranThread(url: string, graph: string, input: object): Promise<string> {
  const { thread_id = "" } = await post(url, "/threads", {});
  const config = { recursion_limit: 2 * LONG };
  await post(url, `/threads/${thread_id}/runs`, { assistant_id: graph, input, config });
  return thread_id;
}
