/** Joins a run that was started earlier, to wait for its answer or to read its frames. */
import { attemptOf, type JoinedStream, type WaitingRun } from "../models/run-stream.js";
import type { Run, StreamMode } from "../models/run.js";
import { isFinished } from "../models/run-status.js";
import type { RunRow } from "../storage/contract/runs.js";
import { NotFoundError } from "../support/errors.js";
import { requireUuid } from "../support/ids.js";
import { pause } from "../support/pause.js";
import { readRun } from "./read-run.js";
import { answerOf, stopRun } from "./run-ends.js";
import { onlyModes } from "./selected-modes.js";
import { isEndOfSummary } from "./summary.js";
import type { EngineContext } from "../runs/live-runs.js";
import { continuesAfter } from "../runs/state.js";
import type { LogReader, RunLog } from "../frames/run-log.js";
import { runRow, scopeOf } from "../threads/thread-origin.js";
import { runModel } from "../storage/rows/run-rows.js";

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
  return { run, answer: answerOf(context, run, live, signal) };
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
  const known = kept && isOutlived(row, kept) ? undefined : kept;
  const lacksFrames = known !== undefined && lacksEarlier(context, known, after);
  const log = !lacksFrames && known?.reaches(after) ? known : undefined;
  const isOver = log
    ? log.endsWith(after)
    : isEndOfSummary(after, run) || (isFinished(run) && (await hasAll(context, run, after)));
  const frames = isOver
    ? NOTHING_LEFT
    : readRun(context, run, { after, log, live: lacksFrames ? undefined : live });
  return { run, ...joined(frames, options, () => stopRun(context, run, live)), isOver };
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
    const isOver = log.endsWith(after);
    const read = () => (live ? readRun(context, live.run, { after, log, live }) : log.read(after));
    const leave = () => live && stopRun(context, run, live);
    return { run, ...joined(isOver ? NOTHING_LEFT : read(), options, leave), isOver };
  }
  if (!page?.about.stateless || !isOwn(page.about.stateless.scope)) throw new NotFoundError("run", run_id);
  const { thread_id } = page.about;
  const row = await context.storage.runs.get(thread_id, run_id);
  const end = { status: "success" as const, updated_at: new Date().toISOString() };
  const gone = { run_id, thread_id, attempt: attemptOf(page.next), kwargs: {}, ...end };
  const run = row ? runModel(row) : gone;
  const isOver = (!row || isFinished(row)) && page.is_ended && after === page.next - 1;
  const frames = isOver ? NOTHING_LEFT : readRun(context, run, { after });
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

/** The rest of a stream whose reader has seen every frame. */
const NOTHING_LEFT: LogReader = {
  leave: () => undefined,
  async *[Symbol.asyncIterator]() {
    // Nothing.
  },
};
