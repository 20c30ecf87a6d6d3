/** Runs, in the words of the SDK: create, stream, wait, join, cancel, list (docs/specification.md#runs). */
import { DEFAULT_LIMIT } from "../models/common.js";
import type { JoinedStream, RunStream, WaitingRun } from "../models/run-stream.js";
import {
  type CancelManyRequest,
  RUN_FIELDS,
  type Run,
  type RunCreateRequest,
  type RunFilter,
  type RunSelection,
} from "../models/run.js";
import { type CancelOptions, cancelRun, cancelRuns, deleteRun } from "./cancel.js";
import {
  joinRun,
  joinRunStream,
  joinStatelessStream,
  type JoinOptions,
  type StreamJoinOptions,
} from "./follow.js";
import type { EngineContext, LiveRun } from "./live-runs.js";
import { RunLog } from "./run-log.js";
import { disconnectOf, runModel, runRow } from "./run-request.js";
import type { RunRow } from "../storage/storage.js";
import type { RunFault } from "../support/run-fault.js";
import { allOf, inPages } from "../support/read-ahead.js";
import { RunAborted } from "./run-results.js";
import { enqueueRun, startRun } from "./start-run.js";
import { onOwnThread, type StatelessOptions } from "./stateless-runs.js";
import { selectFields } from "./thread-search.js";
import { threadRow } from "./thread-origin.js";

interface CallOptions {
  /** Aborts when the caller is gone. */
  signal?: AbortSignal;
}

type StartOptions = CallOptions & Partial<StatelessOptions>;

