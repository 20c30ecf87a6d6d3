/** Goes on with a run that another process began, or was to begin; the caller holds its thread's lease. */
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { type Breakpoints, isAtBreakpoint } from "../graphs/breakpoints.js";
import { now } from "../storage/rows/rows.js";
import type { RunStatus } from "../models/run.js";
import type {
  Resumption,
  RunHolder,
  RunKey,
  RunPatch,
  RunRow,
  ThreadLease,
  ThreadPatch,
} from "../storage/contract/storage.js";
import { errorMessage, GraphServeError, NotFoundError, StorageUnavailableError } from "../support/errors.js";
import { type OpsContext, withParts } from "../context/context.js";
import { type EngineContext, LiveRun } from "../runs/live-runs.js";
import type { RunLog } from "../frames/run-log.js";
import type { LiveRunOptions } from "../runs/run-options.js";
import { originalRequest } from "../runs/resumption.js";
import { bindGraph, type CheckedRequest, graphInput, readRequest } from "../runs/run-request.js";
import { requireCheckpoint } from "../context/run-checkpointer.js";
import { runModel, scopeOf } from "../threads/thread-origin.js";
import { paused } from "../runs/run-results.js";
import { beginQueued, prepareRun } from "./start-run.js";
import { onEnd, removalOf } from "./stateless-runs.js";

/** A run of a dead process that can go on. */
export interface InterruptedRun {
  row: RunRow;
  resumption: Resumption;
  /** On whose behalf it runs. */
  context: EngineContext;
  checked: CheckedRequest;
  /** How long the attempt that was cut off took, in milliseconds, as far as it is known. */
  tookMs: number;
}

/**
 * Read again what the run was asked for.
 * @throws GraphServeError when it cannot be called any more, for instance since its graph is not served (`run_failed`)
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

/** What its graph is called with, and on whose behalf. @throws GraphServeError when it cannot be called any more */
export async function callAgain(
  context: EngineContext,
  row: RunRow,
  resumption: Resumption,
): Promise<Pick<InterruptedRun, "context" | "checked">> {
  const own = resumption.caller ? withParts(context, { caller: resumption.caller }) : context;
  const request = originalRequest(row);
  const call = readRequest(own, row.thread_id, request);
  const graphId = context.registry.resolve(request.assistant_id);
  const bound = await bindGraph(context, graphId, call, request, true);
  const input = await graphInput(request, bound.graph);
  const since = performance.now();
  return { context: own, checked: { ...call, threadId: row.thread_id, request, bound, input, since } };
}

/** The storage is none of the run's faults. */
function cannotResume(error: unknown): unknown {
  if (error instanceof StorageUnavailableError) return error;
  const message = `the server stopped during the run, and it cannot be resumed: ${errorMessage(error)}`;
  return new GraphServeError("run_failed", message, { cause: error });
}

/**
 * Take the runs of a thread over, in their order, and let one follow the other; those that are another's by now are left
 * out. `begun` resolves when the first of them is in flight; `ended` when the last has ended, and the lease has been
 * released. Never rejects, and neither do they.
 */
export async function resumeThread(
  runs: readonly InterruptedRun[],
  lease: ThreadLease,
): Promise<{ begun: Promise<void>; ended: Promise<void> }> {
  let begun: Promise<void> | undefined;
  let before = Promise.resolve();
  for (const run of runs) {
    const isWaiting = run.row.status !== "running";
    if (isWaiting && !begun) {
      const turn = lend(lease);
      before = turn.returned;
      begun = beginWaiting(run, turn);
      continue;
    }
    const live = await takeOver(run);
    if (!live) continue;
    const turn = lend(lease);
    if (isWaiting) before = queue(run, live, turn, before);
    else {
      before = turn.returned;
      begun ??= begin(run, live, turn);
    }
  }
  return { begun: begun ?? Promise.resolve(), ended: before.then(() => lease.release()) };
}

interface Lent extends ThreadLease {
  returned: Promise<void>;
}

/** The lease, for one of those that have it one after the other. */
function lend(lease: ThreadLease): Lent {
  let giveBack: () => void = () => undefined;
  const returned = new Promise<void>((resolve) => (giveBack = resolve));
  return { lost: lease.lost, confirm: () => lease.confirm?.(), release: giveBack, returned };
}

/**
 * Undefined when the run has ended, is another's, is left to others as the process ends, or cannot be had now: then it is
 * looked for again. Never rejects.
 */
async function takeOver(run: InterruptedRun): Promise<LiveRun | undefined> {
  if (run.context.live.stopping.aborted) return undefined;
  const live = liveOf(run);
  const { updated_at } = live.run;
  const { owner } = live.holder;
  const patch = { updated_at, owner, attempt: live.run.attempt, resumption: live.resumption };
  return (await take(run, patch, { updated_at }).catch(() => false)) ? live : undefined;
}

/** @throws StorageUnavailableError: then it is not known whether it was taken (`storage_unavailable`) */
async function take(
  { row, context: { storage, live, logger } }: InterruptedRun,
  patch: RunPatch & RunHolder,
  thread: ThreadPatch,
): Promise<boolean> {
  const { run_id, owner, attempt = 1 } = row;
  try {
    const isOurs = (await storage.runs.take?.(row, { owner, attempt }, patch, thread)) ?? false;
    if (isOurs) live.results.taken(row);
    return isOurs;
  } catch (error) {
    logger.error({ err: error, run_id }, "a run that was cut off could not be taken over");
    live.results.markUncertain(row, true);
    throw error;
  }
}

