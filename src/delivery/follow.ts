/** Joins a run that was started earlier, to wait for its answer or to read its frames. */
import type { JsonObject } from "../models/common.js";
import { attemptOf, type JoinedStream, type RunFrame, type WaitingRun } from "../models/run-stream.js";
import type { Run, StreamMode } from "../models/run.js";
import { isFinished } from "../storage/rows/rows.js";
import type { RunKey, RunRow } from "../storage/contract/storage.js";
import { NotFoundError } from "../support/errors.js";
import { requireUuid } from "../support/ids.js";
import { pause } from "../support/pause.js";
import { remoteAnswer, endRemoteRun, retryWhileUnavailable, stopRemoteRuns } from "./remote-runs.js";
import { isEndOfSummary, remoteFrames, remoteSummary, untilAborted } from "./remote-frames.js";
import type { EngineContext, LiveRun } from "../runs/live-runs.js";
import { continuesAfter, isUnclaimed } from "../runs/state.js";
import { RunAborted } from "../runs/run-aborted.js";
import type { LogReader, RunLog } from "../frames/run-log.js";
import { runModel, runRow, scopeOf } from "../threads/thread-origin.js";

interface LeaveOptions {
  cancelOnDisconnect?: boolean;
}

export interface JoinOptions extends LeaveOptions {
  /** Aborts when the caller disconnects. */
  signal?: AbortSignal;
}

/** Without a signal: the reader of a stream calls `RunStream.disconnect`. */
export interface StreamJoinOptions extends LeaveOptions {
  /** Id of the last frame that the caller has seen; -1, the default, for all retained frames. */
  after?: number;
  /** Only frames of these modes; all by default. */
  modes?: readonly StreamMode[];
}

/** Waits for the end of a run, which may have ended already. @throws NotFoundError (`run_not_found`) */
export async function joinRun(
  context: EngineContext,
  threadId: string,
  runId: string,
  { signal, cancelOnDisconnect }: JoinOptions,
): Promise<WaitingRun> {
  const run = runModel(await runRow(context, threadId, runId));
  const live = context.live.find(run.run_id);
  if (cancelOnDisconnect)
    signal?.addEventListener("abort", () => stopRun(context, run, live), { once: true });
  return { run, answer: live ? localAnswer(context, live, signal) : remoteAnswer(context, run, signal) };
}

/** The answer of a run of this process, even if another process continues it. */
export async function localAnswer(
  context: EngineContext,
  live: LiveRun,
  signal?: AbortSignal,
): Promise<JsonObject> {
  const last = await lastAttempt(context, live, signal);
  return last ? last.answer() : remoteAnswer(context, live.run, signal);
}

/** The end of a run of this process, even if another process continues it. */
export async function localEnd(context: EngineContext, live: LiveRun): Promise<Run> {
  const last = await lastAttempt(context, live);
  if (last) return last.ended();
  const row = await endRemoteRun(context, live.run);
  return row ? runModel(row) : live.ended();
}

/**
 * The attempt of a run with which the run has ended in this process. Undefined if another process continues the run.
 * @throws ShuttingDownError if this process stops while the run is requeued
 */
async function lastAttempt(
  context: EngineContext,
  live: LiveRun,
  signal?: AbortSignal,
): Promise<LiveRun | undefined> {
  for (
    let current: LiveRun | undefined = live;
    current;
    current = await nextAttempt(context, current, signal)
  ) {
    await current.answer(signal);
    if (!current.hasLeft) return current;
  }
  return undefined;
}

/** Poll interval for the row of a requeued run, in milliseconds. */
const NEXT_ATTEMPT_POLL_MS = 500;

/** The next attempt of a run in this process. Undefined if another process has taken the run, or it has ended. */
async function nextAttempt(
  { live: { stopping }, storage, ownerId }: EngineContext,
  live: LiveRun,
  signal?: AbortSignal,
): Promise<LiveRun | undefined> {
  const leave = signal ? AbortSignal.any([signal, stopping]) : stopping;
  const { thread_id, run_id } = live.run;
  for (;;) {
    leave.throwIfAborted();
    if (live.next.live) return live.next.live;
    const row = await retryWhileUnavailable(() => storage.runs.get(thread_id, run_id), leave);
    if (live.next.live) return live.next.live;
    if (!row || isFinished(row) || (!isUnclaimed(row) && row.owner !== ownerId)) return undefined;
    await live.next.wait(NEXT_ATTEMPT_POLL_MS, leave);
  }
}

