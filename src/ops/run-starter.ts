/** From a request to a run in flight: checks, lock, row, task (spec, Concurrency rules). */
import { NotFoundError, ShuttingDownError, ThreadBusyError, UnsupportedOptionError } from "../errors.js";
import type { BoundGraph } from "../graphs/registry.js";
import { requireUuid } from "../ids.js";
import type { Run, RunCreateRequest } from "../models/run.js";
import type { RunRow, ThreadLease, ThreadPatch } from "../storage/storage.js";
import { requireCheckpoint } from "./checkpoint.js";
import { now, type OpsContext } from "./context.js";
import { addressedResume } from "./resume.js";
import { RunAborted } from "./run-abort.js";
import { failed, lastFrame, outcomeOf, stopped } from "./run-ending.js";
import { RunHandle } from "./run-handle.js";
import type { RunLog } from "./run-log.js";
import { countRun, measureRun } from "./run-metrics.js";
import { readInvocation, refuseUnsupported, type Invocation } from "./run-request.js";
import { busyThread, newRunRow, runModel, type GraphStamp } from "./run-rows.js";
import type { RunTask } from "./run-task.js";
import type { RunTasks } from "./run-tasks.js";
import { assertNotForeign } from "./scope.js";
import { newThreadRow, threadRow } from "./thread-rows.js";

/** A request that passed every check but has no lock and no row yet. */
interface Admission {
  threadId: string;
  graphId: string;
  request: RunCreateRequest;
  invocation: Invocation;
  bound: BoundGraph;
  /** When it passed them, by `performance.now()`. */
  since: number;
}

export interface StartOptions {
  /** Aborts when the caller is gone. */
  signal?: AbortSignal;
  /** Takes the frames of a run that is streamed. */
  log?: RunLog;
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
    { signal, log }: StartOptions = {},
  ): Promise<RunTask> {
    const admission = await this.#admit(threadId, request);
    const lease = (await this.#tryLock(admission)) ?? (await this.#waitForLock(admission, signal));
    try {
      signal?.throwIfAborted();
      return await this.#begin(admission, lease, () => this.#insert(admission, { begins: true }), log);
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  /**
   * As `start`, but on a busy thread the run is stored at once, and begins when the thread is free.
   * @returns the run as it was accepted: `pending`
   */
  async enqueue(threadId: string, request: RunCreateRequest, log: RunLog): Promise<Run> {
    const admission = await this.#admit(threadId, request);
    const lease = await this.#tryLock(admission);
    if (!lease) return this.#queue(admission, log);
    try {
      return (await this.#begin(admission, lease, () => this.#insert(admission, { begins: true }), log)).run;
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  async #queue(admission: Admission, log: RunLog): Promise<Run> {
    const leave = new AbortController();
    const lease = this.#waitForLock(admission, leave.signal);
    // Heard below, once the row is there.
    lease.catch(() => undefined);
    // The thread is another run's: nothing of its status changes yet.
    const run = await this.#insert(admission, { begins: false }).catch((error: unknown) => {
      leave.abort(error);
      lease.then((got) => got.release()).catch(() => undefined);
      throw error;
    });
    const handle = this.#tasks.track(new RunHandle(run, log, (reason) => leave.abort(reason)));
    void this.#beginLater(admission, run, lease, handle);
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
      await this.#begin(admission, lease, () => this.#wake(admission, run), handle.log);
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
  async #wake({ threadId, graphId, request }: Admission, run: Run): Promise<Run> {
    const patch = busyThread(request, this.#stamp(graphId), now());
    const { metadata } = this.#context.storage;
    await assertNotForeign(this.#context, threadId);
    if (!(await metadata.updateRun(run.run_id, { updated_at: patch.updated_at, status: "running" }))) {
      throw new NotFoundError("run", run.run_id);
    }
    if (!(await metadata.updateThread(threadId, patch))) throw new NotFoundError("thread", threadId);
    return run;
  }

  /** The end of a background run that never began; its thread is another's. */
  async #settleQueued(run: Run, error: unknown, log: RunLog | undefined): Promise<void> {
    const ending =
      error instanceof RunAborted || error instanceof ShuttingDownError ? stopped : failed(error);
    const usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
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
    store: () => Promise<Run>,
    log: RunLog | undefined,
  ): Promise<RunTask> {
    await this.#tasks.settlements.flush(admission.threadId);
    const { bound, invocation } = admission;
    const input = await addressedResume(bound, invocation.input, invocation.configurable);
    // Nothing may fail between the row and the task that settles it.
    const run = await store();
    const { run_id, thread_id } = run;
    const configurable = { ...invocation.configurable, thread_id, run_id, ...this.#stamp(admission.graphId) };
    const task = this.#tasks.start({
      run,
      lease,
      bound,
      invocation: { ...invocation, input },
      configurable,
      log,
    });
    const { metrics } = this.#context;
    if (metrics) measureRun(metrics, task, (performance.now() - admission.since) / 1000);
    return task;
  }

  /** Every check that needs no lock, in the order in which clients learn of faults. */
  async #admit(threadId: string, request: RunCreateRequest): Promise<Admission> {
    this.#tasks.stopping.throwIfAborted();
    const { registry, settings } = this.#context;
    const id = requireUuid(threadId, ["path", "thread_id"]);
    const invocation = readInvocation(this.#context, id, request);
    const graphId = registry.resolve(request.assistant_id);
    // Before the lock is asked for: whether another's thread is busy is nobody's business.
    if (request.if_not_exists === "create") await assertNotForeign(this.#context, id);
    else await threadRow(this.#context, id);
    await requireCheckpoint(this.#context, invocation.configurable);
    refuseUnsupported(request);
    const bound = await registry.graph(graphId, { configurable: invocation.configurable });
    if (invocation.modes.includes("events") && bound.filter.narrows && !settings.allow_unfiltered_events) {
      throw new UnsupportedOptionError(
        "stream mode events",
        "its payloads cannot be filtered by the graph's output schema (setting allow_unfiltered_events)",
      );
    }
    return { threadId: id, graphId, request, invocation, bound, since: performance.now() };
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

  /** Store the run's row and mark its thread; a missing thread is created when the request says so. */
  async #insert({ threadId, graphId, request }: Admission, { begins }: { begins: boolean }): Promise<Run> {
    const { metadata } = this.#context.storage;
    const at = now();
    const stamp = this.#stamp(graphId);
    const row = newRunRow(this.#context, threadId, request, stamp, at);
    const patch = begins ? busyThread(request, stamp, at) : { updated_at: at };
    await assertNotForeign(this.#context, threadId);
    const insert = () => this.#insertRow(row, patch);
    if (!(await insert())) {
      if (request.if_not_exists !== "create") throw new NotFoundError("thread", threadId);
      await metadata.insertThread(newThreadRow(this.#context, { thread_id: threadId }));
      await assertNotForeign(this.#context, threadId);
      await insert();
    }
    return runModel(row);
  }

  /** A storage that does not answer may have stored the row all the same. */
  async #insertRow(row: RunRow, thread: ThreadPatch): Promise<boolean> {
    try {
      return await this.#context.storage.metadata.insertRun(row, thread);
    } catch (error) {
      this.#tasks.settlements.doubtful.add(row);
      throw error;
    }
  }

  #stamp(graphId: string): GraphStamp {
    return { graph_id: graphId, assistant_id: this.#context.registry.uuidOf(graphId) };
  }
}
