/** How a run ends, in this process or another: its answer, its final row, and its cancellation. */
import type { JsonObject } from "../models/common.js";
import type { Run } from "../models/run.js";
import { isFinished, now } from "../storage/rows/rows.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type { RunKey, RunRow } from "../storage/contract/runs.js";
import { NotFoundError, StorageUnavailableError } from "../support/errors.js";
import { pause } from "../support/pause.js";
import type { OpsContext } from "../context/context.js";
import type { EngineContext, LiveRun } from "../runs/live-runs.js";
import { RunAborted } from "../runs/run-aborted.js";
import { ended, isUnclaimed, leaseOf } from "../runs/state.js";
import { runAnswer } from "../graphs/stream/stream-frames.js";
import { failedAnswer } from "../runs/run-results.js";
import { runModel } from "../storage/rows/run-rows.js";
import { readerOf } from "../threads/thread-state.js";

/**
 * The answer of a run once it has ended. `live` is the run in this process; another process may continue it.
 * @throws StorageUnavailableError if the storage stays unavailable (`storage_unavailable`)
 */
export async function answerOf(
  context: EngineContext,
  run: Run,
  live: LiveRun | undefined,
  signal?: AbortSignal,
): Promise<JsonObject> {
  const last = live && (await lastAttempt(context, live, signal));
  if (last) return last.answer();
  const row = await endOf(context, run, signal);
  if (!row) throw new NotFoundError("run", run.run_id);
  if (row.error !== null) return failedAnswer(new Error(row.error));
  return retryWhileUnavailable(() => storedValues(context, run), signal);
}

/** The end of a run of this process, even if another process continues it. */
export async function localEnd(context: EngineContext, live: LiveRun): Promise<Run> {
  const last = await lastAttempt(context, live);
  if (last) return last.ended();
  const row = await endOf(context, live.run);
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
export async function nextAttempt(
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

/** The visible values of a run's last checkpoint. */
export async function storedValues(context: OpsContext, { thread_id, run_id }: RunKey): Promise<JsonObject> {
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

/** Poll intervals of a remote run's row, in milliseconds: alone, and in addition to notifications. */
const POLL_MS = 500;
const NOTIFIED_POLL_MS = 2_000;
/** How often a run is recovered in case its process has crashed, in milliseconds. */
export const RECOVERY_MS = 5_000;
/** How long an unavailable storage is retried, in milliseconds. Then clients of the run must reconnect. */
const PATIENCE_MS = 60_000;

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

/**
 * Asks the run's process to cancel it. A queued run, or a run of a dead process, is settled immediately. True if the run
 * has ended because no process had it.
 */
export async function stopRemoteRuns(context: EngineContext, run: RunKey): Promise<boolean> {
  const { thread_id, run_id } = run;
  if (context.queue.isShared && (await stopWaiting(context, run))) return true;
  await context.storage.runs.requestCancel(run_id);
  await context.recover({ threadId: thread_id });
  return false;
}

/** Cancels a queued run. False if the run is not queued or was claimed meanwhile. */
async function stopWaiting(context: EngineContext, { thread_id, run_id }: RunKey): Promise<boolean> {
  const { runs } = context.storage;
  const row = await runs.get(thread_id, run_id);
  if (row?.status !== "pending" || !isUnclaimed(row)) return false;
  const patch = { updated_at: now(), ...ended("interrupted") };
  if (!(await runs.update(run_id, patch, leaseOf(row)))) return false;
  // An earlier run may have left the thread busy for this one.
  await context.live.results.reconcile(row);
  context.queue.notify();
  return true;
}

/** How often a request that waits for a thread looks for late runs, in milliseconds. */
export const LATE_MS = 500;

/**
 * The lease of a thread, after cancelling its runs in all processes, and late runs: another process may have locked the
 * thread for a run that it has not stored yet.
 */
export async function acquireAfterStop(
  { storage: { locks, runs } }: OpsContext,
  threadId: string,
): Promise<ThreadLease | undefined> {
  const lease = await locks.acquire(threadId, { wait: false });
  if (lease) return lease;
  for (;;) {
    for (const { run_id, thread_id } of await runs.unfinished({ threadId })) {
      // A custom storage may predate this argument, and return all runs.
      if (thread_id === threadId) await runs.requestCancel(run_id);
    }
    const signal = AbortSignal.timeout(LATE_MS);
    try {
      return await locks.acquire(threadId, { wait: true, first: true, signal });
    } catch (error) {
      if (error !== signal.reason) throw error;
    }
  }
}

/**
 * The row of a run once it has ended; undefined if it was deleted. Rejects with the reason of `signal` if that aborts.
 * @throws StorageUnavailableError if the storage stays unavailable (`storage_unavailable`)
 */
export async function endOf(
  context: EngineContext,
  run: RunKey,
  signal?: AbortSignal,
): Promise<RunRow | undefined> {
  let last: RunRow | undefined;
  for await (const row of pollRow(context, run, signal)) last = row;
  return last;
}

/** Yields the row of a run at each poll, until the run has ended or was deleted. */
export async function* pollRow(
  context: EngineContext,
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
