/** From a request to a run in flight: checks, lock, row, execution (docs/specification.md#concurrency). */
import type { GraphConfig } from "../graphs/graph.js";
import type { BoundGraph } from "../graphs/registry.js";
import { previewOf } from "../graphs/thread-preview.js";
import type { Run, RunCreateRequest } from "../models/run.js";
import { now } from "../storage/rows/rows.js";
import type {
  RunHolder,
  RunKey,
  RunRow,
  Storage,
  ThreadLease,
  ThreadPatch,
  ThreadRow,
} from "../storage/contract/storage.js";
import { NotFoundError, ThreadBusyError } from "../support/errors.js";
import { nextTurn } from "../support/event-loop.js";
import { requireUuid } from "../support/ids.js";
import type { OpsContext } from "../context/context.js";
import { Execution } from "../runs/execute.js";
import { guardGraph } from "../runs/graph-guard.js";
import { type EngineContext, LiveRun } from "../runs/live-runs.js";
import {
  addressedResume,
  bindGraph,
  busyThread,
  type CallOptions,
  type CheckedRequest,
  graphInput,
  type GraphStamp,
  newRun,
  readRequest,
  refuseUnfiltered,
  refuseUnsupported,
  strategyOf,
  traceParent,
} from "../runs/run-request.js";
import { type Origin, requireCheckpoint } from "../context/run-checkpointer.js";
import type { LiveRunOptions, QueueOptions } from "../runs/run-options.js";
import { requeuedResumption, resumptionOf } from "../runs/resumption.js";
import {
  assertNotForeign,
  ownThread,
  scopeOf,
  visibleThread,
  writersWith,
} from "../threads/thread-origin.js";
import { onEnd } from "./stateless-runs.js";
import { queued, started } from "../runs/state.js";
import { registerRunWebhook, resumeThreadRow } from "./run-rows.js";
import { CLOCK_WAIT_MS, clockPastRow } from "../context/thread-heads.js";
import { createThread } from "../threads/thread-state.js";

export interface StartOptions extends LiveRunOptions {
  /** Aborts when the caller disconnects. */
  signal?: AbortSignal;
  /** Set for a run that was requested earlier. */
  known?: CheckedRequest["known"];
}

/**
 * Starts a run. Resolves when it is in flight: lock held, row stored.
 * @throws NotFoundError (`assistant_not_found`, `thread_not_found`, `checkpoint_not_found`)
 * @throws ThreadBusyError (`thread_busy`)
 * @throws ThreadExistsError if the thread to create belongs to another caller (`thread_exists`)
 * @throws UnsupportedOptionError (`unsupported_option`)
 * @throws GraphChangedError (`graph_changed`)
 */
export async function startRun(
  context: EngineContext,
  threadId: string,
  request: RunCreateRequest,
  options: StartOptions = {},
): Promise<LiveRun> {
  const { signal, known } = options;
  return accepted(context, async () => {
    const checked = { ...(await checkRequest(context, threadId, request)), known };
    const lease = (await tryLock(context, checked)) ?? (await waitForLock(context, checked, signal));
    return startHolding(context, checked, lease, options);
  });
}

/** @throws TooManyActiveRunsError (`too_many_runs`) */
const accepted = <T>(context: EngineContext, work: () => Promise<T>): Promise<T> =>
  context.live.active.during(scopeOf(context), work);

/**
 * Like `startRun`, but on a busy thread the run is stored immediately and starts when the thread is free.
 * @returns the accepted run; `pending` if it is queued
 */
export async function enqueueRun(
  context: EngineContext,
  threadId: string,
  request: RunCreateRequest,
  { takesOver, known, ...options }: QueueOptions,
): Promise<Run> {
  if (context.queue)
    return (await context.queue.start(context, threadId, request, { takesOver, known, ...options })).run;
  return accepted(context, async () => {
    const checked = { ...(await checkRequest(context, threadId, request)), takesOver, known };
    const lease = await tryLock(context, checked);
    if (!lease) return queueRun(context, checked, options);
    return (await startHolding(context, checked, lease, options)).run;
  });
}

