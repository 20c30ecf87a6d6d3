/** From a request to a run in flight: checks, lock, row, task (spec, Concurrency rules). */
import type { BoundGraph } from "../graphs/registry.js";
import { NO_TOKENS, type Run, type RunCreateRequest } from "../models/run.js";
import type { RunRow, ThreadLease, ThreadPatch, ThreadRow } from "../storage/storage.js";
import { NotFoundError, ShuttingDownError, ThreadBusyError } from "../support/errors.js";
import { requireUuid } from "../support/ids.js";
import { now } from "../storage/rows.js";
import type { OpsContext } from "./context.js";
import { type AtEnd, countRun, measureRun, RunHandle, type RunTask } from "./live-run.js";
import type { RunTasks } from "./live-runs.js";
import { failed, lastFrame, outcomeOf, RunAborted, stopped } from "./run-results.js";
import type { RunLog } from "./run-log.js";
import {
  addressedResume,
  busyThread,
  graphInput,
  type GraphStamp,
  type Invocation,
  newRunRow,
  readInvocation,
  refuseUnfiltered,
  refuseUnsupported,
  requireCheckpoint,
  runModel,
} from "./run-request.js";
import type { GraphConfig } from "../graphs/graph.js";
import { assertNotForeign, ownThread, scopeOf, threadRow, writersWith } from "./thread-origin.js";
import type { Origin } from "./run-checkpointer.js";
import { createThread } from "./thread-state.js";
import { nextTurn } from "../support/event-loop.js";

/** A request that passed every check but has no lock and no row yet. */
interface Admission {
  threadId: string;
  request: RunCreateRequest;
  invocation: Invocation;
  /** With its own filter: which other graphs wrote to the thread is known when that is the run's. */
  bound: BoundGraph;
  /** When it passed them, by `performance.now()`. */
  since: number;
  atEnd: AtEnd | undefined;
}

export interface StartOptions {
  /** Aborts when the caller is gone. */
  signal?: AbortSignal;
  /** Takes the frames of a run that is streamed. */
  log?: RunLog;
  /** Done when the run has ended, before anybody hears of it, while its thread is still held. Never rejects. */
  atEnd?: AtEnd;
}

export class RunStarter {
  readonly #context: OpsContext;
  readonly #tasks: RunTasks;

  constructor(context: OpsContext, tasks: RunTasks) {
    this.#context = context;
    this.#tasks = tasks;
  }

