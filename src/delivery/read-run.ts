/**
 * Reads the frames of a run from a position, in whichever process it is executed: from a log of this process, from the
 * frames that processes share, or else as a summary of its rows. A run that is requeued is followed to its next attempt.
 */
import { attemptOf, firstIdOf, FramesLostError, LAST_EVENTS, type RunFrame } from "../models/run-stream.js";
import type { Run } from "../models/run.js";
import type { FramePage } from "../storage/contract/frame-bus.js";
import { isFinished } from "../models/run-status.js";
import type { RunRow } from "../storage/contract/runs.js";
import { NotFoundError } from "../support/errors.js";
import { nextAttempt, pollRow, retryWhileUnavailable, RECOVERY_MS, storedValues } from "./poll-run.js";
import type { EngineContext, LiveRun } from "../runs/live-runs.js";
import { continuesAfter } from "../runs/state.js";
import type { LogReader, RunLog } from "../frames/run-log.js";
import type { SharedFrames } from "../frames/shared-frames.js";
import { runRow } from "../threads/thread-origin.js";
import { runModel } from "../storage/rows/run-rows.js";
import { projectForClient } from "./selected-modes.js";
import { endOfSummary, isOfSummary, startOfSummary } from "./summary.js";

/** How often the row of a followed run is polled in case its last frames are lost, in milliseconds. */
const POLL_MS = 2_000;
/** How long the last frames of an ended run may take to arrive, or to be shared again after a loss. In milliseconds. */
const LATE_MS = 5_000;

type FollowedRun = Pick<Run, "run_id" | "thread_id" | "attempt" | "kwargs" | "status" | "updated_at">;
type Project = ReturnType<typeof projectForClient>;
type Batches<Result> = AsyncGenerator<readonly RunFrame[], Result>;

interface Source {
  /** Id of the last frame that the reader has seen; -1 by default. */
  after?: number;
  /** A log of this process that has the next frame. */
  log?: RunLog;
  /** The run, if this process executes it. Without `log` its frames are not kept: the reader gets a summary. */
  live?: LiveRun;
}

/**
 * The frames after `after` that the request of the run selects, to the end of its last attempt. Can be iterated once;
 * leaving does not stop the run. The iteration throws FramesLostError if unread frames are lost: a reader that reconnects
 * gets a summary.
 */
