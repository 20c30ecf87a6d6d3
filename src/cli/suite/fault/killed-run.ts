/** A run in a process of its own, which is killed in the middle. */
import { spawn } from "node:child_process";
import { extname } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { GraphServeError } from "../../../support/errors.js";
import { isRecord } from "../../../models/common.js";

interface KilledRun {
  /** Undefined when the process ended before it had begun a run. */
  threadId?: string;
  /** False when the run came to its end first. */
  wasKilled: boolean;
}

/** What `graph-serve run --jsonl` prints. */
export interface PrintedEvent {
  event: string;
  data: unknown;
}

interface KilledRunOptions {
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  /** True at the event where the process is to die. */
  isPlace: (event: PrintedEvent) => boolean;
}

const EXTENSION = extname(import.meta.url);
const MAIN = fileURLToPath(new URL(`../../main${EXTENSION}`, import.meta.url));

/**
 * Run the command line in a child, and kill it at the place.
 * @throws GraphServeError when the child cannot begin (`run_failed`)
 */
export async function killRunAt({ argv, cwd, env, signal, isPlace }: KilledRunOptions): Promise<KilledRun> {
  // Our own sources are TypeScript.
  const loader = EXTENSION === ".ts" ? ["--import", import.meta.resolve("tsx")] : [];
  const child = spawn(process.execPath, [...loader, MAIN, ...argv], {
    cwd,
    env: { ...env },
    signal,
    killSignal: "SIGKILL",
  });
  let said = "";
  child.stderr.on("data", (part) => (said += String(part)));
  const ended = new Promise<void>((resolve, reject) => {
    child.once("close", () => resolve());
    child.once("error", (error) => (signal.aborted ? resolve() : reject(error)));
  });
  const result: KilledRun = { wasKilled: false };
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line) as PrintedEvent;
    if (event.event === "metadata" && isRecord(event.data)) result.threadId = String(event.data.thread_id);
    if (result.wasKilled || !isPlace(event)) continue;
    result.wasKilled = true;
    child.kill("SIGKILL");
  }
  await ended;
  if (result.threadId === undefined && !signal.aborted)
    throw new GraphServeError("run_failed", `the run could not begin: ${said.trim()}`);
  return result;
}