  /**
   * Resolves when the run is in flight: lock held, row stored.
   * @throws NotFoundError (`assistant_not_found`, `thread_not_found`, `checkpoint_not_found`)
   * @throws ThreadBusyError (`thread_busy`)
   * @throws ThreadExistsError when it would create a thread that is another caller's (`thread_exists`)
   * @throws UnsupportedOptionError (`unsupported_option`)
   */
  async start(
    threadId: string,
    request: RunCreateRequest,
    { signal, log, atEnd }: StartOptions = {},
  ): Promise<RunTask> {
    const admission = await this.#admit(threadId, request, atEnd);
    const lease = (await this.#tryLock(admission)) ?? (await this.#waitForLock(admission, signal));
    try {
      signal?.throwIfAborted();
      return await this.#begin(admission, lease, (patch) => this.#insert(admission, patch), log);
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  /**
   * As `start`, but on a busy thread the run is stored at once, and begins when the thread is free.
   * @returns the run as it was accepted: `pending`
   */
  async enqueue(threadId: string, request: RunCreateRequest, log: RunLog, atEnd?: AtEnd): Promise<Run> {
    const admission = await this.#admit(threadId, request, atEnd);
    const lease = await this.#tryLock(admission);
    if (!lease) return this.#queue(admission, log);
    try {
      return (await this.#begin(admission, lease, (patch) => this.#insert(admission, patch), log)).run;
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  async #queue(admission: Admission, log: RunLog): Promise<Run> {
    const place = new QueuePlace((signal) => this.#waitForLock(admission, signal));
    // The thread is another run's: nothing of its status changes yet.
    const run = await place.store(
      () => this.#insertLater(admission),
      ({ thread_id, run_id }) => this.#context.storage.runs.delete(thread_id, run_id),
    );
    const handle = this.#tasks.track(new RunHandle(run, log, (reason) => place.leave(reason)));
    void this.#beginLater(admission, run, place.lease, handle);
    return run;
  }

  async #beginLater(
    admission: Admission,
    run: Run,
    waiting: Promise<ThreadLease>,
    handle: RunHandle,
  ): Promise<void> {
    let lease: ThreadLease | undefined;
    try {
      lease = await waiting;
      await this.#begin(admission, lease, (patch) => this.#wake(run, patch), handle.log);
    } catch (error) {
      await lease?.release();
      await this.#settleQueued(run, error, handle.log);
      // The run before it, or its own start, may have left the thread busy.
      this.#tasks.settlements.doubtful.add(run);
      await this.#tasks.settlements.flushAll();
      handle.fail(error);
    }
  }

  /** The thread was freed by the run before: it is busy again. */
  async #wake(run: Run, patch: ThreadPatch): Promise<Run> {
    const { run_id, thread_id } = run;
    const { runs, threads } = this.#context.storage;
    if (!(await runs.update(run_id, { updated_at: patch.updated_at, status: "running" }))) {
      throw new NotFoundError("run", run_id);
    }
    if (!(await threads.update(thread_id, patch))) throw new NotFoundError("thread", thread_id);
    return run;
  }

  /** The end of a background run that never began; its thread is another's. */
  async #settleQueued(run: Run, error: unknown, log: RunLog | undefined): Promise<void> {
    const ending =
      error instanceof RunAborted || error instanceof ShuttingDownError ? stopped : failed(error);
    const usage = { ...NO_TOKENS, source: "callbacks" as const };
    const outcome = outcomeOf(run, ending, usage);
    const idle = { ...outcome, thread: { updated_at: outcome.thread.updated_at } };
    if (!(await this.#tasks.settlements.store(idle))) this.#tasks.settlements.defer(idle);
    const { event, data } = lastFrame(run, ending, usage);
    log?.push(event, data);
    log?.close();
    const { metrics } = this.#context;
    if (metrics) countRun(metrics, { ...run, status: ending.status });
  }

  async #begin(
    admission: Admission,
    lease: ThreadLease,
    store: (patch: ThreadPatch) => Promise<Run>,
    log: RunLog | undefined,
  ): Promise<RunTask> {
    const { threadId, request, invocation } = admission;
    await this.#tasks.settlements.flush(threadId);
    const row = await requireThread(this.#context, threadId, request);
    const { configurable } = invocation;
    const { bound, origin } = await openRunThread(this.#context, row, admission.bound, { configurable });
    refuseUnfiltered(this.#context, invocation, bound);
    const input = await addressedResume(bound, invocation.input, configurable);
    const stamp = this.#stamp(bound.id);
    // Nothing may fail between the row and the task that settles it.
    const run = await store(busyThread(this.#context, request, stamp, origin.graphs));
    const task = this.#tasks.start({
      run,
      lease,
      bound,
      origin,
      invocation: { ...invocation, input },
      configurable: { ...configurable, thread_id: threadId, run_id: run.run_id, ...stamp },
      log,
      atEnd: admission.atEnd,
    });
    const { metrics } = this.#context;
    if (metrics) measureRun(metrics, task, (performance.now() - admission.since) / 1000);
    return task;
  }

  /** Every check that needs no lock, in the order in which clients learn of faults. */
  async #admit(threadId: string, request: RunCreateRequest, atEnd?: AtEnd): Promise<Admission> {
    this.#tasks.stopping.throwIfAborted();
    const { registry } = this.#context;
    const id = requireUuid(threadId, ["path", "thread_id"]);
    const call = readInvocation(this.#context, id, request);
    const graphId = registry.resolve(request.assistant_id);
    await assertReachable(this.#context, request, call);
    await requireCheckpoint(this.#context, call.configurable);
    refuseUnsupported(request);
    const bound = await registry.graph(graphId, { configurable: call.configurable });
    const invocation = { ...call, input: await graphInput(request, bound.graph) };
    refuseUnfiltered(this.#context, invocation, bound);
    return { threadId: id, request, invocation, bound, since: performance.now(), atEnd };
  }

  /** The lock of a free thread; undefined when it is taken and the caller may wait. */
  async #tryLock({ threadId, request }: Admission): Promise<ThreadLease | undefined> {
    const lease = await this.#context.storage.locks.acquire(threadId, { wait: false });
    if (!lease && (request.multitask_strategy ?? "enqueue") !== "enqueue")
      throw new ThreadBusyError(threadId);
    return lease;
  }

  async #waitForLock({ threadId }: Admission, signal?: AbortSignal): Promise<ThreadLease> {
    const { stopping } = this.#tasks;
    const leave = signal ? AbortSignal.any([signal, stopping]) : stopping;
    const lease = await this.#context.storage.locks.acquire(threadId, { wait: true, signal: leave });
    if (!lease) throw new ThreadBusyError(threadId);
    return lease;
  }

  /** The run waits for its thread, of which nothing else changes yet. */
  async #insertLater(admission: Admission): Promise<Run> {
    await requireThread(this.#context, admission.threadId, admission.request);
    return this.#insert(admission, { updated_at: now() });
  }

  /** Store the run's row and change its thread. @throws NotFoundError (`thread_not_found`) */
  async #insert({ threadId, bound, request }: Admission, patch: ThreadPatch): Promise<Run> {
    const row = newRunRow(this.#context, threadId, request, this.#stamp(bound.id), patch.updated_at);
    if (!(await this.#insertRow(row, patch))) throw new NotFoundError("thread", threadId);
    return runModel(row);
  }

  /** A storage that does not answer may have stored the row all the same. */
  async #insertRow(row: RunRow, thread: ThreadPatch): Promise<boolean> {
    try {
      return await this.#context.storage.runs.insert(row, thread);
    } catch (error) {
      this.#tasks.settlements.doubtful.add(row);
      throw error;
    }
  }

  #stamp(graphId: string): GraphStamp {
    return { graph_id: graphId, assistant_id: this.#context.registry.uuidOf(graphId) };
  }
}

// The thread of a run that begins; the caller holds its lease.

interface RunThread {
  /** The graph to run, with the filter of all graphs that have written to the thread. */
  bound: BoundGraph;
  /** What the run's checkpoints say of themselves. */
  origin: Origin;
}

/**
 * What is told of the thread before its lock is asked for: whether another's is busy is nobody's business, and a thread
 * that is not there is told before other faults of the request. A request without any learns of it when it has the lock,
 * which saves a look.
 * @throws as `requireThread`
 */
export async function assertReachable(
  context: OpsContext,
  request: RunCreateRequest,
  { modes, configurable: { thread_id, checkpoint_id } }: Omit<Invocation, "input">,
): Promise<void> {
  if (request.if_not_exists === "create") return assertNotForeign(context, thread_id);
  const mayBeRefused =
    checkpoint_id !== undefined ||
    request.after_seconds != null ||
    request.webhook != null ||
    modes.includes("events");
  if (context.caller || mayBeRefused) await threadRow(context, thread_id);
}

/**
 * A thread that is missing is made where the request says so.
 * @throws NotFoundError (`thread_not_found`), for a thread of another caller too
 * @throws ThreadExistsError when it would make one that is another's (`thread_exists`)
 */
export async function requireThread(
  context: OpsContext,
  threadId: string,
  { if_not_exists }: RunCreateRequest,
): Promise<ThreadRow> {
  const row = await ownThread(context, threadId);
  if (row) return row;
  if (if_not_exists === "create") {
    const made = await createThread(context, { thread_id: threadId });
    if (made) return made;
  }
  throw new NotFoundError("thread", threadId);
}

export async function openRunThread(
  context: OpsContext,
  row: ThreadRow,
  bound: BoundGraph,
  config: GraphConfig,
): Promise<RunThread> {
  const graphs = await writersWith(context, row, bound.id);
  const filter = await context.registry.filterAmong(bound, graphs, config);
  return { bound: { ...bound, filter }, origin: { graphs, scope: scopeOf(context) ?? row.scope } };
}

/** A place in the queue of a thread, for a run that is stored while it waits. */
class QueuePlace {
  /** The thread's lease, when its turn has come; rejects when the place was refused or left. */
  readonly lease: Promise<ThreadLease>;
  readonly #leaving = new AbortController();
  #refused: ThreadBusyError | undefined;

  constructor(acquire: (signal: AbortSignal) => Promise<ThreadLease>) {
    this.lease = acquire(this.#leaving.signal);
    this.lease.catch((error: unknown) => {
      if (error instanceof ThreadBusyError) this.#refused = error;
    });
  }

  leave(reason: unknown): void {
    this.#leaving.abort(reason);
  }

  /**
   * Store what is to wait here. A full queue says so at once, or while it is being stored: then it is taken back.
   * @throws ThreadBusyError (`thread_busy`)
   */
  async store<T>(insert: () => Promise<T>, takeBack: (stored: T) => Promise<unknown>): Promise<T> {
    await nextTurn();
    if (this.#refused) throw this.#refused;
    const stored = await insert().catch((error: unknown) => {
      this.leave(error);
      this.lease.then((got) => got.release()).catch(() => undefined);
      throw error;
    });
    const refused = this.#refused as ThreadBusyError | undefined;
    if (!refused) return stored;
    await takeBack(stored);
    throw refused;
  }
}