export function readRun(
  context: EngineContext,
  run: FollowedRun,
  { after = -1, log, live }: Source = {},
): LogReader {
  // From here on, the log retains its frames for this reader.
  const reader = log?.read(after);
  const isAlone = !live || !context.capabilities.takeover;
  if (log && reader && isAlone && !log.capturesAllModes) return reader;
  const reading = new Reading(context, run, after, reader);
  return Object.assign(reading.frames(live, log), { leave: () => reading.leave() });
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
): Batches<void> {
  const reading = new Reading(context, run, -1, undefined, (frame) => [frame]);
  const leave = () => reading.leave();
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  try {
    if (!(yield* reading.sharedFrames(shared))) throw new FramesLostError();
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

class Reading {
  readonly #context: EngineContext;
  #run: FollowedRun;
  /** Id of the last frame that the reader has seen. */
  #seen: number;
  /** Selects the frames of a source that has those of all modes. */
  #project: Project | undefined;
  readonly #leaving = new AbortController();
  readonly #signal = this.#leaving.signal;
  /** The log that is being read, or is read first. */
  #reader: LogReader | undefined;

  constructor(
    context: EngineContext,
    run: FollowedRun,
    after: number,
    reader?: LogReader,
    project?: Project,
  ) {
    this.#context = context;
    this.#run = run;
    this.#seen = after;
    this.#reader = reader;
    this.#project = project;
  }

  leave(): void {
    this.#leaving.abort();
    this.#reader?.leave();
  }

  async *frames(live: LiveRun | undefined, log: RunLog | undefined): Batches<void> {
    try {
      if (log && !(yield* this.#localFrames(live, log))) return;
      const { frames } = this.#context;
      const isSummarized = !log && live !== undefined;
      if (frames && !isSummarized && !isOfSummary(this.#seen, this.#run)) {
        if (yield* this.sharedFrames(frames)) return;
        const row = await storedRow(this.#context, this.#run, this.#signal);
        if (!row) throw new NotFoundError("run", this.#run.run_id);
        this.#run = runModel(row);
      }
      yield* this.#summary(isSummarized ? live : undefined);
    } catch (error) {
      // Pending reads may reject after the reader has left.
      if (!this.#signal.aborted) throw error;
    }
  }

  /** The frames of the attempts in this process, one after the other. Returns whether another process continues the run. */
  async *#localFrames(live: LiveRun | undefined, log: RunLog): Batches<boolean> {
    const { stopping } = this.#context.live;
    yield* this.#logFrames(log, this.#reader);
    while (live?.hasLeft) {
      // Requeued by a shutdown: the readers reconnect to another process.
      if (stopping.aborted) return false;
      live = await nextAttempt(this.#context, live, this.#signal).catch((error: unknown) => {
        if (!stopping.aborted) throw error;
        return undefined;
      });
      if (stopping.aborted) return false;
      if (!live?.log) {
        const { thread_id, run_id } = this.#run;
        const row = () => runRow(this.#context, thread_id, run_id);
        this.#run = runModel(await retryWhileUnavailable(row, this.#signal));
        return true;
      }
      yield* this.#logFrames(live.log);
    }
    return false;
  }

  /** The rest of a log of this process. Returns whether it ended because its run was requeued. */
  async *#logFrames(log: RunLog, reader = log.read(this.#seen)): Batches<boolean> {
    this.#reader = reader;
    let last: RunFrame | undefined;
    for await (const batch of reader) {
      last = batch.at(-1) ?? last;
      this.#seen = last?.id ?? this.#seen;
      const shown = log.capturesAllModes ? this.#selected(batch) : batch;
      if (shown.length > 0) yield shown;
    }
    // In a shutdown, readers reconnect.
    return last !== undefined && !LAST_EVENTS.has(last.event) && !this.#context.live.stopping.aborted;
  }

  /** The frames on the bus. Returns whether the reader got every frame; if not, later ones are not available. */
  async *sharedFrames(shared: SharedFrames): Batches<boolean> {
    const { run_id } = this.#run;
    const poll = new RowPoll(this.#context, this.#run, this.#signal);
    const after = this.#seen;
    for await (const page of shared.pages(run_id, after, this.#signal)) {
      const frames = page ? page.frames : [];
      const [first] = frames;
      if (first && !follows(this.#seen, first.id)) {
        if (this.#seen !== after) throw new FramesLostError();
        return false;
      }
      const seen = (this.#seen = frames.at(-1)?.id ?? this.#seen);
      const continues = page ? isAtEnd(page, seen) && (await poll.isUnfinished(page)) : false;
      if (page && frames.length > 0) {
        const all = withoutEnds(frames, continues ? undefined : page.next - 1);
        const shown = page.about.all_modes ? this.#selected(all) : all;
        if (shown.length > 0) yield shown;
        poll.onFrame();
      }
      // A run without frames was never streamed.
      if (page && !continues && isWhole(page, seen)) return seen >= firstIdOf(attemptOf(page.next));
      const log = this.#context.live.logOf(run_id);
      // The log of this attempt does not contain the frames of earlier ones.
      const isPast = frames.length === 0 || (log && seen >= log.base);
      if (isPast && log?.reaches(seen) && log.next > seen + 1 && !(await poll.isOutlived(log))) {
        // This process has taken over the run: the remaining frames are in its log.
        return (yield* this.#logFrames(log)) ? yield* this.sharedFrames(shared) : true;
      }
      if (await poll.isOver()) return false;
    }
    return false;
  }

  /** @param live set if this process executes the run, and has its answer */
  async *#summary(live: LiveRun | undefined): Batches<void> {
    const { run_id } = this.#run;
    yield* this.#unseen(startOfSummary(this.#run));
    const answer = await live?.answer(this.#signal);
    let { attempt } = this.#run;
    let last: Run | undefined;
    for await (const row of pollRow(this.#context, this.#run, this.#signal)) {
      if (!row) throw new NotFoundError("run", run_id);
      last = runModel(row);
      if (last.attempt <= Math.max(attempt, 1)) continue;
      ({ attempt } = last);
      const log = this.#context.live.logOf(run_id);
      if (!log || attemptOf(log.base) < attempt) yield* this.#unseen(startOfSummary(last));
      // This process has taken over the run: all frames of the attempt are in its log.
      else if (!(yield* this.#logFrames(log))) return;
    }
    if (!last) return;
    const run = last;
    const stored = () => retryWhileUnavailable(() => storedValues(this.#context, run), this.#signal);
    const known = live?.hasLeft ? undefined : answer;
    yield* this.#unseen(...endOfSummary(run, run.error === null ? (known ?? (await stored())) : {}));
  }

  *#unseen(...frames: RunFrame[]): Generator<readonly RunFrame[]> {
    const rest = frames.filter(({ id }) => id > this.#seen);
    if (rest.length > 0) yield rest;
  }

  #selected(frames: readonly RunFrame[]): readonly RunFrame[] {
    return frames.flatMap((this.#project ??= projectForClient(this.#run)));
  }
}

/** Whether the run has ended and the reader has seen all of its frames. */
const isWhole = ({ is_ended, next }: FramePage, seen: number): boolean => is_ended && seen >= next - 1;

/** Whether the last frame that the reader has seen looks like the end of the run. */
const isAtEnd = (page: FramePage, seen: number): boolean =>
  isWhole(page, seen) || (seen === page.next - 1 && page.frames.at(-1)?.event === "error");

/** Removes the last frames of dead attempts: clients stop at them, but the run continues. `last` is the final id. */
const withoutEnds = (frames: readonly RunFrame[], last: number | undefined): readonly RunFrame[] =>
  frames.filter((frame) => frame.id === last || !LAST_EVENTS.has(frame.event));

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
    const row = await storedRow(this.#context, this.#run, this.#signal);
    return row !== undefined && continuesAfter(row, attemptOf(next));
  }

  /** The same for a log of this process. */
  async isOutlived(log: RunLog): Promise<boolean> {
    return log.isClosed && (await this.isUnfinished({ frames: log.kept.slice(-1), next: log.base }));
  }

  /** Whether the run has ended or was deleted, and no more frames are expected. */
  async isOver(): Promise<boolean> {
    const now = performance.now();
    const { msSinceLoss = Infinity } = this.#context.frames ?? {};
    if (this.#endedAt !== undefined) return Math.min(now - this.#endedAt, msSinceLoss) >= LATE_MS;
    if (now - this.#polledAt < POLL_MS) return false;
    this.#polledAt = now;
    const row = await storedRow(this.#context, this.#run, this.#signal);
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

/** Ends the frames without an error when the signal aborts, since pending reads may reject then. */
export async function* untilAborted(signal: AbortSignal, frames: AsyncIterable<readonly RunFrame[]>) {
  try {
    yield* frames;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function storedRow(
  { storage: { runs } }: EngineContext,
  { thread_id, run_id }: FollowedRun,
  signal: AbortSignal,
): Promise<RunRow | undefined> {
  return retryWhileUnavailable(() => runs.get(thread_id, run_id), signal);
}