/** Checks that need no lock, in the order in which errors are reported. */
export async function checkRequest(
  context: EngineContext,
  threadId: string,
  request: RunCreateRequest,
): Promise<CheckedRequest> {
  context.live.stopping.throwIfAborted();
  const id = requireUuid(threadId, ["path", "thread_id"]);
  const call = readRequest(context, id, request);
  const graphId = context.registry.resolve(request.assistant_id);
  await assertReachable(context, request, call);
  await requireCheckpoint(context, call.configurable);
  await refuseUnsupported(context, request);
  const bound = await bindGraph(context, graphId, call, request);
  const input = await graphInput(request, bound.graph);
  refuseUnfiltered(context, call, bound);
  const parent = context.tracing && (await traceParent(context, id, request));
  return { ...call, threadId: id, request, bound, input, traceParent: parent, since: performance.now() };
}

/** Locks a free thread; undefined if it is busy and the run may wait for it or take it over. */
async function tryLock(context: EngineContext, checked: CheckedRequest): Promise<ThreadLease | undefined> {
  const { threadId, request } = checked;
  const strategy = strategyOf(context, request);
  const lease = await context.storage.locks.acquire(threadId, { wait: false });
  if (lease || strategy === "enqueue") return lease;
  if (!takesOverRow(context, checked)) throw new ThreadBusyError(threadId);
  await stopOthers(context, checked);
  return undefined;
}

/** Stops the runs that are in flight or queued on the thread, according to the strategy of the new run. */
export async function stopOthers(
  context: EngineContext,
  { threadId, request }: CheckedRequest,
): Promise<void> {
  const { cancelRuns } = await import("./cancel.js");
  const action = strategyOf(context, request) === "rollback" ? "rollback" : "interrupt";
  await cancelRuns(context, { thread_id: threadId }, { action, isTakeover: true });
}

/** Whether the run stops others that are in flight or queued on its thread. */
export function takesOverRow(context: OpsContext, { request, takesOver }: CheckedRequest): boolean {
  const strategy = strategyOf(context, request);
  return (
    (takesOver ?? context.settings.multitask_cancel) && (strategy === "interrupt" || strategy === "rollback")
  );
}

/** Waits in order of arrival. A run that takes the thread over starts before the runs queued earlier. */
async function waitForLock(
  context: EngineContext,
  checked: CheckedRequest,
  signal?: AbortSignal,
): Promise<ThreadLease> {
  const { threadId } = checked;
  const { storage, live } = context;
  const leave = signal ? AbortSignal.any([signal, live.stopping]) : live.stopping;
  const wait = () => storage.locks.acquire(threadId, { wait: true, signal: leave });
  const report = setTimeout(reportWait, LONG_WAIT_MS, context, threadId).unref();
  const lease = await (takesOverRow(context, checked) ? live.takeOver(threadId, wait) : wait()).finally(() =>
    clearTimeout(report),
  );
  if (!lease) throw new ThreadBusyError(threadId);
  return lease;
}

/** A request that waits this long for its thread is logged, in milliseconds: proxies time out some time later. */
const LONG_WAIT_MS = 10_000;

function reportWait(context: EngineContext, thread_id: string): void {
  void runningOn(context, thread_id).then((run_id) =>
    context.logger.info(
      { thread_id, run_id, seconds: LONG_WAIT_MS / 1000 },
      run_id === undefined
        ? "a run waits for its thread, which another process has locked"
        : "a run waits for its thread, which has a run in flight",
    ),
  );
}

/** Logs the wait of a queued run that a caller waits for, if it has not started by then. */
export function reportQueuedWait(context: EngineContext, run: RunKey): void {
  setTimeout(reportQueued, LONG_WAIT_MS, context, run).unref();
}

