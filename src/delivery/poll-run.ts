/** Polls the row of a run, which another process may execute, and reads the values with which it ended. */
import { v6 } from "uuid";
import type { OpsContext } from "../context/context.js";
import type { Snapshot, SnapshotTask } from "../graphs/graph.js";
import { runAnswer } from "../graphs/stream/stream-frames.js";
import type { JsonObject } from "../models/common.js";
import { answerFrom } from "../models/interrupt-answer.js";
import type { Attempt } from "../runs/requeued-runs.js";
import type { RecoveryContext } from "../runs/run-owners.js";
import { isUnclaimed } from "../runs/state.js";
import type { RunKey, RunRow } from "../storage/contract/runs.js";
import { isFinished } from "../models/run-status.js";
import { StorageUnavailableError } from "../support/errors.js";
import { pause } from "../support/pause.js";
import { isResumption, runOfStep } from "../threads/step-run.js";
import { latestSnapshot, type Reader, readerOf } from "../threads/thread-state.js";

/** Poll intervals of a remote run's row, in milliseconds: alone, and in addition to notifications. */
const POLL_MS = 500;
const NOTIFIED_POLL_MS = 2_000;
/** How often a run is recovered in case its process has crashed, in milliseconds. */
export const RECOVERY_MS = 5_000;
/** How long an unavailable storage is retried, in milliseconds. Then clients of the run must reconnect. */
const PATIENCE_MS = 60_000;

/**
 * The row of a run once it has ended; undefined if it was deleted. Rejects with the reason of `signal` if that aborts.
 * @throws StorageUnavailableError if the storage stays unavailable (`storage_unavailable`)
 */
export async function endOf(
  context: RecoveryContext,
  run: RunKey,
  signal?: AbortSignal,
): Promise<RunRow | undefined> {
  let last: RunRow | undefined;
  for await (const row of pollRow(context, run, signal)) last = row;
  return last;
}

/** Yields the row of a run at each poll, until the run has ended or was deleted. */
export async function* pollRow(
  context: RecoveryContext,
  { thread_id, run_id }: RunKey,
  signal?: AbortSignal,
): AsyncGenerator<RunRow | undefined> {
  const done = new AbortController();
  const stopped = signal ? AbortSignal.any([signal, done.signal]) : done.signal;
  let end = context.frames?.ended(run_id, stopped).catch(() => undefined);
  let recoveredAt = performance.now();
  try {
    for (;;) {
      const row = await retryWhileUnavailable(() => context.storage.runs.get(thread_id, run_id), signal);
      yield row;
      if (!row || isFinished(row)) return;
      if (!end) await pause(POLL_MS, signal);
      else if (await isFirst(end, pause(NOTIFIED_POLL_MS, signal))) end = undefined;
      if (performance.now() - recoveredAt < RECOVERY_MS) continue;
      recoveredAt = performance.now();
      await retryWhileUnavailable(() => context.recover({ threadId: thread_id }), signal);
    }
  } finally {
    done.abort();
  }
}

/** Whether `one` settles before `other`. */
const isFirst = (one: Promise<unknown>, other: Promise<unknown>): Promise<boolean> =>
  Promise.race([one.then(() => true), other.then(() => false)]);

/**
 * Retries while the storage is unavailable: the run may still be in flight, so a failed read must not end it.
 * @throws StorageUnavailableError if the storage stays unavailable (`storage_unavailable`)
 */
export async function retryWhileUnavailable<T>(
  read: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const since = performance.now();
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof StorageUnavailableError)) throw error;
      if (performance.now() - since > PATIENCE_MS) throw error;
      await pause(POLL_MS, signal);
    }
  }
}

/** Poll interval for the row of a requeued run, in milliseconds. */
const NEXT_ATTEMPT_POLL_MS = 500;

/** The next attempt of a run in this process. Undefined if another process has taken the run, or it has ended. */
export async function nextAttempt<Live extends Attempt<Live>>(
  { live: { stopping }, storage, ownerId }: OpsContext & { live: { stopping: AbortSignal } },
  live: Live,
  signal?: AbortSignal,
): Promise<Live | undefined> {
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

type EndedRun = Pick<RunRow, "thread_id" | "run_id" | "updated_at" | "status" | "attempt" | "kwargs">;

/**
 * The visible values with which a run ended, and its open interrupts. A run that answered one of several questions, or was
 * asked a second one by the same node, has written no checkpoint: only the thread's state has the writes of its tasks.
 */
export async function storedValues(context: OpsContext, run: EndedRun): Promise<JsonObject> {
  const row = await context.storage.threads.get(run.thread_id);
  if (!row) return {};
  const reader = await readerOf(context, row);
  const state =
    (await stateLeftBy(context, reader, run)) ??
    (await lastStateOf(reader, run)) ??
    (await resumedState(reader, run));
  if (!state) return {};
  const interrupts = state.tasks.flatMap((task) => task.interrupts ?? []);
  const filter = await reader.filter();
  return runAnswer(filter.values(state.values), interrupts.length > 0 ? interrupts : undefined);
}

/** The state of the thread if nothing has changed it since the run. */
async function stateLeftBy(
  context: OpsContext,
  reader: Reader,
  run: EndedRun,
): Promise<Snapshot | undefined> {
  const { thread_id, run_id, updated_at } = run;
  const state = await latestSnapshot(reader, thread_id);
  // An edit after the end of the run.
  if (state.createdAt === undefined || state.createdAt > updated_at) return undefined;
  return (await runOfStep(context, thread_id, state.metadata?.run_id)) === run_id ? state : undefined;
}

/** The state at the last checkpoint that the run wrote. */
async function lastStateOf(
  { graph }: Reader,
  { thread_id, run_id }: EndedRun,
): Promise<Snapshot | undefined> {
  const states = graph.getStateHistory(
    { configurable: { thread_id, checkpoint_ns: "" } },
    { limit: 1, filter: { run_id } },
  );
  for await (const state of states) return state;
  return undefined;
}

/**
 * The state that a run without checkpoints has resumed: the latest one at its end. A later run or edit has replaced what its
 * tasks wrote to it. Of several questions, those that the run answered are left out.
 */
async function resumedState({ graph }: Reader, run: EndedRun): Promise<Snapshot | undefined> {
  if (!isResumption(run)) return undefined;
  const place = { thread_id: run.thread_id, checkpoint_ns: "" };
  // Ids of checkpoints sort by their time.
  const checkpoint_id = v6({ msecs: Date.parse(run.updated_at) + 1 });
  const before = { configurable: { ...place, checkpoint_id } };
  const answered = answerFrom(run) ?? [];
  for await (const state of graph.getStateHistory({ configurable: place }, { limit: 1, before })) {
    if (state.createdAt === undefined || state.createdAt > run.updated_at) return undefined;
    const isAnswered = ({ interrupts = [] }: SnapshotTask) =>
      interrupts.some(({ id }) => id !== undefined && answered.includes(id));
    // A single node that asked again has asked under the same id.
    const tasks = state.tasks.length > 1 ? state.tasks.filter((task) => !isAnswered(task)) : state.tasks;
    return { ...state, tasks };
  }
  return undefined;
}
