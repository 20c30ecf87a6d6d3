/** Keeps graph code from ending the process, in which other runs are in flight and threads are being written. */
import { AsyncLocalStorage } from "node:async_hooks";
import { currentRun } from "./event-loop.js";
import { parseStackLine, isUserCode } from "./stack.js";

/** What `process.exit` throws in a graph. */
export class ProcessExit extends Error {
  override readonly name = "ProcessExit";
  /** `file:line` of the user's own code; undefined if the stack has none. */
  readonly place: string | undefined;

  constructor(code: number | string | null | undefined) {
    super(`process.exit(${code ?? ""}) was called, which a graph must not do`);
    this.place = ownPlace(this.stack ?? "");
  }
}

/** Set in all that a module begins when it is loaded. */
const loading = new AsyncLocalStorage<{ isDone: boolean }>();

/** Do what loads a graph: the code that it evaluates must not end the process either. */
export async function whileLoading<T>(work: () => T | Promise<T>): Promise<T> {
  const load = { isDone: false };
  try {
    return await loading.run(load, work);
  } finally {
    load.isDone = true;
  }
}

/**
 * From now on `process.exit` throws where a graph calls it, and fails the run that does. Any other caller still ends the
 * process.
 * @param report called for each exit except those during the load of a graph, which become that load's error
 * @returns a function that restores `process.exit`
 */
export function guardExit(tell: (error: ProcessExit) => void): () => void {
  const { exit } = process as { exit: (this: void, code?: number | string | null) => never };
  const guarded = (code?: number | string | null): never => {
    const run = currentRun();
    const load = loading.getStore();
    if (!run && !load) return code === undefined ? exit() : exit(code);
    const error = new ProcessExit(code ?? process.exitCode);
    if (!load || load.isDone) tell(error);
    // The graph may catch what is thrown.
    run?.fail(error);
    throw error;
  };
  process.exit = guarded;
  return () => {
    if (process.exit === guarded) process.exit = exit;
  };
}

/** The first line of the stack that is the user's. */
function ownPlace(stack: string): string | undefined {
  const own = stack
    .split("\n")
    .flatMap((row) => parseStackLine(row) ?? [])
    .find(isUserCode);
  return own && `${own.file}:${own.line}`;
}
