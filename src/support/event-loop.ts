/**
 * Keeps the event loop responsive: code that never yields would block all other requests. Also knows in each turn
 * which run its code belongs to.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "./log.js";
import type { Metrics } from "./metrics.js";

export { nextTurn };

/** Longest time that runs keep the event loop before they are asked to wait for another turn, in milliseconds. */
const TURN_MS = 5;

/** When this turn began, as far as runs know; undefined when none has asked in it. */
let turnStart: number | undefined;
/** Those that wait for a turn, in their order. */
const waiting: (() => void)[] = [];

/**
 * What to wait for now, so that others get in; undefined as long as this turn of the event loop is short. One that waited
 * has a turn to itself: many small pieces of many runs in each turn would cost as many small writes to their clients.
 */
export function dueYield(): Promise<void> | undefined {
  if (turnStart === undefined) beginTurn();
  else if (performance.now() - turnStart >= TURN_MS) return new Promise(queue);
  return undefined;
}

function beginTurn(): void {
  if (turnStart === undefined) setImmediate(endTurn);
  turnStart = performance.now();
}

function endTurn(): void {
  turnStart = undefined;
}

function queue(resume: () => void): void {
  if (waiting.push(resume) === 1) setImmediate(resumeNext);
}

function resumeNext(): void {
  beginTurn();
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeNext);
}

/**
 * The items that pass a test, of those that there are now: some milliseconds' worth of testing a turn, however many
 * there are.
 */
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
 * Hand every item of `source` to `take`, in order, a few milliseconds' worth a turn: a graph that never waits floods
 * its stream, and other requests must get in. The source is read without such pauses, because what LangGraph's stream
 * still holds when the graph throws is lost. Rejects with what the source or `take` threw, once all is taken.
 * `begun` is given what says when nothing of what has come waits any more; undefined while nothing does.
 */
export async function consume<T>(
  source: AsyncIterable<T>,
  take: (item: T) => void,
  begun?: (pending: () => Promise<void> | undefined) => void,
): Promise<void> {
  const taker = new Taker(take);
  begun?.(() => (taker.isBusy ? taker.idle : undefined));
  try {
    for await (const item of source) {
      taker.add(item);
      if (taker.failed) break;
    }
  } finally {
    await taker.idle;
  }
  taker.throwFailure();
}

/** Processes items in the background, without blocking the caller that adds them. */
class Taker<T> {
  /** Settles when nothing waits any more; never rejects. */
  idle: Promise<void> = Promise.resolve();
  readonly #take: (item: T) => void;
  #waiting: T[] = [];
  isBusy = false;
  #failure: { error: unknown } | undefined;

  constructor(take: (item: T) => void) {
    this.#take = take;
  }

  get failed(): boolean {
    return this.#failure !== undefined;
  }

  add(item: T): void {
    this.#waiting.push(item);
    if (!this.isBusy) this.idle = this.#run();
  }

  throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }

  async #run(): Promise<void> {
    this.isBusy = true;
    try {
      while (this.#waiting.length > 0) await this.#takeWaiting();
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.isBusy = false;
    }
  }

  async #takeWaiting(): Promise<void> {
    const items = this.#waiting;
    this.#waiting = [];
    for (const item of items) {
      this.#take(item);
      const turn = dueYield();
      if (turn) await turn;
    }
  }
}

// Which run the code belongs to that is being executed: an error that nothing handles finds its run by it.

type Facts = Pick<RunContext, "run_id" | "thread_id" | "graph_id" | "ownerId" | "caller">;

/** The run that code of a graph belongs to, also in timers, callbacks and promises that are never awaited. */
export class RunContext {
  readonly run_id: string;
  readonly thread_id: string;
  readonly graph_id: string;
  /** Which service of this process executes it. */
  readonly ownerId: string;
  /** On whose behalf, as that service knows its callers. */
  readonly caller: unknown;
  readonly #nodeOf: () => string | undefined;
  #fail: ((error: unknown) => void) | undefined;

  /** @param nodeOf says which node's code is being executed */
  constructor(
    { run_id, thread_id, graph_id, ownerId, caller }: Facts,
    fail: (error: unknown) => void,
    nodeOf: () => string | undefined = () => undefined,
  ) {
    this.run_id = run_id;
    this.thread_id = thread_id;
    this.graph_id = graph_id;
    this.ownerId = ownerId;
    this.caller = caller;
    this.#fail = fail;
    this.#nodeOf = nodeOf;
  }

  /** Name of the node whose code is being executed. */
  get node(): string | undefined {
    return this.#nodeOf();
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

let onBegin: ((context: RunContext) => void) | undefined;

/** Hear of every run whose graph is called; one listener at most. */
export function onRunStart(hear: ((context: RunContext) => void) | undefined): void {
  onBegin = hear;
}

/** Call `work` as part of a run. */
export function withinRun<T>(context: RunContext, work: () => T): T {
  onBegin?.(context);
  return contexts.run(context, work);
}

/** The run whose code is executing; in a handler of unhandled errors, the run that caused the error. */
export const currentRun = (): RunContext | undefined => contexts.getStore();

/**
 * Record an unhandled error: it is logged and counted, and the run that caused it fails if it is still in
 * flight. Call it in the process's own handler, as in
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
