/**
 * Frames of a run that another process executes or executed: the frames that it shares, or else a summary of its rows.
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
import { continuesAfter } from "../runs/state.js";
import type { LogReader, RunLog } from "../frames/run-log.js";
import type { SharedFrames } from "../frames/shared-frames.js";
import { runModel } from "../threads/thread-origin.js";

/** How often the row of a followed run is polled in case its last frames are lost, in milliseconds. */
const POLL_MS = 2_000;
/** How long the last frames of an ended run may take to arrive, or to be shared again after a loss. In milliseconds. */
const LATE_MS = 5_000;

type FollowedRun = Pick<Run, "run_id" | "thread_id" | "attempt" | "kwargs" | "status" | "updated_at">;

/**
 * The frames of a run after the frame with id `after`, to the end of its last attempt. Can be iterated once; leaving
 * does not stop the run. The iteration throws FramesLostError if unread frames are lost: a reader that reconnects gets
 * a summary.
 */
export function remoteFrames(context: EngineContext, run: FollowedRun, after = -1): LogReader {
  const controller = new AbortController();
  const { frames } = context;
  const source =
    frames && !isOfSummary(after, run)
      ? sharedFrames(context, frames, run, after, controller.signal)
      : summaryAfter(context, after, run, controller.signal);
  return {
    leave: () => controller.abort(),
    [Symbol.asyncIterator]: () => untilAborted(controller.signal, source),
  };
}

/** A summary of a run whose frames are not kept, even if this process executes it. */
export function remoteSummary(
  context: EngineContext,
  run: FollowedRun,
  after: number,
  live: LiveRun | undefined,
): LogReader {
  const controller = new AbortController();
  const source = summaryAfter(context, after, run, controller.signal, live);
  return {
    leave: () => controller.abort(),
    [Symbol.asyncIterator]: () => untilAborted(controller.signal, source),
  };
}

/**
 * All frames of a run, from the first of its attempt, for readers of its thread's events. The iteration throws
 * FramesLostError if some are lost.
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

/** Returns true if the reader got every frame; else the id of its last frame, because later ones are not available. */
async function* framesAsTheyCome(
  context: EngineContext,
  shared: SharedFrames,
  run: FollowedRun,
  after: number,
  signal: AbortSignal,
  project: (frame: RunFrame) => RunFrame[],
): AsyncGenerator<readonly RunFrame[], true | number> {
  const poll = new RowPoll(context, run, signal);
  let seen = after;
  for await (const page of shared.pages(run.run_id, after, signal)) {
    const frames = page ? page.frames : [];
    const [first] = frames;
    if (first && !follows(seen, first.id)) {
      if (seen !== after) throw new FramesLostError();
      return seen;
    }
    seen = frames.at(-1)?.id ?? seen;
    const continues = page ? isAtEnd(page, seen) && (await poll.isUnfinished(page)) : false;
    if (page && frames.length > 0) {
      const shown = withoutEnds(frames, continues ? undefined : page.next - 1);
      if (shown.length > 0) yield page.about.all_modes ? shown.flatMap(project) : shown;
      poll.onFrame();
    }
    // A run without frames was never streamed.
    if (page && !continues && isWhole(page, seen)) return seen >= firstIdOf(attemptOf(page.next)) || seen;
    const log = context.live.logOf(run.run_id);
    // The log of this attempt does not contain the frames of earlier ones.
    const isPast = frames.length === 0 || (log && seen >= log.base);
    if (isPast && log?.reaches(seen) && log.next > seen + 1 && !(await poll.isOutlived(log))) {
      // This process has taken over the run: the remaining frames are in its log.
      let last: RunFrame | undefined;
      for await (const batch of log.read(seen)) {
        last = batch.at(-1) ?? last;
        yield log.capturesAllModes ? batch.flatMap(project) : batch;
      }
      if (isRequeued(context, last))
        return yield* framesAsTheyCome(context, shared, run, last.id, signal, project);
      return true;
    }
    if (await poll.isOver()) return seen;
  }
  return seen;
}

/** Whether a log of this process ended with this frame because its run was requeued. In a shutdown, readers reconnect. */
const isRequeued = (context: EngineContext, last: RunFrame | undefined): last is RunFrame =>
  last !== undefined && last.event !== "end" && last.event !== "error" && !context.live.stopping.aborted;

/** Whether the run has ended and the reader has seen all of its frames. */
const isWhole = ({ is_ended, next }: FramePage, seen: number): boolean => is_ended && seen >= next - 1;

/** Whether the last frame that the reader has seen looks like the end of the run. */
const isAtEnd = (page: FramePage, seen: number): boolean =>
  isWhole(page, seen) || (seen === page.next - 1 && page.frames.at(-1)?.event === "error");

