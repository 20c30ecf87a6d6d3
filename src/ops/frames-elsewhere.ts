/**
 * The frames of a run that another process executes, or did: those that it shares, else a summary of what is stored.
 */
import { toJson } from "../graphs/serialize.js";
import type { JsonObject } from "../models/common.js";
import { attemptOf, firstIdOf, FramesLostError, type RunFrame } from "../models/run-stream.js";
import type { Run } from "../models/run.js";
import type { FramePage } from "../storage/frame-bus.js";
import { isFinished } from "../storage/rows.js";
import { NotFoundError } from "../support/errors.js";
import { looksAt, patiently, RECOVERY_MS, storedValues } from "./elsewhere.js";
import { attemptFrame } from "./execute.js";
import type { EngineContext, LiveRun } from "./live-runs.js";
import { narrower } from "./narrow-log.js";
import type { LogReader } from "./run-log.js";
import type { SharedFrames } from "./shared-frames.js";
import { runModel } from "./thread-origin.js";

/** How often the row of a run is looked at while its frames come, and when they could have an end and have none. */
const LOOK_MS = 2_000;
/** A run that has ended: so long its last frames may be on their way. */
const LATE_MS = 5_000;

/** What has to be known of a run to follow it. */
type FollowedRun = Pick<Run, "run_id" | "thread_id" | "attempt" | "kwargs" | "status" | "updated_at">;

/**
 * The frames of a run after the one with id `after`, to its end; what comes of a later attempt too. Read once; leaving
 * stops nothing. Its iteration throws FramesLostError where frames are gone that the reader has yet to see: who comes
 * back gets a summary.
 */
export function framesElsewhere(context: EngineContext, run: FollowedRun, after = -1): LogReader {
  const left = new AbortController();
  const { frames } = context;
  const told =
    frames && !isOfSummary(after, run)
      ? sharedFrames(context, frames, run, after, left.signal)
      : summaryAfter(context, after, run, left.signal);
  return { leave: () => left.abort(), [Symbol.asyncIterator]: () => until(left.signal, told) };
}

/** The same of a run whose frames are not kept, though it may be this process's. */
export function summaryElsewhere(
  context: EngineContext,
  run: FollowedRun,
  after: number,
  live: LiveRun | undefined,
): LogReader {
  const left = new AbortController();
  const told = summaryAfter(context, after, run, left.signal, live);
  return { leave: () => left.abort(), [Symbol.asyncIterator]: () => until(left.signal, told) };
}

/**
 * All frames of a run, for readers of its thread's events, from the first of its attempt on. Its iteration throws
 * FramesLostError where some are gone.
 */
export async function* wideFrames(
  context: EngineContext,
  shared: SharedFrames,
  run: FollowedRun,
  signal: AbortSignal,
): AsyncGenerator<readonly RunFrame[]> {
  const isWhole = yield* framesAsTheyCome(context, shared, run, -1, signal, (frame) => [frame]);
  if (isWhole !== true) throw new FramesLostError();
}