/** The run as this process will have it. */
function liveOf(run: InterruptedRun): LiveRun {
  const { row, context, resumption } = run;
  const { attempt = 1, status } = row;
  const next = { updated_at: now(), attempt: status === "running" ? attempt + 1 : attempt };
  const model = runModel({ ...row, ...next });
  const kept = { ...resumption, spent_ms: spentOf(run) };
  return new LiveRun(context, model, performance.now(), optionsOf(run, next.attempt), kept);
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

/** Its frames, as far as whoever accepted it wants any. */
function logOf(
  { row, resumption: { frames }, context: { live } }: InterruptedRun,
  stateless: LiveRunOptions["stateless"],
  attempt: number,
): RunLog | undefined {
  if (frames === "none") return live.followersLog(row.thread_id);
  if (frames === "wide") return live.logWith({ stateless, isWide: true, attempt });
  return live.newLog(row.thread_id, stateless, attempt);
}

/** Resolves when the run is in flight, or has ended before. Never rejects. */
async function begin(run: InterruptedRun, live: LiveRun, lease: ThreadLease): Promise<void> {
  const { row, context, checked } = run;
  const { thread_id } = row;
  try {
    await live.begin(lease, async () => {
      const place = await placeOf(run);
      return prepareRun(context, { ...checked, ...place }, live, lease, async (patch) => {
        if (await context.storage.threads.update(thread_id, patch)) return true;
        throw new NotFoundError("thread", thread_id);
      });
    });
  } catch (error) {
    if (error instanceof AtBreakpoint) await endPaused(run, live);
    else await live.fail(cannotResume(error));
  }
}

/** The run has ended, is another's, or is left to others: nothing is to be told of it here. */
class NotTaken extends Error {}

/**
 * Begin a run that nobody has, and that nothing is in front of: it is taken by the statement that says it runs. Resolves
 * when it is in flight, or has ended before. Never rejects.
 */
async function beginWaiting(run: InterruptedRun, lease: ThreadLease): Promise<void> {
  const { context, checked } = run;
  const live = liveOf(run);
  const { holder, resumption } = live;
  const earlier = { checkpointId: undefined, spentMs: 0 };
  let isTried = false;
  const takeAs = async (status: RunStatus, thread: ThreadPatch) => {
    isTried = true;
    if (context.live.stopping.aborted) throw new NotTaken();
    const { updated_at } = thread;
    if (await take(run, { updated_at, status, ...holder, resumption }, thread)) return true;
    throw new NotTaken();
  };
  try {
    await live.begin(lease, () =>
      prepareRun(context, { ...checked, earlier }, live, lease, (patch) => takeAs("running", patch)),
    );
  } catch (error) {
    // What was tried is looked for again.
    if (isTried) return;
    await takeAs("pending", { updated_at: now() }).then(
      () => live.fail(error),
      () => undefined,
    );
  }
}

/** A run that never began waits for those before it. Resolves when it has ended, or left the queue and they have. */
function queue(
  { context, checked }: InterruptedRun,
  live: LiveRun,
  turn: Lent,
  before: Promise<void>,
): Promise<void> {
  const place = new AbortController();
  const left = new Promise<never>((_, reject) => {
    place.signal.addEventListener("abort", () => reject(place.signal.reason as Error), { once: true });
  });
  live.queue(place);
  const waiting = Promise.race([before.then(() => turn), left]);
  const earlier = { checkpointId: undefined, spentMs: 0 };
  void beginQueued(context, { ...checked, earlier }, live, waiting, Promise.resolve());
  return waiting.then(
    () => turn.returned,
    () => before,
  );
}

// Where a run goes on.

type Start = Pick<CheckedRequest, "input" | "configurable" | "earlier">;

/**
 * From the latest checkpoint, without its input, when that is the run's; else from the start, with its input: a run that
 * writes its checkpoints at the end has none before.
 * @throws GraphServeError when others have written to the thread since the run did (`run_failed`)
 */
async function placeOf(run: InterruptedRun): Promise<Start> {
  const { row, context, checked } = run;
  const { run_id } = row;
  const { checkpointer } = context.storage;
  const latest = await checkpointer.getTuple(rootOf(row));
  const spentMs = spentOf(run);
  if (latest && writerOf(latest) === run_id) {
    const { checkpoint_id: _1, checkpoint_map: _2, ...others } = checked.configurable;
    const configurable = { ...others, checkpoint_ns: "" };
    const { bound, options } = checked;
    if (await isAtBreakpoint(bound.graph, options as Breakpoints, { configurable })) throw new AtBreakpoint();
    return { input: null, configurable, earlier: { checkpointId: latest.checkpoint.id, spentMs } };
  }
  if (await hasWritten(context, row))
    throw new GraphServeError("run_failed", "its thread has been written to since");
  await requireCheckpoint(context, checked.configurable);
  return { ...checked, earlier: { checkpointId: undefined, spentMs } };
}

export const rootOf = ({ thread_id }: RunKey) => ({ configurable: { thread_id, checkpoint_ns: "" } });

/** Whether there is a checkpoint of the run. */
export async function hasWritten({ storage: { checkpointer } }: OpsContext, row: RunKey): Promise<boolean> {
  for await (const _ of checkpointer.list(rootOf(row), { filter: { run_id: row.run_id }, limit: 1 }))
    return true;
  return false;
}

export const writerOf = ({ metadata }: CheckpointTuple): unknown =>
  (metadata as { run_id?: unknown } | undefined)?.run_id;

/** The run had stopped for somebody to look, which nobody was told: going on would pass the breakpoint. */
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
      run: { updated_at, status, resumption: null },
      threadId: thread_id,
      thread: { updated_at, state_updated_at: updated_at, status: threadStatus },
    },
  ]);
}