/** Removes the last frames of dead attempts: clients stop at them, but the run continues. `last` is the final id. */
const withoutEnds = (frames: readonly RunFrame[], last: number | undefined): readonly RunFrame[] =>
  frames.filter(({ id, event }) => id === last || (event !== "error" && event !== "end"));

/** Whether no frame is missing between `seen` and `next`: the next id of the attempt, or the first of a later one. */
const follows = (seen: number, next: number): boolean =>
  next === seen + 1 || (next === firstIdOf(attemptOf(next)) && next > seen);

/** Polls the row of a followed run: its process may have crashed, or the bus may be unavailable. */
class RowPoll {
  readonly #context: EngineContext;
  readonly #run: FollowedRun;
  readonly #signal: AbortSignal;
  #polledAt = performance.now();
  #recoveredAt = performance.now();
  /** Time of the last frame, or of the run's end if later; set once the run is known to have ended. */
  #endedAt: number | undefined;

  constructor(context: EngineContext, run: FollowedRun, signal: AbortSignal) {
    this.#context = context;
    this.#run = run;
    this.#signal = signal;
    if (isFinished(run))
      this.#endedAt = performance.now() - Math.max(0, Date.now() - Date.parse(run.updated_at));
  }

  onFrame(): void {
    if (this.#endedAt !== undefined) this.#endedAt = performance.now();
  }

  /** Whether the reported end is not final: its attempt was dead or requeued, and another one follows. */
  async isUnfinished({ frames, next }: Pick<FramePage, "frames" | "next">): Promise<boolean> {
    // No attempt follows a run that ended with `end`.
    if (frames.at(-1)?.event === "end") return false;
    const row = await this.#row();
    return row !== undefined && continuesAfter(row, attemptOf(next));
  }

  /** The same for a log of this process. */
  async isOutlived(log: RunLog): Promise<boolean> {
    return log.isClosed && (await this.isUnfinished({ frames: log.kept.slice(-1), next: log.base }));
  }

  #row(): Promise<RunRow | undefined> {
    const { thread_id, run_id } = this.#run;
    return retryWhileUnavailable(() => this.#context.storage.runs.get(thread_id, run_id), this.#signal);
  }

  /** Whether the run has ended or was deleted, and no more frames are expected. */
  async isOver(): Promise<boolean> {
    const now = performance.now();
    const { msSinceLoss = Infinity } = this.#context.frames ?? {};
    if (this.#endedAt !== undefined) return Math.min(now - this.#endedAt, msSinceLoss) >= LATE_MS;
    if (now - this.#polledAt < POLL_MS) return false;
    this.#polledAt = now;
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

// Summaries of runs whose frames are not available.

/**
 * Id of the first frame of a summary: above the ids of the attempt's log, and below those of the next attempt. A client
 * that reconnects with such an id gets the rest of the summary.
 */
const summaryId = ({ attempt }: Pick<Run, "attempt">): number => firstIdOf(Math.max(attempt, 1) + 1) - 3;
/** The last frames of a summary are `metadata`, `error` or `metadata`, `values`, `end`. */
export const isEndOfSummary = (after: number, run: Run): boolean =>
  isFinished(run) && after === summaryId(run) + (run.error === null ? 2 : 1);

/** Whether `after` is the id of a frame of the run's summary, as far as its attempts are known. */
const isOfSummary = (after: number, run: FollowedRun): boolean => after >= summaryId(run);

/** The frames of a summary after the frame with id `after`. */
const summaryAfter = (
  context: EngineContext,
  after: number,
  run: FollowedRun,
  signal: AbortSignal,
  live?: LiveRun,
): AsyncGenerator<readonly RunFrame[]> => framesAfter(after, summaryOf(context, run, live, signal));

/** The summary of a run: `metadata` for each attempt as it starts, then the end. */
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
      // This process has taken over the run: all frames of the attempt are in its log.
      if (log && attemptOf(log.base) >= now.attempt) {
        let end: RunFrame | undefined;
        for await (const batch of log.read()) {
          end = batch.at(-1) ?? end;
          yield batch;
        }
        if (!isRequeued(context, end)) return;
        last = now;
        continue;
      }
      yield [{ id: summaryId(now), event: "metadata", data: attemptFrame(now) }];
    }
    last = now;
  }
  if (last) yield* endOfSummary(context, last, live?.hasLeft ? undefined : answer, signal);
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

/** Ends the frames without an error when the signal aborts, since pending reads may reject then. */
export async function* untilAborted(signal: AbortSignal, frames: AsyncIterable<readonly RunFrame[]>) {
  try {
    yield* frames;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The frames with ids above `after`. */
async function* framesAfter(after: number, frames: AsyncIterable<readonly RunFrame[]>) {
  for await (const batch of frames) {
    const rest = batch.filter(({ id }) => id > after);
    if (rest.length > 0) yield rest;
  }
}
