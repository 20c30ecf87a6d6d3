/** Each process executes the runs that it accepts. The engine of memory, SQLite and MongoDB, and of PostgreSQL without a queue. */
import type { Run } from "../models/run.js";
import type { ThreadLease } from "../storage/contract/locks.js";
import type { ThreadPatch } from "../storage/contract/threads.js";
import { now } from "../storage/rows/rows.js";
import { ThreadBusyError } from "../support/errors.js";
import { nextTurn } from "../support/event-loop.js";
import { CLOCK_WAIT_MS } from "../context/thread-heads.js";
import type { EngineContext, LiveRun } from "../runs/live-runs.js";
import { LATE_MS } from "./delete-thread.js";
import type { Accepted, Queue } from "../runs/queue.js";
import type { AcceptOptions } from "../runs/run-options.js";
import type { CheckedRequest } from "../runs/run-request.js";
import { LONG_WAIT_MS, runningOn } from "./accept-run.js";
import {
  beginQueued,
  insertRun,
  newLiveRun,
  prepareRun,
  storeOnThread,
  withdrawRunWebhook,
} from "./start-run.js";
import { MustWait, waitInTurn } from "./thread-turns.js";
import { idleLease } from "../threads/idle-lease.js";

/** Runs wait for their threads in this process, and need no other capacity. */
export class InProcessQueue implements Queue<EngineContext, LiveRun> {
  readonly isShared = false;
  readonly #context: EngineContext;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** Starts the run if its thread is free and it is next there. Otherwise it may wait, or take the thread over. */
  async accept(
    context: EngineContext,
    checked: CheckedRequest,
    options: AcceptOptions,
  ): Promise<Accepted<LiveRun>> {
    const { threadId, takesOver, strategy } = checked;
    const { locks } = context.storage;
    const canWait = takesOver || strategy === "enqueue";
    const free = canWait
      ? await locks.acquire(threadId, { wait: false })
      : await idleLease(context, threadId);
    try {
      if (free) return await startHolding(context, checked, free, options, { isNext: true });
    } catch (error) {
      if (!(error instanceof MustWait)) throw error;
      if (!canWait) throw new ThreadBusyError(threadId);
    }
    if (takesOver) await (await import("./cancel.js")).stopOthers(context, checked);
    if (!options.isAwaited) return { run: await queueRun(context, checked, options) };
    const lease = await waitForLock(context, checked, { signal: options.signal });
    return startHolding(context, checked, lease, options);
  }

  async takeUp(threadId: string): Promise<void> {
    if (this.#context.requeues) await this.#context.recover({ threadId });
  }

  notify(): void {
    // No other process executes the runs of this one.
  }

  open(): void {
    // A run starts when it has its thread.
  }

  async stop(): Promise<void> {
    // Live runs are stopped one by one.
  }
}

/** Waits in order of acceptance. A run that takes the thread over starts before the runs queued earlier. */
async function waitForLock(
  context: EngineContext,
  checked: CheckedRequest,
  { signal, stored }: { signal: AbortSignal | undefined; stored?: () => Promise<void> },
): Promise<ThreadLease> {
  const { threadId } = checked;
  const { live } = context;
  const leave = signal ? AbortSignal.any([signal, live.stopping]) : live.stopping;
  const wait = () => waitInTurn(context, { threadId, stored, signal: leave });
  const takeOver = () => live.takeOver(threadId, () => waitStopping(context, checked, leave));
  const report = setTimeout(reportWait, LONG_WAIT_MS, context, threadId).unref();
  const lease = await (checked.takesOver ? takeOver() : wait()).finally(() => clearTimeout(report));
  if (!lease) throw new ThreadBusyError(threadId);
  return lease;
}

/**
 * Waits for the thread, and stops late runs: those for which another process had locked the thread, but which were not
 * stored yet when the runs of the thread were stopped.
 */
async function waitStopping(
  context: EngineContext,
  checked: CheckedRequest,
  leave: AbortSignal,
): Promise<ThreadLease | undefined> {
  const { live, logger, storage } = context;
  const { threadId } = checked;
  const [since, stopped] = [now(), new Set<string>()];
  const query = { threadId, status: "running", limit: 1, offset: 0 } as const;
  for (let first = false; ; first = true) {
    const late = new AbortController();
    const look = async () => {
      const [row] = await storage.runs.list(query);
      if (!row || row.created_at > since || stopped.has(row.run_id) || live.find(row.run_id)) return;
      late.abort(row.run_id);
    };
    const report = (error: unknown) =>
      logger.warn({ err: error, thread_id: threadId }, "late runs could not be read");
    const timer = setInterval(() => void look().catch(report), LATE_MS).unref();
    try {
      const signal = AbortSignal.any([leave, late.signal]);
      return await storage.locks.acquire(threadId, { wait: true, first, signal });
    } catch (error) {
      if (!late.signal.aborted || error !== late.signal.reason) throw error;
    } finally {
      clearInterval(timer);
    }
    const runId = late.signal.reason as string;
    stopped.add(runId);
    await (await import("./cancel.js")).stopOthers(context, checked, { run_ids: [runId] });
  }
}

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

/** Stores the row of the run and starts it, under the lease of its thread. @throws MustWait if `isNext` is set and it is not */
async function startHolding(
  context: EngineContext,
  checked: CheckedRequest,
  lease: ThreadLease,
  { signal, ...options }: AcceptOptions,
  { isNext = false } = {},
): Promise<Accepted<LiveRun>> {
  let live: LiveRun;
  try {
    live = newLiveRun(context, checked, options, 1);
    signal?.throwIfAborted();
  } catch (error) {
    // From `begin` on, the run releases the lease.
    await lease.release();
    throw error;
  }
  const store = (patch: ThreadPatch) => insertRun(context, checked, live, patch, isNext);
  await live.begin(lease, prepareRun(context, checked, live, lease, store, CLOCK_WAIT_MS));
  return { run: live.run, live };
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
  const lease = waitForLock(context, checked, { signal: leaving.signal, stored: () => stored });
  const stored: Promise<void> = storeQueued(context, checked, live, lease).then(() => live.queue(leaving));
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
  await storeOnThread(context, threadId, request, () =>
    insertRun(context, checked, live, { updated_at: now() }),
  );
  try {
    throwRefusal();
  } catch (error) {
    const { run } = live;
    await context.storage.runs.delete(run.thread_id, run.run_id);
    await withdrawRunWebhook(context, run, checked);
    throw error;
  }
}
