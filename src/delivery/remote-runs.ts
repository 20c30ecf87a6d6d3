/** Runs that another process executes, or executed until it crashed: their answer, their end and their cancellation. */
import type { JsonObject } from "../models/common.js";
import type { Run } from "../models/run.js";
import { isFinished, now } from "../storage/rows/rows.js";
import type { RunKey, RunRow, ThreadLease } from "../storage/contract/storage.js";
import { NotFoundError, StorageUnavailableError } from "../support/errors.js";
import { pause } from "../support/pause.js";
import type { OpsContext } from "../context/context.js";
import type { EngineContext } from "../runs/live-runs.js";
import { ended, isUnclaimed, leaseOf } from "../runs/state.js";
import { runAnswer } from "../graphs/stream/stream-frames.js";
import { failedAnswer } from "../runs/run-results.js";
import { readerOf } from "../threads/thread-state.js";

/**
 * The answer of a run of another process, from its row and its checkpoints.
 * @throws StorageUnavailableError if the storage stays unavailable (`storage_unavailable`)
 */
export async function remoteAnswer(
  context: EngineContext,
  run: Run,
  signal?: AbortSignal,
): Promise<JsonObject> {
  const ended = await endRemoteRun(context, run, signal);
  if (!ended) throw new NotFoundError("run", run.run_id);
  if (ended.error !== null) return failedAnswer(new Error(ended.error));
  return retryWhileUnavailable(() => storedValues(context, run), signal);
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

/** Asks the run's process to cancel it. A queued run, or a run of a dead process, is settled immediately. */
export async function stopRemoteRuns(context: EngineContext, run: RunKey): Promise<void> {
  const { thread_id, run_id } = run;
  if (context.queue && (await stopWaiting(context, run))) return;
  await context.storage.runs.requestCancel(run_id);
  await context.recover({ threadId: thread_id });
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
  context.queue?.notify();
  return true;
}

/** The lease of a thread, after cancelling its runs in all processes. */
export async function acquireAfterStop(
  { storage: { locks, runs } }: OpsContext,
  threadId: string,
): Promise<ThreadLease | undefined> {
  const lease = await locks.acquire(threadId, { wait: false });
  if (lease) return lease;
  for (const { run_id, thread_id } of await runs.unfinished({ threadId })) {
    // A custom storage may predate this argument, and return all runs.
    if (thread_id === threadId) await runs.requestCancel(run_id);
  }
  return locks.acquire(threadId, { wait: true, first: true });
}

/**
 * The row of a run once it has ended; undefined if it was deleted. Rejects with the reason of `signal` if that aborts.
 * @throws StorageUnavailableError if the storage stays unavailable (`storage_unavailable`)
 */
export async function endRemoteRun(
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