function reportQueued(context: EngineContext, { thread_id, run_id: waiting_run_id }: RunKey): void {
  const { live, logger, storage } = context;
  if (live.stopping.aborted) return;
  const report = async () => {
    const row = await storage.runs.get(thread_id, waiting_run_id);
    if (row?.status !== "pending") return;
    const run_id = await runningOn(context, thread_id);
    logger.info(
      { thread_id, run_id, waiting_run_id, seconds: LONG_WAIT_MS / 1000 },
      run_id === undefined
        ? "a queued run waits for a process with free capacity"
        : "a run waits for its thread, which has a run in flight",
    );
  };
  // Without the storage there is nothing to report.
  report().catch(() => undefined);
}

/** Id of the run in flight on the thread, in any process. Undefined if there is none or the storage is unavailable. */
async function runningOn({ live, storage }: EngineContext, threadId: string): Promise<string | undefined> {
  const local = live.ofThread(threadId).find(({ state }) => state === "running");
  if (local) return local.run.run_id;
  const query = { threadId, status: "running", limit: 1, offset: 0 } as const;
  const [row] = await storage.runs.list(query).catch(() => []);
  return row?.run_id;
}

/** Stores the row of the run and starts it, under the lease of its thread. */
async function startHolding(
  context: EngineContext,
  checked: CheckedRequest,
  lease: ThreadLease,
  { signal, ...options }: StartOptions,
): Promise<LiveRun> {
  const live = await releasedOnThrow(lease, () => newLiveRun(context, checked, options, 1));
  await live.begin(lease, () => {
    signal?.throwIfAborted();
    const store = (patch: ThreadPatch) => insertRun(context, checked, live, patch);
    return prepareRun(context, checked, live, lease, store, CLOCK_WAIT_MS);
  });
  return live;
}

/** From `begin` on, the run owns the lease. An error before that must release it. */
async function releasedOnThrow<T>(lease: ThreadLease, work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    await lease.release();
    throw error;
  }
}

/**
 * Stores the run immediately and starts it when its thread is free. If the queue turns out to be full while the run is
 * being stored, its row is deleted again.
 */
async function queueRun(
  context: EngineContext,
  checked: CheckedRequest,
  options: LiveRunOptions,
): Promise<Run> {
  const live = newLiveRun(context, checked, options, 0);
  const leaving = new AbortController();
  const lease = waitForLock(context, checked, leaving.signal);
  const stored = storeQueued(context, checked, live, lease).then(() => live.queue(leaving));
  stored.catch((error: unknown) => leaving.abort(error));
  void beginQueued(context, checked, live, lease, stored);
  await stored;
  return live.run;
}

/** Stores a queued run. The status of the thread stays the same: another run is in flight on it. */
async function storeQueued(
  context: EngineContext,
  checked: CheckedRequest,
  live: LiveRun,
  lease: Promise<ThreadLease>,
): Promise<void> {
  const { threadId, request } = checked;
  let refusal: ThreadBusyError | undefined;
  lease.catch((error: unknown) => {
    if (error instanceof ThreadBusyError) refusal = error;
  });
  const throwRefusal = () => {
    if (refusal) throw refusal;
  };
  await nextTurn();
  throwRefusal();
  await requireThread(context, threadId, request);
  await insertRun(context, checked, live, { updated_at: now() });
  try {
    throwRefusal();
  } catch (error) {
    const { run } = live;
    await context.storage.runs.delete(run.thread_id, run.run_id);
    throw error;
  }
}

/** Starts a run that is stored, or being stored, when its thread is free. Never rejects. */
export async function beginQueued(
  context: EngineContext,
  checked: CheckedRequest,
  live: LiveRun,
  waiting: Promise<ThreadLease>,
  stored: Promise<void>,
): Promise<void> {
  try {
    const lease = await waiting;
    await live.begin(lease, async () => {
      await stored;
      return prepareRun(context, checked, live, lease, (patch) => resumeThreadRow(context, live, patch));
    });
  } catch (error) {
    // If storing failed, the caller gets that error. A stored run must be settled here.
    await stored.then(
      () => live.fail(error),
      () => undefined,
    );
  }
}