/** What the methods that start a run throw at first is said at `startRun`. */
export class Runs {
  readonly #context: EngineContext;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** Execute to completion. A run that fails resolves too: its status is `error`. */
  async create(threadId: string, request: RunCreateRequest, { signal }: CallOptions = {}): Promise<Run> {
    const live = await startRun(this.#context, threadId, request, { signal });
    return this.#whileConnected(live, request, signal);
  }

  /** As `create`, but resolves when the run is accepted; `answer` then gives its final values. */
  async wait(
    threadId: string,
    request: RunCreateRequest,
    { signal, ...options }: StartOptions = {},
  ): Promise<WaitingRun> {
    const live = await startRun(this.#context, threadId, request, { signal, ...options });
    const ended = this.#whileConnected(live, request, signal);
    return { run: live.run, answer: ended.then(() => live.answer()) };
  }

  /** Accept and return at once; the run goes on by itself, behind others on its thread. */
  async background(
    threadId: string,
    request: RunCreateRequest,
    options: Partial<StatelessOptions> = {},
  ): Promise<Run> {
    const log = new RunLog(options.stateless);
    return enqueueRun(this.#context, threadId, request, { ...options, log });
  }

  /** Resolves as soon as the run is accepted: lock held, row stored (docs/specification.md#concurrency, 2). */
  async stream(
    threadId: string,
    request: RunCreateRequest,
    { signal, ...options }: StartOptions = {},
  ): Promise<RunStream> {
    const log = new RunLog(options.stateless);
    const live = await startRun(this.#context, threadId, request, { signal, ...options, log });
    const survives = this.#survivesDisconnect(request);
    const frames = log.read();
    const disconnect = () => {
      frames.leave();
      if (!survives) live.stop(RunAborted.because("disconnected"));
    };
    return { run: live.run, frames, disconnect, resumable: survives };
  }

  /** As `background`, on a thread of its own. */
  async createStateless(request: RunCreateRequest): Promise<Run> {
    return onOwnThread(this.#context, request, (threadId, options) =>
      this.background(threadId, request, options),
    );
  }

  /** As `wait`, on a thread of its own. */
  async waitStateless(request: RunCreateRequest, options: CallOptions = {}): Promise<WaitingRun> {
    return onOwnThread(this.#context, request, (threadId, own) =>
      this.wait(threadId, request, { ...options, ...own }),
    );
  }

  /** As `stream`, on a thread of its own. */
  async streamStateless(request: RunCreateRequest, options: CallOptions = {}): Promise<RunStream> {
    return onOwnThread(this.#context, request, (threadId, own) =>
      this.stream(threadId, request, { ...options, ...own }),
    );
  }

  async createBatch(requests: readonly RunCreateRequest[]): Promise<Run[]> {
    return Promise.all(requests.map((request) => this.createStateless(request)));
  }

  /** Wait for a run's end, also one that has come already. @throws NotFoundError (`run_not_found`) */
  async join(threadId: string, runId: string, options: JoinOptions = {}): Promise<WaitingRun> {
    return joinRun(this.#context, threadId, runId, options);
  }

  /**
   * The frames of a run, from where the caller left off, under the same ids. When they are no longer kept: `metadata`,
   * the final `values` and the last frame.
   * @throws NotFoundError (`run_not_found`)
   */
  async joinStream(threadId: string, runId: string, options: StreamJoinOptions = {}): Promise<JoinedStream> {
    return joinRunStream(this.#context, threadId, runId, options);
  }

  /**
   * As `joinStream`, for a stateless run, while its frames are kept; its thread may be gone.
   * @throws NotFoundError (`run_not_found`)
   */
  joinStatelessStream(runId: string, options: StreamJoinOptions = {}): JoinedStream {
    return joinStatelessStream(this.#context, runId, options);
  }

  /** Interrupt a run; one that has ended stays as it is. @throws NotFoundError (`run_not_found`) */
  async cancel(threadId: string, runId: string, options: CancelOptions = {}): Promise<void> {
    await cancelRun(this.#context, threadId, runId, options);
  }

  /** Interrupt several runs: those named, or all of a thread, of the status named. */
  async cancelMany(request: CancelManyRequest, options: CancelOptions = {}): Promise<void> {
    await cancelRuns(this.#context, request, options);
  }

  /**
   * Delete the row of a run that has ended; its checkpoints stay.
   * @throws NotFoundError (`run_not_found`)
   * @throws ThreadBusyError while it is in flight (`thread_busy`)
   */
  async delete(threadId: string, runId: string): Promise<void> {
    await deleteRun(this.#context, threadId, runId);
  }

  /** Newest first. @throws NotFoundError (`thread_not_found`) */
  async list(threadId: string, filter: RunFilter): Promise<Run[]> {
    const { thread_id } = await threadRow(this.#context, threadId);
    return (await allOf(this.#rows(thread_id, filter))).map(runModel);
  }

  /**
   * As `list`, with the fields alone that `select` names, for runs that may not fit into memory: each is read when it
   * is asked for. @throws NotFoundError (`thread_not_found`)
   */
  async *walk(threadId: string, { select, ...filter }: RunSelection): AsyncGenerator<Partial<Run>> {
    const { thread_id } = await threadRow(this.#context, threadId);
    for await (const row of this.#rows(thread_id, filter))
      yield selectFields(runModel(row), select, RUN_FIELDS);
  }

  /** A run that comes meanwhile moves the others on: none is given twice. */
  async *#rows(threadId: string, filter: RunFilter): AsyncGenerator<RunRow> {
    const { limit = DEFAULT_LIMIT, offset = 0, status } = filter;
    const given = new Set<string>();
    let read = 0;
    const rows = inPages<RunRow>(async (_, size) => {
      const place = { limit: Math.min(size, limit - read), offset: offset + read };
      const page = await this.#context.storage.runs.list({ threadId, ...(status && { status }), ...place });
      read += page.length;
      return page;
    });
    for await (const row of rows) {
      if (!given.has(row.run_id)) yield row;
      given.add(row.run_id);
    }
  }

  /** @throws NotFoundError (`run_not_found`), also for a run of another thread */
  async get(threadId: string, runId: string): Promise<Run> {
    return runModel(await runRow(this.#context, threadId, runId));
  }

  /**
   * What a run threw, and where; undefined for one that threw nothing, or where the storage does not keep it. It shows
   * code of the graph, so it is for those who develop it: no route gives it.
   * @throws NotFoundError (`run_not_found`)
   */
  async fault(threadId: string, runId: string): Promise<RunFault | undefined> {
    return (await runRow(this.#context, threadId, runId)).fault ?? undefined;
  }

  #survivesDisconnect(request: RunCreateRequest): boolean {
    const { ignore_on_disconnect_continue } = this.#context.settings;
    return disconnectOf(this.#context, request) === "continue" && !ignore_on_disconnect_continue;
  }

  /** The run's end; a caller that leaves before interrupts the run. */
  async #whileConnected(live: LiveRun, request: RunCreateRequest, signal?: AbortSignal): Promise<Run> {
    if (!signal || this.#survivesDisconnect(request)) return live.ended();
    const leave = () => live.stop(RunAborted.because("disconnected"));
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await live.ended();
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }
}