/** The frames of a run of this process, with those of its later attempts, in this or another process. */
export function localFrames(context: EngineContext, live: LiveRun, frames: LogReader): LogReader {
  const controller = new AbortController();
  const leave = () => {
    frames.leave();
    controller.abort();
  };
  const all = async function* () {
    const { stopping } = context.live;
    let seen = -1;
    let own: LogReader | undefined = frames;
    for (let current = live; own;) {
      for await (const batch of own) {
        seen = batch.at(-1)?.id ?? seen;
        yield batch;
      }
      // Requeued by a shutdown: the readers reconnect to another process.
      if (!current.hasLeft || stopping.aborted) return;
      const next = await nextAttempt(context, current, controller.signal).catch((error: unknown) => {
        if (!stopping.aborted) throw error;
      });
      if (stopping.aborted) return;
      own = next?.log && (await readLog(next.log, next.run, controller.signal));
      current = next ?? current;
    }
    const { thread_id, run_id } = live.run;
    const row = await retryWhileUnavailable(() => runRow(context, thread_id, run_id), controller.signal);
    const rest = remoteFrames(context, runModel(row), seen);
    controller.signal.addEventListener("abort", () => rest.leave(), { once: true });
    yield* rest;
  };
  return { leave, [Symbol.asyncIterator]: () => untilAborted(controller.signal, all()) };
}

/** The frames of a log that the run's request selects. */
export async function readLog(log: RunLog, run: Run, signal: AbortSignal): Promise<LogReader> {
  const frames = log.capturesAllModes
    ? (await import("../frames/projected-log.js")).readProjected(log, run)
    : log.read();
  signal.addEventListener("abort", () => frames.leave(), { once: true });
  return frames;
}

/**
 * The frames of a run after the last one that the caller has seen, with the same ids. If they are no longer retained: a
 * summary of `metadata`, the final `values` and the last frame.
 * @throws NotFoundError (`run_not_found`)
 */
export async function joinRunStream(
  context: EngineContext,
  threadId: string,
  runId: string,
  options: StreamJoinOptions,
): Promise<JoinedStream> {
  const { after = -1 } = options;
  const row = await runRow(context, threadId, runId);
  const run = runModel(row);
  const live = context.live.find(run.run_id);
  const kept = context.live.logOf(run.run_id);
  const log = kept && isOutlived(row, kept) ? undefined : kept;
  const leave = () => stopRun(context, run, live);
  const logLacksFrames = log !== undefined && lacksEarlier(context, log, after);
  if (!logLacksFrames && log?.reaches(after)) {
    const read = log.capturesAllModes
      ? (await import("../frames/projected-log.js")).readProjected(log, run, after)
      : log.read(after);
    return joinedLog(run, log, live ? localFrames(context, live, read) : read, options, leave);
  }
  const isOver = isEndOfSummary(after, run) || (isFinished(run) && (await hasAll(context, run, after)));
  const frames = isOver
    ? NOTHING_LEFT
    : (live && !logLacksFrames) || !context.frames
      ? remoteSummary(context, run, after, live)
      : remoteFrames(context, run, after);
  return { run, ...joined(frames, options, leave), isOver };
}

/** Whether the log is of an attempt that died or was requeued here, and the run has continued in another process. */
const isOutlived = (row: RunRow, log: RunLog): boolean =>
  log.isClosed && continuesAfter(row, attemptOf(log.base));

/** Whether earlier attempts may have shared frames after this one, which the log of a later attempt does not have. */
const lacksEarlier = ({ frames }: EngineContext, log: RunLog, after: number): boolean =>
  frames !== undefined && after < log.base - 1;

/** Whether the caller has seen the last shared frame of the run. */
async function hasAll({ frames }: EngineContext, { run_id, attempt }: Run, after: number): Promise<boolean> {
  const page = after < 0 ? undefined : await frames?.read(run_id, after);
  return page !== undefined && page.is_ended && after === page.next - 1 && attemptOf(after) >= attempt;
}

/**
 * As `joinRunStream`, for a stateless run while its frames are retained. Its thread may be deleted already.
 * @throws NotFoundError (`run_not_found`)
 */