/** Prepares the execution under the lease of the thread. `store` returns whether the row is already `running`. */
export async function prepareRun(
  context: EngineContext,
  checked: CheckedRequest,
  { run, log, watch, holder }: LiveRun,
  lease: ThreadLease,
  store: (patch: ThreadPatch) => Promise<boolean>,
  clockWaitMs?: number,
): Promise<Execution> {
  const { threadId, configurable, earlier } = checked;
  await context.live.results.flush(threadId);
  let row = await requireThread(context, threadId, checked.request);
  // With a shared queue, interrupted runs are already ahead of this one in the queue.
  if (row.status === "busy" && context.storage.runs.take && !earlier && !context.queue) {
    await awaitRecovery(context, threadId, lease);
    row = await requireThread(context, threadId, checked.request);
  }
  const caughtUp = clockPastRow(row, clockWaitMs);
  if (caughtUp) await caughtUp;
  const { bound, origin } = await openRunThread(context, row, checked.bound, { configurable });
  refuseUnfiltered(context, checked, bound);
  await guardGraph(context, { ...row, graphs: origin.graphs }, { ...checked, bound });
  const input = await addressedResume(bound, checked.input, configurable);
  const refusal = await refusalOf(context, { ...checked, bound }, run);
  const stamp = stampOf(context, bound.id);
  const ids = { thread_id: threadId, run_id: run.run_id };
  const request = { ...checked, bound, input, configurable: { ...configurable, ...ids, ...stamp } };
  // Nothing may throw between storing the row and creating the execution that settles it.
  const preview = row.preview ? undefined : previewOf(input, bound.filter);
  const busy = () => ({
    ...busyThread(context, checked.request, stamp, origin.graphs),
    ...(preview && { preview }),
  });
  const isBegun = await store(refusal ? { updated_at: now() } : busy());
  const own = { run, request, origin, holder, earlier, isBegun };
  return new Execution(context, { ...own, lease, log, watch, refusal });
}

/** Error for a strict resume of unknown interrupts. A run that resumes from its own checkpoint was checked before. */
async function refusalOf(
  context: OpsContext,
  { request, bound: { graph }, configurable, earlier }: CheckedRequest,
  run: Run,
): Promise<Error | undefined> {
  if (!request.strict_resume || earlier?.checkpointId !== undefined) return undefined;
  const { unknownInterrupts } = await import("../threads/pending-interrupts.js");
  return unknownInterrupts(context, run, { graph, configurable });
}

/** An unlocked thread with the status `busy` was left by a dead process. Its runs resume before this one. */
async function awaitRecovery(context: EngineContext, threadId: string, lease: ThreadLease): Promise<void> {
  await context.recover({ threadId, under: lease });
  context.live.stopping.throwIfAborted();
}

export function newLiveRun(
  context: EngineContext,
  { threadId, request, bound, since, known, traceParent: parent }: CheckedRequest,
  options: LiveRunOptions,
  attempt: number,
): LiveRun {
  const run = newRun(context, threadId, request, stampOf(context, bound.id), attempt, known, parent);
  const resumption = context.storage.runs.take ? resumptionOf(context, request, options) : null;
  const { atEnd } = options;
  const ifLost =
    resumption && !options.unattended ? () => requeuedResumption(context, request, options) : undefined;
  const ending = {
    ...options,
    ifLost,
    ...(request.webhook != null && { atEnd: onEnd(context, run, atEnd) }),
  };
  return new LiveRun(context, run, since, ending, resumption);
}

export const stampOf = ({ registry }: OpsContext, graphId: string): GraphStamp => ({
  graph_id: graphId,
  assistant_id: registry.uuidOf(graphId),
});

// The thread of a run that starts. The caller holds its lease.

