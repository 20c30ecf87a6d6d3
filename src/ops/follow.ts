/** Following a run that somebody started earlier: its answer, or its frames. */
import { toJson } from "../graphs/serialize.js";
import type { JsonObject } from "../models/common.js";
import type { JoinedStream, RunFrame, WaitingRun } from "../models/run-stream.js";
import type { Run, StreamMode } from "../models/run.js";
import { isFinished } from "../storage/rows.js";
import type { RunRow, ThreadLease } from "../storage/storage.js";
import { NotFoundError, StorageUnavailableError } from "../support/errors.js";
import { requireUuid } from "../support/ids.js";
import { pause } from "../support/pause.js";
import type { OpsContext } from "./context.js";
import type { EngineContext, LiveRun } from "./live-runs.js";
import { recoverRuns } from "./recovery.js";
import { failedAnswer, RunAborted, runAnswer } from "./run-results.js";
import type { LogReader, RunLog } from "./run-log.js";
import { runModel, runRow } from "./run-request.js";
import { scopeOf } from "./thread-origin.js";
import { readerOf } from "./thread-state.js";

/** Ids of a summary are above those of every log: who comes back with one gets the rest of the summary. */
const SUMMARY_ID = 2 ** 40;
/** Summaries end with `metadata`, `error` or with `metadata`, `values`, `end`. */
const endsSummary = (after: number, run: Run): boolean =>
  isFinished(run) && after === SUMMARY_ID + (run.error === null ? 2 : 1);

type RunKey = Pick<Run, "run_id" | "thread_id">;

interface LeaveOptions {
  /** Cancel the run when the caller goes. */
  cancelOnDisconnect?: boolean;
}

export interface JoinOptions extends LeaveOptions {
  /** Aborts when the caller is gone. */
  signal?: AbortSignal;
}

/** Of a stream, the one who reads it says when it goes: `RunStream.disconnect`. */
export interface StreamJoinOptions extends LeaveOptions {
  /** Id of the last frame that the caller has seen; -1, or left out, for all that are kept. */
  after?: number;
  /** Only frames of these modes; all when left out. */
  modes?: readonly StreamMode[];
}

/** Wait for a run's end, also one that has come already. @throws NotFoundError (`run_not_found`) */
export async function joinRun(
  context: EngineContext,
  threadId: string,
  runId: string,
  { signal, cancelOnDisconnect }: JoinOptions,
): Promise<WaitingRun> {
  const run = runModel(await runRow(context, threadId, runId));
  const live = context.live.find(run.run_id);
  if (cancelOnDisconnect) signal?.addEventListener("abort", () => stop(context, run, live), { once: true });
  return { run, answer: live ? live.answer(signal) : storedAnswer(context, run, signal) };
}

/**
 * The frames of a run, from where the caller left off, under the same ids. When they are no longer kept: `metadata`,
 * the final `values` and the last frame.
 * @throws NotFoundError (`run_not_found`)
 */
export async function joinRunStream(
  context: EngineContext,
  threadId: string,
  runId: string,
  options: StreamJoinOptions,
): Promise<JoinedStream> {
  const { after = -1 } = options;
  const run = runModel(await runRow(context, threadId, runId));
  const live = context.live.find(run.run_id);
  const log = context.live.logOf(run.run_id);
  const leave = () => stop(context, run, live);
  if (log?.reaches(after)) return joinedLog(run, log, options, leave);
  const isOver = endsSummary(after, run);
  const frames = isOver ? NOTHING_LEFT : summaryAfter(context, after, run, live);
  return { run, ...joined(frames, options, leave), isOver };
}

/**
 * As `joinRunStream`, for a stateless run, while its frames are kept; its thread may be gone.
 * @throws NotFoundError (`run_not_found`)
 */
export function joinStatelessStream(
  context: EngineContext,
  runId: string,
  options: StreamJoinOptions,
): JoinedStream {
  const run_id = requireUuid(runId, ["path", "run_id"]);
  const live = context.live.find(run_id);
  const log = context.live.logOf(run_id);
  const isOwn = !context.caller || log?.stateless?.scope === scopeOf(context);
  if (!log?.stateless || !log.reaches(options.after ?? -1) || !isOwn) throw new NotFoundError("run", run_id);
  const run = { run_id, thread_id: log.stateless.thread_id };
  return joinedLog(run, log, options, () => live?.stop(RunAborted.because("disconnected")));
}

function joinedLog(run: RunKey, log: RunLog, options: StreamJoinOptions, leave: () => void): JoinedStream {
  const { after = -1 } = options;
  const isOver = log.endsWith(after);
  return { run, ...joined(isOver ? NOTHING_LEFT : log.read(after), options, leave), isOver };
}

/** What one reader gets of the frames; `leave` is called when it goes and wants to take the run along. */
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

/** The caller goes, and takes the run along. */
function stop(context: EngineContext, run: RunKey, live: LiveRun | undefined): void {
  if (live) return live.stop(RunAborted.because("disconnected"));
  stopElsewhere(context, run).catch((error: unknown) =>
    context.logger.error(
      { err: error, run_id: run.run_id },
      "a run of another process could not be cancelled",
    ),
  );
}

function summaryAfter(context: OpsContext, after: number, run: Run, live: LiveRun | undefined): LogReader {
  const left = new AbortController();
  const frames = framesAfter(after, summaryOf(context, run, live, left.signal));
  return { leave: () => left.abort(), [Symbol.asyncIterator]: () => until(left.signal, frames) };
}

