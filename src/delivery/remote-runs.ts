/** Runs that another process executes, or did until it died: their answer, their end, and asking for it. */
import type { JsonObject } from "../models/common.js";
import type { Run } from "../models/run.js";
import { isFinished, now } from "../storage/rows/rows.js";
import type { RunKey, RunRow, ThreadLease } from "../storage/contract/storage.js";
import { NotFoundError, StorageUnavailableError } from "../support/errors.js";
import { pause } from "../support/pause.js";
import type { OpsContext } from "../context/context.js";
import type { EngineContext } from "../runs/live-runs.js";
import { UNOWNED } from "../runs/run-owners.js";
import { runAnswer } from "../graphs/stream/stream-frames.js";
import { failedAnswer } from "../runs/run-results.js";
import { readerOf } from "../threads/thread-state.js";

/**
 * The answer of a run that is not this process's: from its row and its checkpoints.
 * @throws StorageUnavailableError when the storage stays away (`storage_unavailable`)
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

/** How often the row of such a run is looked at: by itself, and where its end is heard of. */
const LOOK_MS = 500;
const RARE_LOOK_MS = 2_000;
/** How often a run whose process has died meanwhile is seen to. */
export const RECOVERY_MS = 5_000;
/** A storage that is away for longer is given up, and whoever follows the run has to come back. */
const PATIENCE_MS = 60_000;

/** Ask the process that executes a run to stop it; a run that waits, or whose process is dead, is settled at once. */
export async function stopRemoteRuns(context: EngineContext, run: RunKey): Promise<void> {
  const { thread_id, run_id } = run;
  if (context.queue && (await stopWaiting(context, run))) return;
  await context.storage.runs.requestCancel(run_id);
  await context.recover({ threadId: thread_id });
}

/** False for a run that does not wait in the queue, or has been taken from it meanwhile. */
async function stopWaiting(context: EngineContext, { thread_id, run_id }: RunKey): Promise<boolean> {
  const { runs } = context.storage;
  const row = await runs.get(thread_id, run_id);
  if (row?.status !== "pending" || row.owner !== UNOWNED) return false;
  const updated_at = now();
  const { owner, attempt = 0 } = row;
  const patch = { updated_at, status: "interrupted" as const, resumption: null };
  if (!(await runs.update(run_id, patch, { owner, attempt }))) return false;
  // The run before it may have left the thread busy for it.
  await context.live.results.reconcile(row);
  context.queue?.notify();
  return true;
}

/** The lease of a thread whose runs are to stop, wherever they are. */
export async function acquireAfterStop(
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
export async function endRemoteRun(
  context: EngineContext,
  run: RunKey,
  signal?: AbortSignal,
): Promise<RunRow | undefined> {
  let last: RunRow | undefined;
  for await (const row of pollRow(context, run, signal)) last = row;
  return last;
}

/** The row of a run at each look, until it has ended or is gone. */
export async function* pollRow(
  context: EngineContext,
  { thread_id, run_id }: RunKey,
  signal?: AbortSignal,
): AsyncGenerator<RunRow | undefined> {
  const left = new AbortController();
  const leave = signal ? AbortSignal.any([signal, left.signal]) : left.signal;
  let end = context.frames?.ended(run_id, leave).catch(() => undefined);
  let recoveredAt = performance.now();
  try {
    for (;;) {
      const row = await retryWhileUnavailable(() => context.storage.runs.get(thread_id, run_id), signal);
      yield row;
      if (!row || isFinished(row)) return;
      if (!end) await pause(LOOK_MS, signal);
      else if (await isFirst(end, pause(RARE_LOOK_MS, signal))) end = undefined;
      if (performance.now() - recoveredAt < RECOVERY_MS) continue;
      recoveredAt = performance.now();
      await retryWhileUnavailable(() => context.recover({ threadId: thread_id }), signal);
    }
  } finally {
    left.abort();
  }
}

/** Which of the two comes first. */
const isFirst = (one: Promise<unknown>, other: Promise<unknown>): Promise<boolean> =>
  Promise.race([one.then(() => true), other.then(() => false)]);

/**
 * Read again while the storage is away: the run may go on, and has not failed because it cannot be looked at.
 * @throws StorageUnavailableError when it stays away (`storage_unavailable`)
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
      await pause(LOOK_MS, signal);
    }
  }
}
