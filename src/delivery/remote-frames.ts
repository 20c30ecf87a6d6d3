/**
 * The frames of a run that another process executes, or did: those that it shares, else a summary of what is stored.
 */
import { toJson } from "../graphs/serialize.js";
import type { JsonObject } from "../models/common.js";
import { attemptOf, firstIdOf, FramesLostError, type RunFrame, withoutNul } from "../models/run-stream.js";
import type { Run } from "../models/run.js";
import type { FramePage } from "../storage/contract/frame-bus.js";
import { isFinished } from "../storage/rows/rows.js";
import type { RunRow } from "../storage/contract/storage.js";
import { NotFoundError } from "../support/errors.js";
import { pollRow, retryWhileUnavailable, RECOVERY_MS, storedValues } from "./remote-runs.js";
import { attemptFrame } from "../runs/execute.js";
import type { EngineContext, LiveRun } from "../runs/live-runs.js";
import { projectForClient } from "../frames/projected-log.js";
import { continuesAfter } from "../runs/run-owners.js";
import type { LogReader, RunLog } from "../frames/run-log.js";
import type { SharedFrames } from "../frames/shared-frames.js";
import { runModel } from "../threads/thread-origin.js";

/** How often the row of a run is looked at while its frames come, and when they could have an end and have none. */
const LOOK_MS = 2_000;
/** A run that has ended: so long its last frames may be on their way, and so long those that were lost are put back. */
const LATE_MS = 5_000;

/** What has to be known of a run to follow it. */
type FollowedRun = Pick<Run, "run_id" | "thread_id" | "attempt" | "kwargs" | "status" | "updated_at">;

/**
 * The frames of a run after the one with id `after`, to its end; what comes of a later attempt too. Read once; leaving
 * stops nothing. Its iteration throws FramesLostError where frames are gone that the reader has yet to see: who comes
 * back gets a summary.
 */
export function remoteFrames(context: EngineContext, run: FollowedRun, after = -1): LogReader {
  const left = new AbortController();
  const { frames } = context;
  const told =
    frames && !isOfSummary(after, run)
      ? sharedFrames(context, frames, run, after, left.signal)
      : summaryAfter(context, after, run, left.signal);
  return { leave: () => left.abort(), [Symbol.asyncIterator]: () => untilAborted(left.signal, told) };
}

/** The same of a run whose frames are not kept, though it may be this process's. */
export function remoteSummary(
  context: EngineContext,
  run: FollowedRun,
  after: number,
  live: LiveRun | undefined,
): LogReader {
  const left = new AbortController();
  const told = summaryAfter(context, after, run, left.signal, live);
  return { leave: () => left.abort(), [Symbol.asyncIterator]: () => untilAborted(left.signal, told) };
}

/**
 * All frames of a run, for readers of its thread's events, from the first of its attempt on. Its iteration throws
 * FramesLostError where some are gone.
 */
export async function* allModeFrames(
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
  const seen = yield* framesAsTheyCome(context, shared, run, after, signal, projectForClient(run));
  if (seen === true) return;
  const { thread_id, run_id } = run;
  const row = await retryWhileUnavailable(() => context.storage.runs.get(thread_id, run_id), signal);
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
  const look = new RowPoll(context, run, signal);
  let seen = after;
  for await (const page of shared.pages(run.run_id, after, signal)) {
    const frames = page ? page.frames : [];
    const [first] = frames;
    if (first && !follows(seen, first.id)) {
      if (seen !== after) throw new FramesLostError();
      return seen;
    }
    seen = frames.at(-1)?.id ?? seen;
    const goesOn = page ? isAtEnd(page, seen) && (await look.isUnfinished(page)) : false;
    if (page && frames.length > 0) {
      const told = withoutEnds(frames, goesOn ? undefined : page.next - 1);
      if (told.length > 0) yield page.about.is_wide ? told.flatMap(narrow) : told;
      look.heard();
    }
    // One that ended without any is one that nobody had asked for.
    if (page && !goesOn && isWhole(page, seen)) return seen >= firstIdOf(attemptOf(page.next)) || seen;
    const log = context.live.logOf(run.run_id);
    // What earlier attempts told is not in the log of this one.
    const isPast = frames.length === 0 || (log && seen >= log.base);
    if (isPast && log?.reaches(seen) && log.next > seen + 1 && !(await look.outlived(log))) {
      // This process has taken the run over meanwhile: all that is left of it is here.
      for await (const batch of log.read(seen)) yield log.capturesAllModes ? batch.flatMap(narrow) : batch;
      return true;
    }
    if (await look.isOver()) return seen;
  }
  return seen;
}

