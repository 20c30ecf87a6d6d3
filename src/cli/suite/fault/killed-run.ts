/** Starts a run in a child process and kills the process during the run. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { GraphServeError } from "../../../support/errors.js";
import { entryFile, IS_BUILT } from "../../../support/own-package.js";
import { isRecord } from "../../../models/common.js";

interface KilledRun {
  /** Undefined if the process exited before it started a run. */
  threadId?: string;
  /** False if the run ended first. */
  wasKilled: boolean;
}

/** A line of `graph-serve run --jsonl`. */
export interface PrintedEvent {
  event: string;
  data: unknown;
}

interface KilledRunOptions {
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  /** Whether the process must be killed at this event. */
  isPlace: (event: PrintedEvent) => boolean;
}

/**
 * Runs the command line in a child process and kills it at the given event.
 * @throws GraphServeError if the child fails to start the run (`run_failed`)
 */
export async function killRunAt({ argv, cwd, env, signal, isPlace }: KilledRunOptions): Promise<KilledRun> {
  // When run from sources, the child needs a TypeScript loader.
  const loader = IS_BUILT ? [] : ["--import", import.meta.resolve("tsx")];
  const child = spawn(process.execPath, [...loader, entryFile("cli/main"), ...argv], {
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
    throw new GraphServeError("run_failed", `the run could not start: ${said.trim()}`);
  return result;
}
