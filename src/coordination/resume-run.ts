/** Resumes a run that another process started or accepted. The caller holds the lease of its thread. */
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { type Breakpoints, isAtBreakpoint } from "../graphs/breakpoints.js";
import { now } from "../storage/rows/rows.js";
import { isFinished, type RunStatus } from "../models/run-status.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type { Resumption, RunLease, RunPatch, RunRow } from "../storage/contract/runs.js";
import type { ThreadPatch } from "../storage/contract/threads.js";
import {
  GraphChangedError,
  GraphServeError,
  NotFoundError,
  StorageUnavailableError,
} from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import { withParts } from "../context/context.js";
import { type EngineContext, LiveRun } from "../runs/live-runs.js";
import type { RunLog } from "../frames/run-log.js";
import type { LiveRunOptions } from "../runs/run-options.js";
import { migrated, withBreakpoints } from "../runs/graph-guard.js";
import { originalRequest } from "../runs/resumption.js";
import { checkRequest } from "../runs/check-request.js";
import type { CheckedRequest } from "../runs/run-request.js";
import { requireCheckpoint } from "../context/checkpoint-selector.js";
import { hasWritten, rootOf, writerOf } from "../threads/run-checkpoints.js";
import { scopeOf } from "../threads/thread-origin.js";
import { runModel } from "../storage/rows/run-rows.js";
import { paused } from "../runs/run-ending.js";
import { claimed, ended, leaseOf, requeued } from "../runs/state.js";
import { onEnd, removalOf } from "./at-end.js";
import { beginQueued, prepareRun } from "./start-run.js";

/** A run of a dead process that can be resumed. */
export interface InterruptedRun {
  row: RunRow;
  resumption: Resumption;
  /** The context of the caller that created the run. */
  context: EngineContext;
  checked: CheckedRequest;
  /** Known duration of the interrupted attempt, in milliseconds. */
  tookMs: number;
}

/**
 * Reads and checks the stored request of a run.
 * @throws GraphServeError if the run can no longer be executed, for instance because its graph is not served (`run_failed`)
 * @throws StorageUnavailableError (`storage_unavailable`)
 */
export async function readInterruptedRun(
  context: EngineContext,
  row: RunRow,
  resumption: Resumption,
  tookMs: number,
): Promise<InterruptedRun> {
  try {
    return { row, resumption, ...(await callAgain(context, row, resumption)), tookMs };
  } catch (error) {
    throw cannotResume(error);
  }
}

/** The checked request of a run, and the context of its caller. @throws GraphServeError if its graph can no longer be called */
export async function callAgain(
  context: EngineContext,
  row: RunRow,
  resumption: Resumption,
): Promise<Pick<InterruptedRun, "context" | "checked">> {
  const own = resumption.caller ? withParts(context, { caller: resumption.caller }) : context;
  const request = await withBreakpoints(own, row, originalRequest(row));
  const checked = await checkRequest(own, row.thread_id, request, "again");
  const { assistant_id } = row.metadata;
  // The stored request names the graph, and contains what its assistant added when the run was accepted.
  const stamp = typeof assistant_id === "string" ? { ...checked.stamp, assistant_id } : checked.stamp;
  return { context: own, checked: { ...checked, stamp } };
}

/** Wraps an error as `run_failed`, except errors that the run did not cause. */
function cannotResume(error: unknown): unknown {
  if (error instanceof StorageUnavailableError || error instanceof GraphChangedError) return error;
  const message = `the server stopped during the run, and it cannot be resumed: ${errorMessage(error)}`;
  return new GraphServeError("run_failed", message, { cause: error });
}

/**
 * Claims the runs of a thread and executes them one after the other, in their order. If one cannot be claimed and has not
 * ended, those behind it are left to the next recovery. `begun` resolves when the first run is in flight; `ended` when the
 * last run has ended and the lease is released. Neither this function nor these promises reject.
 */
export async function resumeThread(
  runs: readonly InterruptedRun[],
  lease: ThreadLease,
): Promise<{ begun: Promise<unknown>; ended: Promise<void> }> {
  let begun: Promise<unknown> | undefined;
  let before = Promise.resolve();
  for (const [index, run] of runs.entries()) {
    const isWaiting = run.row.status !== "running";
    const last = runs[index - 1];
    if (isWaiting && !begun) {
      const turn = lend(lease);
      before = turn.returned;
      begun = beginWaiting(run, turn);
      if (run !== runs.at(-1) && (await begun) === "left" && !(await hasEnded(run))) break;
      continue;
    }
    const live = await takeOver(run);
    if (!live && !(await hasEnded(run))) break;
    if (!live) continue;
    const turn = lend(lease);
    if (begun && last) before = queue(run, live, turn, { run: last, before });
    else {
      before = turn.returned;
      begun = begin(run, live, turn);
    }
  }
  return { begun: begun ?? Promise.resolve(), ended: before.then(() => lease.release()) };
}