/** What is left to tell of a run without a log. */
async function* summaryOf(
  context: OpsContext,
  run: Run,
  live: LiveRun | undefined,
  signal: AbortSignal,
): AsyncGenerator<readonly RunFrame[]> {
  const { run_id, thread_id } = run;
  yield [{ id: SUMMARY_ID, event: "metadata", data: JSON.stringify({ run_id, thread_id, attempt: 1 }) }];
  const answer = await (live ? live.answer(signal) : storedAnswer(context, run, signal));
  const row = await patiently(() => runRow(context, thread_id, run_id), signal);
  const { status, usage, error } = runModel(row);
  if (error !== null) {
    const data = { error: "Error", message: error, detail: error, run_id, status, usage };
    yield [{ id: SUMMARY_ID + 1, event: "error", data: JSON.stringify(data) }];
    return;
  }
  yield [
    { id: SUMMARY_ID + 1, event: "values", data: toJson(answer, "values") },
    { id: SUMMARY_ID + 2, event: "end", data: JSON.stringify({ run_id, thread_id, status, usage }) },
  ];
}

/** The answer of a run that is not this process's: from its row and its checkpoints. */
async function storedAnswer(context: OpsContext, run: Run, signal?: AbortSignal): Promise<JsonObject> {
  const ended = await endElsewhere(context, run, signal);
  if (!ended) throw new NotFoundError("run", run.run_id);
  if (ended.error !== null) return failedAnswer(new Error(ended.error));
  return patiently(() => storedValues(context, run), signal);
}

async function storedValues(context: OpsContext, { thread_id, run_id }: RunKey): Promise<JsonObject> {
  const row = await context.storage.threads.get(thread_id);
  if (!row) return {};
  const reader = await readerOf(context, row);
  const states = reader.graph.getStateHistory(
    { configurable: { thread_id, checkpoint_ns: "" } },
    { limit: 1, filter: { run_id } },
  );
  for await (const { values, tasks } of states) {
    const interrupts = tasks.flatMap((task) => task.interrupts ?? []);
    const filter = await reader.filter();
    return runAnswer(filter.values(values), interrupts.length > 0 ? interrupts : undefined);
  }
  return {};
}

// Runs that another process executes, or did until it died: asking for their end, and waiting for it.

/** How often the row of such a run is looked at. */
const LOOK_MS = 500;
/** Every so many looks, a run whose process has died meanwhile is settled here. */
const LOOKS_A_RECOVERY = 10;
/** A storage that is away for longer is given up, and whoever follows the run has to come back. */
const PATIENCE_MS = 60_000;

/** Ask the process that executes a run to stop it; a run whose process is dead is settled at once. */
export async function stopElsewhere(context: OpsContext, { thread_id, run_id }: RunKey): Promise<void> {
  await recoverRuns(context, { threadId: thread_id });
  await context.storage.runs.requestCancel(run_id);
}

/** The lease of a thread whose runs are to stop, wherever they are. */
export async function acquireStopped(
  { storage: { locks, runs } }: OpsContext,
  threadId: string,
): Promise<ThreadLease | undefined> {
  const lease = await locks.acquire(threadId, { wait: false });
  if (lease) return lease;
  for (const { run_id, thread_id } of await runs.unfinished({ threadId })) {
    // A storage of one's own may be older than the argument, and name every run.
    if (thread_id === threadId) await runs.requestCancel(run_id);
  }
  return locks.acquire(threadId, { wait: true, first: true });
}

/**
 * The row of a run when it has ended; undefined when it is gone. Rejects with the reason of `signal` when that aborts.
 * @throws StorageUnavailableError when the storage stays away (`storage_unavailable`)
 */
export async function endElsewhere(
  context: OpsContext,
  { thread_id, run_id }: RunKey,
  signal?: AbortSignal,
): Promise<RunRow | undefined> {
  for (let looks = 1; ; looks += 1) {
    const row = await patiently(() => context.storage.runs.get(thread_id, run_id), signal);
    if (!row || isFinished(row)) return row;
    await pause(LOOK_MS, signal);
    if (looks % LOOKS_A_RECOVERY === 0)
      await patiently(() => recoverRuns(context, { threadId: thread_id }), signal);
  }
}

/**
 * Read again while the storage is away: the run may go on, and has not failed because it cannot be looked at.
 * @throws StorageUnavailableError when it stays away (`storage_unavailable`)
 */
async function patiently<T>(read: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const since = performance.now();
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      if (performance.now() - since > PATIENCE_MS) throw error;
      await pause(LOOK_MS, signal);
    }
  }
}

// The part of a run's frames that one reader asked for.

/** Frames that every reader gets, whatever modes it asked for. */
const ALWAYS = new Set(["metadata", "end", "error"]);

/** The frames of these modes, under their own ids. */
async function* onlyModes(frames: AsyncIterable<readonly RunFrame[]>, modes: readonly StreamMode[]) {
  const wanted = new Set<string>(modes.map((mode) => (mode === "messages-tuple" ? "messages" : mode)));
  for await (const batch of frames) {
    const shown = batch.filter(
      ({ event }) => ALWAYS.has(event) || wanted.has(event.split(/[|/]/, 1)[0] ?? ""),
    );
    if (shown.length > 0) yield shown;
  }
}

/** What is left of a stream that its reader has seen to the end. */
const NOTHING_LEFT: LogReader = {
  leave: () => undefined,
  async *[Symbol.asyncIterator]() {
    // Nothing.
  },
};

/** The frames, which end when the signal aborts: what they wait for may reject then. */
async function* until(left: AbortSignal, frames: AsyncIterable<readonly RunFrame[]>) {
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