async function* sharedFrames(
  context: EngineContext,
  shared: SharedFrames,
  run: FollowedRun,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<readonly RunFrame[]> {
  const seen = yield* framesAsTheyCome(context, shared, run, after, signal, narrower(run));
  if (seen === true) return;
  const { thread_id, run_id } = run;
  const row = await patiently(() => context.storage.runs.get(thread_id, run_id), signal);
  if (!row) throw new NotFoundError("run", run_id);
  yield* summaryAfter(context, seen, runModel(row), signal);
}

/** Returns true when they came to their end, else the id of the last one: the others are not to be had. */
async function* framesAsTheyCome(
  context: EngineContext,
  shared: SharedFrames,
  run: FollowedRun,
  after: number,
  signal: AbortSignal,
  narrow: (frame: RunFrame) => RunFrame[],
): AsyncGenerator<readonly RunFrame[], true | number> {
  const look = new RowLook(context, run, signal);
  let seen = after;
  for await (const page of shared.pages(run.run_id, after, signal)) {
    const frames = page ? page.frames : [];
    const [first] = frames;
    if (first && !follows(seen, first.id)) {
      if (seen !== after) throw new FramesLostError();
      return seen;
    }
    if (page && frames.length > 0) {
      yield page.about.is_wide ? frames.flatMap(narrow) : frames;
      seen = frames.at(-1)?.id ?? seen;
      look.heard();
    }
    // One that ended without any is one that nobody had asked for.
    if (page && isWhole(page, seen)) return seen >= firstIdOf(attemptOf(page.next)) || seen;
    const log = context.live.logOf(run.run_id);
    // What earlier attempts told is not in the log of this one.
    const isPast = frames.length === 0 || (log && seen >= log.base);
    if (isPast && log?.reaches(seen) && log.next > seen + 1) {
      // This process has taken the run over meanwhile: all that is left of it is here.
      for await (const batch of log.read(seen)) yield log.isWide ? batch.flatMap(narrow) : batch;
      return true;
    }
    if (await look.isOver()) return seen;
  }
  return seen;
}

/** Whether the reader has seen all that there will ever be. */
const isWhole = ({ is_ended, next }: FramePage, seen: number): boolean => is_ended && seen >= next - 1;

/** Whether nothing is missing between a frame that was seen and the next one: of its attempt, or the first of a later one. */
const follows = (seen: number, next: number): boolean =>
  next === seen + 1 || (next === firstIdOf(attemptOf(next)) && next > seen);

/** Now and then the row of a run whose frames are followed: its process may have died, and the bus be away. */
class RowLook {
  readonly #context: EngineContext;
  readonly #run: FollowedRun;
  readonly #signal: AbortSignal;
  #lookedAt = performance.now();
  #recoveredAt = performance.now();
  /** Since when it is known that the run has ended, and no frame has come. */
  #endedAt: number | undefined;

  constructor(context: EngineContext, run: FollowedRun, signal: AbortSignal) {
    this.#context = context;
    this.#run = run;
    this.#signal = signal;
    if (isFinished(run))
      this.#endedAt = performance.now() - Math.max(0, Date.now() - Date.parse(run.updated_at));
  }

  /** A frame has come. */
  heard(): void {
    if (this.#endedAt !== undefined) this.#endedAt = performance.now();
  }

  /** Whether the run has ended, or is gone, and its last frames do not come any more. */
  async isOver(): Promise<boolean> {
    const now = performance.now();
    if (this.#endedAt !== undefined) return now - this.#endedAt >= LATE_MS;
    if (now - this.#lookedAt < LOOK_MS) return false;
    this.#lookedAt = now;
    const { thread_id, run_id } = this.#run;
    const row = await patiently(() => this.#context.storage.runs.get(thread_id, run_id), this.#signal);
    if (!row || isFinished(row)) this.#endedAt = now;
    else if (now - this.#recoveredAt >= RECOVERY_MS) {
      this.#recoveredAt = now;
      await patiently(() => this.#context.recover({ threadId: thread_id }), this.#signal);
    }
    return false;
  }
}

// What is told of a run whose frames are not to be had.

/**
 * Id of the first frame of a summary: above those of the attempt's log, and below those of the next one's. Who comes back
 * with one gets the rest of the summary.
 */
const summaryId = ({ attempt }: Pick<Run, "attempt">): number => firstIdOf(Math.max(attempt, 1) + 1) - 3;
/** Summaries end with `metadata`, `error` or with `metadata`, `values`, `end`. */
export const endsSummary = (after: number, run: Run): boolean =>
  isFinished(run) && after === summaryId(run) + (run.error === null ? 2 : 1);

/** Whether it is the id of a frame of the run's summary, as far as its attempts are known. */
const isOfSummary = (after: number, run: FollowedRun): boolean => after >= summaryId(run);

/** What is left to tell after a frame. */
const summaryAfter = (
  context: EngineContext,
  after: number,
  run: FollowedRun,
  signal: AbortSignal,
  live?: LiveRun,
): AsyncGenerator<readonly RunFrame[]> => framesAfter(after, summaryOf(context, run, live, signal));

/** What is left to tell of a run without frames. */
async function* summaryOf(
  context: EngineContext,
  run: FollowedRun,
  live: LiveRun | undefined,
  signal: AbortSignal,
): AsyncGenerator<readonly RunFrame[]> {
  const { run_id } = run;
  yield [{ id: summaryId(run), event: "metadata", data: attemptFrame(run) }];
  const answer = await live?.answer(signal);
  let last: Run | undefined;
  for await (const row of looksAt(context, run, signal)) {
    if (!row) throw new NotFoundError("run", run_id);
    const now = runModel(row);
    if (now.attempt > Math.max((last ?? run).attempt, 1)) {
      const log = context.live.logOf(run_id);
      // This process has taken the run over meanwhile: all of its frames are here.
      if (log) {
        yield* log.read();
        return;
      }
      yield [{ id: summaryId(now), event: "metadata", data: attemptFrame(now) }];
    }
    last = now;
  }
  if (last) yield* endOfSummary(context, last, live?.isTaken ? undefined : answer, signal);
}

async function* endOfSummary(
  context: EngineContext,
  run: Run,
  answer: JsonObject | undefined,
  signal: AbortSignal,
): AsyncGenerator<readonly RunFrame[]> {
  const { run_id, thread_id, status, usage, error } = run;
  const id = summaryId(run);
  if (error !== null) {
    const data = { error: "Error", message: error, detail: error, run_id, status, usage };
    yield [{ id: id + 1, event: "error", data: JSON.stringify(data) }];
    return;
  }
  const values = answer ?? (await patiently(() => storedValues(context, run), signal));
  yield [
    { id: id + 1, event: "values", data: toJson(values, "values") },
    { id: id + 2, event: "end", data: JSON.stringify({ run_id, thread_id, status, usage }) },
  ];
}

/** The frames, which end when the signal aborts: what they wait for may reject then. */
export async function* until(left: AbortSignal, frames: AsyncIterable<readonly RunFrame[]>) {
  try {
    yield* frames;
  } catch (error) {
    if (!left.aborted) throw error;
  }
}

/** The frames with ids above `after`. */
async function* framesAfter(after: number, frames: AsyncIterable<readonly RunFrame[]>) {
  for await (const batch of frames) {
    const rest = batch.filter(({ id }) => id > after);
    if (rest.length > 0) yield rest;
  }
}