/** Whether the run has ended or was deleted. False if the storage does not answer. Never rejects. */
async function hasEnded({ row, context: { storage } }: InterruptedRun): Promise<boolean> {
  const stored = storage.runs.get(row.thread_id, row.run_id);
  return stored.then(
    (now) => !now || isFinished(now),
    () => false,
  );
}

interface Lent extends ThreadLease {
  returned: Promise<void>;
}

/** Passes the lease to one of several consecutive runs. Releasing it resolves `returned`; the lease itself stays held. */
function lend(lease: ThreadLease): Lent {
  let release: () => void = () => undefined;
  const returned = new Promise<void>((resolve) => (release = resolve));
  return { lost: lease.lost, confirm: () => lease.confirm?.(), release, returned };
}

/**
 * Claims a run. Undefined if the run has ended, another process owns it, this process is stopping, or the storage does not
 * answer; recovery then retries it. Never rejects.
 */
async function takeOver(run: InterruptedRun): Promise<LiveRun | undefined> {
  if (run.context.live.stopping.aborted) return undefined;
  const live = liveOf(run);
  const { updated_at } = live.run;
  const { ownerId } = run.context;
  const lease = run.row.status === "running" ? claimed(ownerId, run.row) : requeued(run.row, ownerId);
  const patch = { updated_at, ...lease, resumption: live.resumption };
  return (await take(run, patch, { updated_at }).catch(() => false)) ? live : undefined;
}

/** @throws StorageUnavailableError (`storage_unavailable`): the run may or may not have been claimed */
async function take(
  { row, context: { storage, live, logger } }: InterruptedRun,
  patch: RunPatch & RunLease,
  thread: ThreadPatch,
): Promise<boolean> {
  const { run_id } = row;
  try {
    const isOurs = (await storage.runs.take?.(row, leaseOf(row), patch, thread)) ?? false;
    if (isOurs) live.results.taken(row);
    return isOurs;
  } catch (error) {
    logger.error({ err: error, run_id }, "an interrupted run could not be claimed");
    live.results.markUncertain(row, true);
    throw error;
  }
}

function liveOf(run: InterruptedRun): LiveRun {
  const { row, context, resumption } = run;
  const { attempt, status } = row;
  const next = { updated_at: now(), attempt: status === "running" ? attempt + 1 : attempt };
  const model = runModel({ ...row, ...next });
  const kept = { ...resumption, spent_ms: spentOf(run) };
  const options = optionsOf(run, next.attempt);
  if (!context.live.requeued.hasClient(row.run_id))
    return new LiveRun(context, model, performance.now(), options, kept);
  // If this process dies, its client is gone.
  const attended = { ...options, ifLost: () => kept };
  return new LiveRun(context, model, performance.now(), attended, { ...kept, unattended: false });
}

const spentOf = ({ resumption, tookMs }: InterruptedRun): number => resumption.spent_ms + tookMs;

function optionsOf(run: InterruptedRun, attempt: number): LiveRunOptions {
  const { row, resumption, context } = run;
  const { thread_id } = row;
  const stateless = resumption.stateless && { thread_id, scope: scopeOf(context) };
  const atEnd = resumption.stateless?.temporary ? removalOf(context, thread_id) : undefined;
  const hasWebhooks = context.timers?.kinds.includes("webhook");
  return {
    unattended: true,
    log: logOf(run, stateless, attempt),
    ...(stateless && { stateless }),
    ...((atEnd || hasWebhooks) && { atEnd: hasWebhooks ? onEnd(context, row, atEnd) : atEnd }),
  };
}

/** The log that captures the frames which the original request needs; undefined if it needs none. */
function logOf(
  { row, resumption: { frames }, context: { live } }: InterruptedRun,
  stateless: LiveRunOptions["stateless"],
  attempt: number,
): RunLog | undefined {
  if (frames === "none") return live.followersLog(row.thread_id);
  return live.newLog(row.thread_id, { stateless, attempt, ...(frames === "all" && { isWide: true }) });
}

/** Resolves when the run is in flight, or has ended without starting. Never rejects. */
async function begin(run: InterruptedRun, live: LiveRun, lease: ThreadLease): Promise<void> {
  const { row, context, checked } = run;
  const { thread_id } = row;
  try {
    const store = async (patch: ThreadPatch) => {
      if (await context.storage.threads.update(thread_id, patch)) return true;
      throw new NotFoundError("thread", thread_id);
    };
    const prepare = async () => {
      const start = await startOf(run, lease);
      return prepareRun(context, { ...checked, ...start }, live, lease, store);
    };
    await live.begin(lease, prepare());
  } catch (error) {
    if (error instanceof AtBreakpoint) await endPaused(run, live);
    else await live.fail(cannotResume(error));
  }
}

/** What the earlier attempts of a run that has not started have done. */
const NOT_STARTED = { checkpointId: undefined, spentMs: 0 };

/** The run has ended, another process owns it, or this process is stopping: no outcome is stored here. */
class NotTaken extends Error {}

