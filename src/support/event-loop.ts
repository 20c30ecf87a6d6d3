/**
 * Yields to other requests during long synchronous work, and tracks which run the current code
 * belongs to.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "./log.js";

export { nextTurn };

/** Time after which runs yield to the event loop, in milliseconds. */
const TURN_MS = 5;

/** Start of the current turn of the event loop; undefined if no run has checked yet. */
let turnStart: number | undefined;
/** Resume callbacks of runs that have yielded, in order. */
const waiting: (() => void)[] = [];

/**
 * Promise to await so that other work can proceed; undefined while the current turn is short.
 * Each waiting run gets its own turn. Many small pieces of many runs per turn would cause as many
 * small writes to their clients.
 */
export function dueYield(): Promise<void> | undefined {
  if (turnStart === undefined) {
    turnStart = performance.now();
    setImmediate(endTurn);
  } else if (performance.now() - turnStart >= TURN_MS) return new Promise(queue);
  return undefined;
}

/** Resolves when frames emitted in this turn have been written: readers wake in the next turn and write in it. */
export async function afterWrites(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

function endTurn(): void {
  turnStart = undefined;
}

function queue(resume: () => void): void {
  if (waiting.push(resume) === 1) setImmediate(resumeNext);
}

function resumeNext(): void {
  // A full turn, also if another run has begun one since the event loop last turned.
  if (turnStart === undefined) setImmediate(endTurn);
  turnStart = performance.now();
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeNext);
}

/** Filters a snapshot of the items, yielding every few milliseconds. */
export async function filterInTurns<T>(items: readonly T[], passes: (item: T) => boolean): Promise<T[]> {
  const passed: T[] = [];
  for (const item of [...items]) {
    if (passes(item)) passed.push(item);
    const turn = dueYield();
    if (turn) await turn;
  }
  return passed;
}

/**
 * Takes the items of a source in order, and yields every few milliseconds: a graph that never waits floods its stream and
 * would block other requests. The source itself is read without these pauses, because items still buffered in
 * LangGraph's stream are lost when the graph throws.
 */
export class Consumer<T> {
  /** Settles when no items wait; never rejects. Undefined while none do. */
  #idle: Promise<void> | undefined;
  /** The error of an item that waited. */
  #failure: { error: unknown } | undefined;
  readonly #take: (item: T) => void;
  /** Items that are being taken, from `#next` on. Those in `#waiting` follow. */
  #items: T[] = [];
  #next = 0;
  #waiting: T[] = [];

  constructor(take: (item: T) => void) {
    this.#take = take;
  }

  /**
   * Rejects with the error of the source or of `take`, after all items are taken.
   * @param signal ends the reading immediately and rejects with its reason, for a source that does not
   */
  async read(source: AsyncIterable<T>, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const reading = this.#addAll(source, signal);
    const aborted =
      signal &&
      new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      });
    try {
      // One race for all items: a race per item costs a listener and several promises each.
      await (aborted ? Promise.race([reading, aborted]) : reading);
    } finally {
      await this.#idle;
    }
    if (this.#failure) throw this.#failure.error;
  }

  /** Items that arrive while others wait are taken after them. */
  async #addAll(source: AsyncIterable<T>, signal: AbortSignal | undefined): Promise<void> {
    for await (const item of source) {
      if (signal?.aborted || this.#failure) break;
      if (this.#idle) {
        this.#waiting.push(item);
        continue;
      }
      this.#take(item);
      const turn = dueYield();
      if (turn) this.#idle = this.#takeWaiting(turn);
    }
  }

  /** Takes the items read so far, before the turn of this run comes. Undefined if none wait. */
  flush(): Promise<void> | undefined {
    const count = this.#items.length - this.#next + this.#waiting.length;
    return count > 0 ? this.#takeNow(count) : undefined;
  }

  async #takeWaiting(turn: Promise<void>): Promise<void> {
    await turn;
    while (this.#takeNext()) {
      const next = dueYield();
      if (next) await next;
    }
    this.#idle = undefined;
  }

  async #takeNow(count: number): Promise<void> {
    let start = performance.now();
    for (let left = count; left > 0 && this.#takeNext(); left -= 1) {
      if (performance.now() - start < TURN_MS) continue;
      await nextTurn();
      start = performance.now();
    }
  }

  /** False if no item waits, or one has failed. */
  #takeNext(): boolean {
    if (this.#next === this.#items.length) {
      this.#items = this.#waiting;
      this.#waiting = [];
      this.#next = 0;
    }
    if (this.#failure || this.#items.length === 0) return false;
    try {
      this.#take(this.#items[this.#next++] as T);
    } catch (error) {
      this.#failure = { error };
    }
    return true;
  }
}

/** The run that graph code belongs to, also in timers, callbacks and promises that are never awaited. */
export interface RunContext {
  readonly run_id: string;
  readonly thread_id: string;
  readonly graph_id: string;
  /** Id of the service in this process that executes the run. */
  readonly ownerId: string;
  /** Caller of the run, in the form that service uses. */
  readonly caller: unknown;
  /** The trace of the run, which its requests to this server continue. */
  readonly traceparent: unknown;
  /** Name of the node whose code is executing. */
  readonly nodeOf: () => string | undefined;
  /**
   * Ends the run with this error. Undefined once it has ended: resources that the graph left open, such as a connection,
   * can keep the context in memory.
   */
  fail: ((error: unknown) => void) | undefined;
}

const contexts = new AsyncLocalStorage<RunContext>();

let onBegin: ((context: RunContext) => void) | undefined;

/** Calls the listener whenever a run's graph is called; at most one listener. */
export function onRunStart(listener: ((context: RunContext) => void) | undefined): void {
  onBegin = listener;
}

export function withinRun<T>(context: RunContext, work: () => T): T {
  onBegin?.(context);
  return contexts.run(context, work);
}

/** The run whose code is executing; in a handler of unhandled errors, the run that caused the error. */
export const currentRun = (): RunContext | undefined => contexts.getStore();

/**
 * Records an unhandled error: logs and counts it, and fails the run that caused it if the run is
 * still active. Call it directly in the process's handler: the run is only known there.
 * @param error the value that was thrown
 * @param service the service, or its logger and metrics
 * @example
 * ```ts
 * import { noteUnhandled, openService } from "graph-serve";
 * import { graph } from "./graph.js";
 *
 * const service = await openService({ graphs: { agent: graph } });
 * process.on("unhandledRejection", (error) => noteUnhandled(error, service));
 * await service.close();
 * ```
 */
export function noteUnhandled(
  error: unknown,
  { logger, metrics }: { logger: Logger; metrics?: { errorUnhandled(graph: string): void } },
): void {
  const run = currentRun();
  const ids = run && { run_id: run.run_id, thread_id: run.thread_id };
  logger.error({ err: error, ...ids }, "unhandled error in a graph");
  metrics?.errorUnhandled(run?.graph_id ?? "");
  run?.fail?.(error);
}
