/** One execution of a graph: every run, blocking or streamed, goes through here. */
import { setTimeout as sleep } from "node:timers/promises";
import type { GraphConfig, ServedGraph } from "../graphs/graph.js";
import { unsendable } from "../graphs/serialize.js";
import { frameworkModes, type StreamFrames } from "../graphs/stream-frames.js";
import { isRecord } from "../models/common.js";
import type { StreamMode } from "../models/run.js";
import { attempt, causesOf, errorMessage } from "../support/errors.js";
import { dueTurn } from "../support/event-loop.js";
import type { UnserializableError } from "../support/unserializable.js";

export interface Execution {
  graph: ServedGraph;
  /** A command, state values, or null. */
  input: unknown;
  options: GraphConfig;
  modes: readonly StreamMode[];
  subgraphs: boolean;
  signal: AbortSignal;
  frames: StreamFrames;
  /** True when the thread's latest checkpoint was written by this run: then another attempt goes on from there. */
  hasCheckpoint(): Promise<boolean>;
  onRetry(error: unknown, attempt: number): void;
  /** Told that something the graph yields cannot be sent. From then on nothing that it yields is taken. */
  onUnsendable(error: UnserializableError): void;
}

/**
 * Run the graph to its end and hand its chunks to `execution.frames`. A network failure before the first event is
 * tried again; the input is sent again only when no checkpoint took it (no duplicated input, spec, Stream modes 7).
 * Rejects with what the graph threw, or with the signal's reason.
 */
export async function execute(execution: Execution): Promise<void> {
  const { frames, signal } = execution;
  let { input } = execution;
  for (let attempt = 1; ; attempt++) {
    try {
      return await drain(execution, input);
    } catch (error) {
      if (signal.aborted || frames.emitted || attempt === MAX_ATTEMPTS || !isTransient(error)) throw error;
      execution.onRetry(error, attempt);
      await pauseBefore(attempt + 1, signal);
      if (await execution.hasCheckpoint()) input = null;
      frames.restart();
    }
  }
}

async function drain(execution: Execution, input: unknown): Promise<void> {
  const { graph, options, modes, frames } = execution;
  const subgraphs = execution.subgraphs || frames.needNamespaces;
  const settings = { ...options, streamMode: frameworkModes(modes), subgraphs };
  const intake = new Intake(execution);
  if (modes.includes("events")) {
    const events = graph.streamEvents(input, { ...settings, version: "v2" });
    return takeAll(events, (event) => intake.event(event));
  }
  return takeAll(await graph.stream(input, settings), (chunk) => intake.chunk(chunk));
}

/** Hands on what a graph yields. It never throws: the stream is read to its end, also when nothing more is taken. */
class Intake {
  readonly #execution: Execution;
  #failed = false;

  constructor(execution: Execution) {
    this.#execution = execution;
  }

  chunk(chunk: unknown): void {
    const { frames } = this.#execution;
    const subgraphs = this.#execution.subgraphs || frames.needNamespaces;
    const [namespace, mode, payload] = (subgraphs ? chunk : [[], ...(chunk as unknown[])]) as [
      string[],
      string,
      unknown,
    ];
    this.#take(mode, payload, () => frames.take(namespace, mode, payload));
  }

  /** The root run's stream events carry the chunks of the other modes; the rest are the client's events. */
  event(event: unknown): void {
    const { frames, options } = this.#execution;
    const isRoot = isRecord(event) && event.run_id === options.runId;
    if (isRoot && event.event === "on_chain_stream") {
      const chunk = isRecord(event.data) ? event.data.chunk : undefined;
      if (Array.isArray(chunk)) this.chunk(chunk);
      return;
    }
    this.#take("events", event, () => frames.takeEvent(event, isRoot));
  }

  #take(mode: string, payload: unknown, work: () => void): void {
    if (this.#failed) return;
    try {
      work();
    } catch (error) {
      this.#failed = true;
      this.#execution.onUnsendable(unsendable(error, payload, mode));
    }
  }
}

// Which failures may be tried again, and when (spec, Stream modes 7).

const MAX_ATTEMPTS = 3;
const FIRST_PAUSE_MS = 2000;

const CODES = /^(ECONNRESET|ECONNREFUSED|ETIMEDOUT|EPIPE|EAI_AGAIN|UND_ERR_\w+)$/;
const MESSAGE = /fetch failed|socket hang up|connection (error|reset|refused|closed|timed out)/i;

function isOfTheNetwork(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && CODES.test(code);
}

/** True for failures of the network: the only ones that another attempt may mend. Never throws. */
export function isTransient(error: unknown): boolean {
  if (attempt(() => error instanceof Error) && MESSAGE.test(errorMessage(error))) return true;
  return causesOf(error).some((cause) => attempt(() => isOfTheNetwork(cause)) ?? false);
}

/** Wait before the next attempt: 2 s, then 4 s. Rejects with the signal's reason when it aborts. */
async function pauseBefore(
  attempt: number,
  signal: AbortSignal,
  firstPauseMs = FIRST_PAUSE_MS,
): Promise<void> {
  try {
    await sleep(firstPauseMs * 2 ** (attempt - 2), undefined, { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

/**
 * Hand every item of `source` to `take`, in order, a few milliseconds' worth a turn: a graph that never waits floods
 * its stream, and other requests must get in. The source is read without such pauses, because what LangGraph's stream
 * still holds when the graph throws is lost. Rejects with what the source or `take` threw, once all is taken.
 */
export async function takeAll<T>(source: AsyncIterable<T>, take: (item: T) => void): Promise<void> {
  const taker = new Taker(take);
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

/** Takes items in the background of whoever adds them. */
class Taker<T> {
  /** Settles when nothing waits any more; never rejects. */
  idle: Promise<void> = Promise.resolve();
  readonly #take: (item: T) => void;
  #waiting: T[] = [];
  #busy = false;
  #failure: { error: unknown } | undefined;

  constructor(take: (item: T) => void) {
    this.#take = take;
  }

  get failed(): boolean {
    return this.#failure !== undefined;
  }

  add(item: T): void {
    this.#waiting.push(item);
    if (!this.#busy) this.idle = this.#run();
  }

  throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }

  async #run(): Promise<void> {
    this.#busy = true;
    try {
      while (this.#waiting.length > 0) await this.#takeWaiting();
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#busy = false;
    }
  }

  async #takeWaiting(): Promise<void> {
    const items = this.#waiting;
    this.#waiting = [];
    for (const item of items) {
      this.#take(item);
      const turn = dueTurn();
      if (turn) await turn;
    }
  }
}