/**
 * Starts an unowned run at the front of the queue. One statement claims it and sets its status to `running`. Resolves
 * when the run is in flight, has ended without starting, or is `left` to another process or the next recovery. Never
 * rejects.
 */
async function beginWaiting(run: InterruptedRun, turn: ThreadLease): Promise<"left" | undefined> {
  const { context, checked } = run;
  const live = liveOf(run);
  const { ownerId } = context;
  let isTried = false;
  const takeAs = async (lease: RunLease, status: RunStatus, thread: ThreadPatch) => {
    isTried = true;
    if (context.live.stopping.aborted) throw new NotTaken();
    const { updated_at } = thread;
    if (await take(run, { updated_at, status, ...lease, resumption: live.resumption }, thread)) return true;
    throw new NotTaken();
  };
  try {
    const own = { ...checked, earlier: NOT_STARTED };
    const store = (patch: ThreadPatch) => takeAs(claimed(ownerId, run.row), "running", patch);
    await live.begin(turn, prepareRun(context, own, live, turn, store));
  } catch (error) {
    // A failed claim is retried by recovery.
    if (isTried) return "left";
    return takeAs(requeued(run.row, ownerId), "pending", { updated_at: now() }).then(
      () => live.fail(error).then(() => undefined),
      () => "left",
    );
  }
  return undefined;
}

/**
 * Queues a run behind the previous runs of its thread. Resolves when it has ended, or, if it left the queue, when the
 * previous runs have. It leaves the queue if the run before it could not start: it is requeued then, to keep its place.
 */
function queue(
  run: InterruptedRun,
  live: LiveRun,
  turn: Lent,
  { run: last, before }: { run: InterruptedRun; before: Promise<void> },
): Promise<void> {
  const leaving = new AbortController();
  const left = new Promise<never>((_, reject) => {
    leaving.signal.addEventListener("abort", () => reject(leaving.signal.reason as Error), { once: true });
  });
  live.queue(leaving);
  const next = before.then(async () => {
    if (await hasEnded(last)) return turn;
    throw new StorageUnavailableError("the run before it could not be resumed");
  });
  const waiting = Promise.race([next, left]);
  void (run.row.status === "running"
    ? waiting.then(
        () => begin(run, live, turn),
        (error: unknown) => live.fail(error),
      )
    : beginQueued(run.context, { ...run.checked, earlier: NOT_STARTED }, live, waiting, Promise.resolve()));
  return waiting.then(
    () => turn.returned,
    () => before,
  );
}

// Where a run resumes.

type Start = Pick<CheckedRequest, "input" | "configurable" | "earlier">;

/**
 * Resumes from the latest checkpoint, without the input, if the run wrote that checkpoint. Otherwise starts again with the
 * input: a run that writes its checkpoints at its end has none yet.
 * @throws GraphServeError if the thread was written to after the last write of the run (`run_failed`)
 */
async function startOf(run: InterruptedRun, lease: ThreadLease): Promise<Start> {
  const { row, context, checked } = run;
  const { run_id } = row;
  const { checkpointer } = context.storage;
  let latest = await checkpointer.getTuple(rootOf(row));
  const spentMs = spentOf(run);
  if (latest && writerOf(latest) === run_id) {
    if (context.migrations) latest = await migratedHead(run, latest, lease);
    const { checkpoint_id: _1, checkpoint_map: _2, ...others } = checked.configurable;
    const configurable = { ...others, checkpoint_ns: "" };
    const { bound, options } = checked;
    if (await isAtBreakpoint(bound.graph, options as Breakpoints, { configurable })) throw new AtBreakpoint();
    return { input: null, configurable, earlier: { checkpointId: latest.checkpoint.id, spentMs } };
  }
  if (await hasWritten(context, row))
    throw new GraphServeError("run_failed", "its thread was written to after the run stopped");
  await requireCheckpoint(context, checked.configurable);
  return { ...checked, earlier: { checkpointId: undefined, spentMs } };
}

/** The latest checkpoint after its thread was converted. Its writer stays the same. */
async function migratedHead(
  { row, context, checked }: InterruptedRun,
  latest: CheckpointTuple,
  lease: ThreadLease,
): Promise<CheckpointTuple> {
  const thread = await context.storage.threads.get(row.thread_id);
  if (!thread) return latest;
  await migrated(context, thread, checked.bound, lease, { input: null, ...rootOf(row) });
  return (await context.storage.checkpointer.getTuple(rootOf(row))) ?? latest;
}

/** The run had reached a breakpoint before that was stored. Resuming it would pass the breakpoint. */
class AtBreakpoint extends Error {}

async function endPaused(
  { context, row: { run_id, thread_id } }: InterruptedRun,
  { holder }: LiveRun,
): Promise<void> {
  const updated_at = now();
  const { status, threadStatus } = paused(context.settings);
  await context.storage.runs.settle([
    {
      runId: run_id,
      holder,
      run: { updated_at, ...ended(status) },
      threadId: thread_id,
      thread: { updated_at, state_updated_at: updated_at, status: threadStatus },
    },
  ]);
}
