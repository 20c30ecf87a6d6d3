/** Which run the code belongs to that is being executed: an error that nothing handles finds its run by it. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Logger } from "./log.js";
import type { Metrics } from "./metrics.js";

type Ids = Pick<RunContext, "run_id" | "thread_id" | "graph_id">;

/** A run as the code of its graph carries it along: into timers, callbacks, and promises that nobody awaits. */
export class RunContext {
  readonly run_id: string;
  readonly thread_id: string;
  readonly graph_id: string;
  #fail: ((error: unknown) => void) | undefined;

  constructor({ run_id, thread_id, graph_id }: Ids, fail: (error: unknown) => void) {
    this.run_id = run_id;
    this.thread_id = thread_id;
    this.graph_id = graph_id;
    this.#fail = fail;
  }

  /** End the run with this error; false when it has ended already. */
  fail(error: unknown): boolean {
    this.#fail?.(error);
    return this.#fail !== undefined;
  }

  /** The run has ended. What its graph left behind, such as a connection, may keep the context for long. */
  end(): void {
    this.#fail = undefined;
  }
}

const contexts = new AsyncLocalStorage<RunContext>();

/** Call `work` as part of a run. */
export const withinRun = <T>(context: RunContext, work: () => T): T => contexts.run(context, work);

/** The run whose code is being executed; where the process hears of an unhandled error, the run that caused it. */
export const currentRun = (): RunContext | undefined => contexts.getStore();

/**
 * Take note of an error that nothing handled: it is logged and counted, and the run that caused it fails, if it goes
 * on. Call it where the process hears of such errors, as in
 * `process.on("unhandledRejection", (error) => noteUnhandled(error, service))`: only there is the run known.
 */
export function noteUnhandled(
  error: unknown,
  { logger, metrics }: { logger: Logger; metrics?: Metrics },
): void {
  const run = currentRun();
  const ids = run && { run_id: run.run_id, thread_id: run.thread_id };
  logger.error({ err: error, ...ids }, "nothing handled an error of a graph");
  metrics?.errorUnhandled(run?.graph_id ?? "");
  run?.fail(error);
}