export async function joinStatelessStream(
  context: EngineContext,
  runId: string,
  options: StreamJoinOptions,
): Promise<JoinedStream> {
  const { after = -1 } = options;
  const run_id = requireUuid(runId, ["path", "run_id"]);
  const live = context.live.find(run_id);
  const known = context.live.logOf(run_id);
  const isWhole =
    known !== undefined &&
    !lacksEarlier(context, known, after) &&
    !(await continuesRemotely(context, known, run_id));
  const page = isWhole ? undefined : await sharedPage(context, run_id, after);
  // While shared frames cannot be read, an incomplete local log is better than none.
  const log = page ? undefined : known;
  const isOwn = (scope: string | null) => !context.caller || scope === scopeOf(context);
  if (log?.stateless && log.reaches(after) && isOwn(log.stateless.scope)) {
    const run = { run_id, thread_id: log.stateless.thread_id };
    const leave = () => live && stopRun(context, run, live);
    const read = log.read(after);
    return joinedLog(run, log, live ? localFrames(context, live, read) : read, options, leave);
  }
  if (!page?.about.stateless || !isOwn(page.about.stateless.scope)) throw new NotFoundError("run", run_id);
  const { thread_id } = page.about;
  const row = await context.storage.runs.get(thread_id, run_id);
  const end = { status: "success" as const, updated_at: new Date().toISOString() };
  const gone = { run_id, thread_id, attempt: attemptOf(page.next), kwargs: {}, ...end };
  const run = row ? runModel(row) : gone;
  const isOver = (!row || isFinished(row)) && page.is_ended && after === page.next - 1;
  const frames = isOver ? NOTHING_LEFT : remoteFrames(context, run, after);
  return { run, ...joined(frames, options, () => stopRun(context, run, undefined)), isOver };
}

/** As `isOutlived`, if the row was not read yet. Only a failed run can have continued. */
async function continuesRemotely({ storage }: EngineContext, log: RunLog, runId: string): Promise<boolean> {
  if (!log.stateless || !log.isClosed || log.kept.at(-1)?.event !== "error") return false;
  const row = await storage.runs.get(log.stateless.thread_id, runId);
  return row !== undefined && isOutlived(row, log);
}

/** How long the first frames of a run that another process has just accepted may take, in milliseconds. */
const FIRST_FRAMES_MS = 250;

async function sharedPage({ frames }: EngineContext, runId: string, after: number) {
  const page = await frames?.read(runId, after);
  if (page || !frames) return page;
  await pause(FIRST_FRAMES_MS, undefined);
  return frames.read(runId, after);
}

function joinedLog(
  { run_id, thread_id }: RunKey,
  log: RunLog,
  frames: LogReader,
  options: StreamJoinOptions,
  leave: () => void,
): JoinedStream {
  const isOver = log.endsWith(options.after ?? -1);
  if (isOver) frames.leave();
  return { run: { run_id, thread_id }, ...joined(isOver ? NOTHING_LEFT : frames, options, leave), isOver };
}

/** The stream of one reader. `leave` is called when the reader disconnects and the run is to be cancelled. */
function joined(
  frames: LogReader,
  { modes, cancelOnDisconnect = false }: StreamJoinOptions,
  leave: () => void,
): Pick<JoinedStream, "frames" | "disconnect" | "resumable"> {
  return {
    frames: modes && modes.length > 0 ? onlyModes(frames, modes) : frames,
    disconnect: () => {
      frames.leave();
      if (cancelOnDisconnect) leave();
    },
    resumable: true,
  };
}

/** Interrupts the run of a disconnected client, in whichever attempt it is. */
export function stopRun(context: EngineContext, run: RunKey, live: LiveRun | undefined): void {
  let last = live;
  while (last?.next.live) last = last.next.live;
  if (last && !last.hasLeft) return last.stop(RunAborted.from("disconnected"));
  stopRemoteRuns(context, run).catch((error: unknown) =>
    context.logger.error(
      { err: error, run_id: run.run_id },
      "a run of another process could not be cancelled",
    ),
  );
}

// Selection of stream modes.

/** Events that every reader gets, regardless of the requested modes. */
const ALWAYS = new Set(["metadata", "end", "error"]);

/** The frames of these modes, with unchanged ids. */
async function* onlyModes(frames: AsyncIterable<readonly RunFrame[]>, modes: readonly StreamMode[]) {
  const wanted = new Set<string>(modes.map((mode) => (mode === "messages-tuple" ? "messages" : mode)));
  for await (const batch of frames) {
    const shown = batch.filter(
      ({ event }) => ALWAYS.has(event) || wanted.has(event.split(/[|/]/, 1)[0] ?? ""),
    );
    if (shown.length > 0) yield shown;
  }
}

/** The rest of a stream whose reader has seen every frame. */
const NOTHING_LEFT: LogReader = {
  leave: () => undefined,
  async *[Symbol.asyncIterator]() {
    // Nothing.
  },
};
