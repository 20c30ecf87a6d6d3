/** Cancels and deletes runs. */
import type { CancelManyRequest, Run } from "../models/run.js";
import { acceptanceKey, now } from "../storage/rows/rows.js";
import { isFinished, UNFINISHED } from "../models/run-status.js";
import type { RunRow } from "../storage/contract/runs.js";
import { ThreadBusyError } from "../support/errors.js";
import { requireUuid } from "../support/ids.js";
import { stopRemoteRuns } from "../delivery/run-ends.js";
import { endOf } from "../delivery/poll-run.js";
import type { EngineContext } from "../runs/live-runs.js";
import { delayed, ended, hasBegun, isDelayed } from "../runs/state.js";
import { RunAborted } from "../runs/run-aborted.js";
import type { CheckedRequest } from "../runs/run-request.js";
import { endUnstarted, scheduleEnd } from "./at-end.js";
import { deleteEnded, deleteRow, rollBack, rollBackHere, rollBackRemote } from "./rollback.js";
import { keepWriters, ownThread, runRow } from "../threads/thread-origin.js";

export interface CancelOptions {
  /** Whether to resolve only when the run has ended. */
  wait?: boolean;
  /** `rollback` also deletes the run and its checkpoints. */
  action?: "interrupt" | "rollback";
  /** Aborts when the caller disconnects; the call then stops waiting. */
  signal?: AbortSignal;
  /** Set for a run that takes the thread over. Delayed runs then stay: they are not queued on the thread yet. */
  isTakeover?: boolean;
  /** Only runs that were accepted before this one. */
  before?: Run;
}

/** Maximum number of runs that one call may cancel. */
const MOST_RUNS = 1000;

/** Interrupts a run; has no effect on an ended run. @throws NotFoundError (`run_not_found`) */
export async function cancelRun(
  context: EngineContext,
  threadId: string,
  runId: string,
  options: CancelOptions,
): Promise<void> {
  await cancelRow(context, await runRow(context, threadId, runId), options);
}

/** Interrupts the given runs of a thread, or all of them, optionally only those with a given status. */
export async function cancelRuns(
  context: EngineContext,
  { thread_id, run_ids, status }: CancelManyRequest,
  options: CancelOptions,
): Promise<void> {
  const id = requireUuid(thread_id, ["body", "thread_id"]);
  const wanted = run_ids && new Set(run_ids.map((runId) => runId.toLowerCase()));
  if (context.caller && !(await ownThread(context, id))) return;
  const { runs } = context.storage;
  const rows = new Map<string, RunRow>();
  // In this order, a run that starts in between is not missed.
  for (const status of UNFINISHED)
    for (const row of await runs.list({ threadId: id, status, limit: MOST_RUNS, offset: 0 }))
      rows.set(row.run_id, row);
  const chosen = [...rows.values()].filter(
    (row) =>
      !(options.isTakeover && isDelayed(row)) &&
      (!options.before || acceptanceKey(row) < acceptanceKey(options.before)) &&
      (!wanted || wanted.has(row.run_id)) &&
      (status == null || status === "all" || status === row.status),
  );
  await Promise.all(chosen.map((row) => cancelRow(context, row, options)));
}

/** Stops the runs that are in flight or queued on the thread, or only these, according to the strategy of the new run. */
export async function stopOthers(
  context: EngineContext,
  { threadId, strategy }: CheckedRequest,
  { run_ids, before }: { run_ids?: string[]; before?: Run } = {},
): Promise<void> {
  const action = strategy === "rollback" ? "rollback" : "interrupt";
  await cancelRuns(context, { thread_id: threadId, run_ids }, { action, isTakeover: true, before });
}

/**
 * Deletes the row of an ended run; its checkpoints stay.
 * @throws NotFoundError (`run_not_found`)
 * @throws ThreadBusyError while the run is in flight (`thread_busy`)
 */
export async function deleteRun(context: EngineContext, threadId: string, runId: string): Promise<void> {
  const row = await settledRow(context, threadId, runId);
  if (!isFinished(row) && !(isDelayed(row) && (await cancelDelayed(context, row))))
    throw new ThreadBusyError(row.thread_id, `run "${row.run_id}" is ${row.status}`);
  const thread = await context.storage.threads.get(row.thread_id);
  if (thread) await keepWriters(context, thread);
  await deleteEnded(context, row);
}

/** The row of the run, after recovery: the row of a run whose process died may still say `running`. */
async function settledRow(context: EngineContext, threadId: string, runId: string): Promise<RunRow> {
  const row = await runRow(context, threadId, runId);
  if (isFinished(row) || context.live.find(row.run_id)) return row;
  await context.recover({ threadId: row.thread_id });
  return runRow(context, threadId, runId);
}

async function cancelRow(context: EngineContext, row: RunRow, options: CancelOptions): Promise<void> {
  const { wait, action, signal } = options;
  if (isFinished(row)) return;
  if (isDelayed(row)) {
    const isCancelled = await cancelDelayed(context, row);
    if (!isCancelled) return cancelRow(context, await runRow(context, row.thread_id, row.run_id), options);
    if (action === "rollback") await deleteRow(context, row);
    return;
  }
  const live = context.live.find(row.run_id);
  if (action === "rollback") return live ? rollBackHere(context, row, live) : rollBackElsewhere(context, row);
  if (live) live.stop(RunAborted.from("cancelled"));
  else if (await stopRemoteRuns(context, row)) await scheduleEnd(context, row, row);
  if (!wait) return;
  if (live) await live.answer(signal);
  else await cancelledEnding(context, row, signal);
}

/** Cancels a delayed run and deletes its temporary thread, if any. Returns false if the run is no longer delayed. */
export async function cancelDelayed(context: EngineContext, row: RunRow): Promise<boolean> {
  const { runs, timers } = context.storage;
  const { run_id } = row;
  const timer = await timers?.get("run", run_id);
  const patch = { updated_at: now(), ...ended("interrupted") };
  if (!(await runs.update(run_id, patch, delayed))) return false;
  await timers?.delete("run", run_id);
  await endUnstarted(context, { ...row, ...patch }, { isTemporary: timer?.data.is_temporary === true });
  return true;
}

/** Waits for the end of a run of another process. */
function cancelledEnding(context: EngineContext, row: RunRow, signal: AbortSignal | undefined) {
  const { stopping } = context.live;
  return endOf(context, row, signal ? AbortSignal.any([signal, stopping]) : stopping);
}

/** Rolls back a run that is not live in this process. */
async function rollBackElsewhere(context: EngineContext, row: RunRow): Promise<void> {
  const { runs } = context.storage;
  const { thread_id, run_id } = row;
  if (hasBegun(row)) {
    if (await rollBackRemote(context, row)) return;
    // It has ended, or another process has it.
    const changed = await runs.get(thread_id, run_id);
    if (changed) await cancelRow(context, changed, { action: "rollback" });
    return;
  }
  // From here on it cannot start, but it may have started since its row was read.
  await runs.requestCancel(run_id);
  const asked = await runs.get(thread_id, run_id);
  if (asked && hasBegun(asked)) {
    const own = context.live.find(run_id);
    if (own) return rollBackHere(context, asked, own);
    if (await rollBackRemote(context, asked)) return;
  }
  if (await stopRemoteRuns(context, row)) await scheduleEnd(context, row, row);
  const ending = await cancelledEnding(context, row, undefined);
  if (ending?.attempt === 0) await deleteEnded(context, row);
  else await rollBack(context, row);
}