interface RunThread {
  /** The graph to run, with a filter for all graphs that have written to the thread. */
  bound: BoundGraph;
  /** Recorded in the checkpoints of the run. */
  origin: Origin;
}

/**
 * Checks the thread before locking it. Otherwise a caller could learn whether another caller's thread is busy, and a
 * missing thread must be reported before other errors of the request. If no other error is possible, the check after
 * locking suffices, which saves a query.
 * @throws the same errors as `requireThread`
 */
async function assertReachable(
  context: OpsContext,
  request: RunCreateRequest,
  { modes, configurable: { thread_id, checkpoint_id } }: CallOptions,
): Promise<void> {
  if (request.if_not_exists === "create") return assertNotForeign(context, thread_id);
  const mayBeRefused =
    checkpoint_id !== undefined ||
    request.after_seconds != null ||
    request.webhook != null ||
    modes.includes("events");
  if (context.caller || mayBeRefused) await visibleThread(context, thread_id);
}

/**
 * The thread of a run. A missing thread is created with the metadata of the run if the request allows it, so that thread
 * searches find it. An existing thread keeps its metadata.
 * @throws NotFoundError (`thread_not_found`), also for a thread of another caller
 * @throws ThreadExistsError if the thread to create belongs to another caller (`thread_exists`)
 */
export async function requireThread(
  context: OpsContext,
  threadId: string,
  { if_not_exists, metadata }: RunCreateRequest,
): Promise<ThreadRow> {
  const row = await ownThread(context, threadId);
  if (row) return row;
  if (if_not_exists === "create") {
    // Concurrent requests may create the thread without a lock: one succeeds.
    const created =
      (await createThread(context, { thread_id: threadId, metadata })) ??
      (await ownThread(context, threadId));
    if (created) return created;
  }
  throw new NotFoundError("thread", threadId);
}

async function openRunThread(
  context: OpsContext,
  row: ThreadRow,
  bound: BoundGraph,
  config: GraphConfig,
): Promise<RunThread> {
  const graphs = await writersWith(context, row, bound.id);
  const filter = await context.registry.filterAmong(bound, graphs, config);
  return { bound: { ...bound, filter }, origin: { graphs, scope: scopeOf(context) ?? row.scope } };
}

/**
 * Stores the row of the run and updates its thread. After a storage error the row may exist: a run with a known id then
 * continues.
 * @throws NotFoundError (`thread_not_found`)
 */
async function insertRun(
  context: EngineContext,
  checked: CheckedRequest,
  { run, resumption }: LiveRun,
  thread: ThreadPatch,
): Promise<false> {
  const { storage, live, ownerId } = context;
  const { known } = checked;
  const row = { ...run, ...(run.attempt === 0 ? queued(ownerId) : started(ownerId)), resumption };
  if (checked.request.webhook != null) await registerRunWebhook(context, run, checked);
  let isStored: boolean;
  try {
    isStored = await storeRow(storage, row, thread, known?.from);
  } catch (error) {
    live.results.markUncertain(run, known !== undefined);
    throw error;
  }
  if (!isStored) throw new NotFoundError("thread", run.thread_id);
  return false;
}

/**
 * Inserts a run, or, with `from`, transfers the existing run from that owner to this process. Updates its thread. False if
 * the thread does not exist or the run has another owner.
 */
async function storeRow(
  { runs, threads }: Storage,
  row: RunRow,
  thread: ThreadPatch,
  from: RunHolder | undefined,
): Promise<boolean> {
  if (!from) return runs.insert(row, thread);
  const { run_id, thread_id, state, owner, attempt, resumption } = row;
  const patch = { updated_at: thread.updated_at, state, owner, attempt, resumption };
  if (runs.take) return runs.take({ run_id, thread_id }, from, patch, thread);
  if (!(await runs.update(run_id, patch, from))) return false;
  return (await threads.update(thread_id, thread)) !== undefined;
}
