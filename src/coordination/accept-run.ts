/** Accepts runs: checks, lock, row, execution (docs/specification.md#concurrency). Every new run passes through here. */
import type { Run, RunCreateRequest } from "../models/run.js";
import type { RunKey, ThreadLease, ThreadPatch } from "../storage/contract/storage.js";
import { now } from "../storage/rows/rows.js";
import { ThreadBusyError } from "../support/errors.js";
import { nextTurn } from "../support/event-loop.js";
import { requireUuid } from "../support/ids.js";
import { CLOCK_WAIT_MS } from "../context/thread-heads.js";
import { checkRequest } from "../runs/check-request.js";
import type { EngineContext, LiveRun } from "../runs/live-runs.js";
import type { Accepted } from "../runs/queue.js";
import type { AcceptOptions } from "../runs/run-options.js";
import { type CheckedRequest, strategyOf, traceParent } from "../runs/run-request.js";
import { scopeOf } from "../threads/thread-origin.js";
import {
  beginQueued,
  insertRun,
  newLiveRun,
  prepareRun,
  requireThread,
  stopOthers,
  takesOverRow,
} from "./start-run.js";

/**
 * Accepts a run: it is in flight, or stored and queued. Without a shared queue, a run that its caller waits for is stored
 * only when it has its thread.
 * @throws NotFoundError (`assistant_not_found`, `thread_not_found`, `checkpoint_not_found`)
 * @throws ThreadBusyError (`thread_busy`)
 * @throws ThreadExistsError if the thread to create belongs to another caller (`thread_exists`)
 * @throws UnsupportedOptionError (`unsupported_option`)
 * @throws GraphChangedError (`graph_changed`)
 * @throws TooManyActiveRunsError (`too_many_runs`)
 */
export async function acceptRun(
  context: EngineContext,
  threadId: string,
  request: RunCreateRequest,
  options: AcceptOptions = {},
): Promise<Accepted<LiveRun>> {
  const accept = async (): Promise<Accepted<LiveRun>> => {
    context.live.stopping.throwIfAborted();
    const id = requireUuid(threadId, ["path", "thread_id"]);
    const { takesOver, known } = options;
    const checked: CheckedRequest = { ...(await checkRequest(context, id, request)), takesOver, known };
    if (context.tracing) checked.traceParent = await traceParent(context, id, request);
    return context.queue?.accept(context, checked, options) ?? acceptHere(context, checked, options);
  };
  return context.queue ? accept() : context.live.active.during(scopeOf(context), accept);
}

/** Accepts a run that this process executes. */
async function acceptHere(
  context: EngineContext,
  checked: CheckedRequest,
  options: AcceptOptions,
): Promise<Accepted<LiveRun>> {
  const free = await tryLock(context, checked);
  if (!free && !options.isAwaited) return { run: await queueRun(context, checked, options) };
  const lease = free ?? (await waitForLock(context, checked, options.signal));
  const live = await startHolding(context, checked, lease, options);
  return { run: live.run, live };
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
  { signal, ...options }: AcceptOptions,
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
  options: AcceptOptions,
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
