/** Guards the process against code of graphs: reports what loads for long, and prevents it from ending the process. */
import { AsyncLocalStorage } from "node:async_hooks";
import { GraphLoadError } from "./errors.js";
import { currentRun } from "./event-loop.js";
import { parseStackLine, isUserCode } from "./stack.js";

/** Thrown by `process.exit` in a graph. */
export class ProcessExit extends Error {
  override readonly name = "ProcessExit";
  /** `file:line` of the user's own code; undefined if the stack has none. */
  readonly place: string | undefined;

  constructor(code: number | string | null | undefined) {
    super(`process.exit(${code ?? ""}) was called, which a graph must not do`);
    this.place = userCodeIn(this.stack ?? "");
  }
}

/** A module, promise or factory took too long: another attempt would take as long. */
export class GraphTimeoutError extends GraphLoadError {}

type LongLoadReport = (message: string) => void;

const longLoadReports = new Set<LongLoadReport>();

/**
 * Calls `report` for each load that takes long, while it continues. Applies to the whole process, like the evaluation of
 * modules. @returns a function that ends the reports
 */
export function watchLongLoads(report: LongLoadReport): () => void {
  longLoadReports.add(report);
  return () => void longLoadReports.delete(report);
}

export function reportLongLoad(message: string): void {
  for (const report of longLoadReports) report(message);
}

/** Set in everything a module starts while it is loading. */
const loading = new AsyncLocalStorage<{ isDone: boolean }>();

/** Loads a graph; code evaluated meanwhile must not end the process. */
export async function whileLoading<T>(work: () => T | Promise<T>): Promise<T> {
  const load = { isDone: false };
  try {
    return await loading.run(load, work);
  } finally {
    load.isDone = true;
  }
}

/**
 * Makes `process.exit` throw if a graph calls it, and fails the calling run. Any other caller still
 * ends the process.
 * @param report called for each exit except those during the load of a graph, which become that
 *   load's error
 * @returns a function that restores `process.exit`
 */
export function guardExit(report: (error: ProcessExit) => void): () => void {
  const { exit } = process as { exit: (this: void, code?: number | string | null) => never };
  const guarded = (code?: number | string | null): never => {
    const run = currentRun();
    const load = loading.getStore();
    if (!run && !load) return code === undefined ? exit() : exit(code);
    const error = new ProcessExit(code ?? process.exitCode);
    if (!load || load.isDone) report(error);
    // The graph may catch the error, so fail the run explicitly.
    run?.fail?.(error);
    throw error;
  };
  process.exit = guarded;
  return () => {
    if (process.exit === guarded) process.exit = exit;
  };
}

/** First line of the stack that is in user code, as `file:line`. */
function userCodeIn(stack: string): string | undefined {
  const own = stack
    .split("\n")
    .flatMap((row) => parseStackLine(row) ?? [])
    .find(isUserCode);
  return own && `${own.file}:${own.line}`;
}