/** Whether the reader has seen all that there will ever be. */
const isWhole = ({ is_ended, next }: FramePage, seen: number): boolean => is_ended && seen >= next - 1;

/** Whether the last frame that a reader has seen is that of a run which has ended, as far as it looks. */
const isAtEnd = (page: FramePage, seen: number): boolean =>
  isWhole(page, seen) || (seen === page.next - 1 && page.frames.at(-1)?.event === "error");

/** An attempt of a dead run has told that it failed: who sees that reads no further, though the run has gone on. */
const withoutEnds = (frames: readonly RunFrame[], last: number | undefined): readonly RunFrame[] =>
  frames.filter(({ id, event }) => id === last || (event !== "error" && event !== "end"));

/** Whether nothing is missing between a frame that was seen and the next one: of its attempt, or the first of a later one. */
const follows = (seen: number, next: number): boolean =>
  next === seen + 1 || (next === firstIdOf(attemptOf(next)) && next > seen);

/** Now and then the row of a run whose frames are followed: its process may have died, and the bus be away. */
class RowPoll {
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

  /** Whether what is told of the end is not all: the attempt that ended so was dead, and another one follows, or is to. */
  async isUnfinished({ frames, next }: Pick<FramePage, "frames" | "next">): Promise<boolean> {
    // None goes on after that.
    if (frames.at(-1)?.event === "end") return false;
    const row = await this.#row();
    return row !== undefined && continuesAfter(row, attemptOf(next));
  }

  /** The same of a log of this process. */
  async outlived(log: RunLog): Promise<boolean> {
    return log.isClosed && (await this.isUnfinished({ frames: log.kept.slice(-1), next: log.base }));
  }

  #row(): Promise<RunRow | undefined> {
    const { thread_id, run_id } = this.#run;
    return retryWhileUnavailable(() => this.#context.storage.runs.get(thread_id, run_id), this.#signal);
  }

  /** Whether the run has ended, or is gone, and its last frames do not come any more. */
  async isOver(): Promise<boolean> {
    const now = performance.now();
    const { msSinceLoss = Infinity } = this.#context.frames ?? {};
    if (this.#endedAt !== undefined) return Math.min(now - this.#endedAt, msSinceLoss) >= LATE_MS;
    if (now - this.#lookedAt < LOOK_MS) return false;
    this.#lookedAt = now;
    const row = await this.#row();
    if (!row || isFinished(row)) this.#endedAt = now;
    else if (now - this.#recoveredAt >= RECOVERY_MS) {
      this.#recoveredAt = now;
      await retryWhileUnavailable(
        () => this.#context.recover({ threadId: this.#run.thread_id }),
        this.#signal,
      );
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
export const isEndOfSummary = (after: number, run: Run): boolean =>
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
  for await (const row of pollRow(context, run, signal)) {
    if (!row) throw new NotFoundError("run", run_id);
    const now = runModel(row);
    if (now.attempt > Math.max((last ?? run).attempt, 1)) {
      const log = context.live.logOf(run_id);
      // This process has taken the run over meanwhile: all of its frames are here.
      if (log && attemptOf(log.base) >= now.attempt) {
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
    yield [{ id: id + 1, event: "error", data: withoutNul(JSON.stringify(data)) }];
    return;
  }
  const values = answer ?? (await retryWhileUnavailable(() => storedValues(context, run), signal));
  yield [
    { id: id + 1, event: "values", data: withoutNul(toJson(values, "values")) },
    { id: id + 2, event: "end", data: JSON.stringify({ run_id, thread_id, status, usage }) },
  ];
}

/** The frames, which end when the signal aborts: what they wait for may reject then. */
export async function* untilAborted(left: AbortSignal, frames: AsyncIterable<readonly RunFrame[]>) {
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
