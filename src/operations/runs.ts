/** Run operations, named as in the SDK: create, stream, wait, join, cancel, list (docs/specification.md#runs). */
import { DEFAULT_LIMIT, type Page } from "../models/common.js";
import type { AnsweredStream, JoinedStream, RunStream, WaitingRun } from "../models/run-stream.js";
import {
  type CancelManyRequest,
  RUN_FIELDS,
  type Run,
  type RunCreateRequest,
  type RunFilter,
  type RunSearchRequest,
  type RunSelection,
  type RunTasks,
} from "../models/run.js";
import { type CancelOptions, cancelRun, cancelRuns, deleteRun } from "../coordination/cancel.js";
import {
  joinRun,
  joinRunStream,
  joinStatelessStream,
  type JoinOptions,
  type StreamJoinOptions,
} from "../delivery/join.js";
import type { EngineContext } from "../runs/live-runs.js";
import { type AwaitedRun, awaitedRun } from "../delivery/awaited-run.js";
import { findRuns } from "./run-search.js";
import { isDelayed } from "../runs/run-request.js";
import { checkRequest } from "../runs/check-request.js";
import type { AcceptOptions, KnownRun } from "../runs/run-options.js";
import { runRow, scopeOf, visibleThread } from "../threads/thread-origin.js";
import { runModel } from "../storage/rows/run-rows.js";
import type { RunKey, RunRow } from "../storage/contract/runs.js";
import { ThreadBusyError } from "../support/errors.js";
import { newId } from "../support/ids.js";
import type { RunFault } from "../support/run-fault.js";
import { collect, inPagesByOffset } from "../support/read-ahead.js";
import { acceptRun } from "../coordination/accept-run.js";
import { withdraw, withTemporaryThread, type StatelessOptions } from "../coordination/stateless-runs.js";
import { selectFields } from "../threads/thread-search.js";

interface CallOptions {
  /** Aborts when the caller disconnects. */
  signal?: AbortSignal;
}

/** A run to accept, on a new temporary thread if `threadId` is undefined. */
interface Target extends CallOptions {
  threadId: string | undefined;
  request: RunCreateRequest;
}

type ThreadOptions = Pick<AcceptOptions, "known" | "stateless" | "atEnd">;

/** Methods that start a run throw the errors of `acceptRun`. */
export class Runs {
  readonly #context: EngineContext;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** Executes a run to completion. Also resolves for a failed run, with the status `error`. A delayed run stays `pending`. */
  async create(threadId: string, request: RunCreateRequest, { signal }: CallOptions = {}): Promise<Run> {
    if (isDelayed(this.#context, request)) return this.background(threadId, request);
    if (request.idempotency_key != null) {
      const { run, answer } = await this.wait(threadId, request, { signal });
      await answer;
      return this.get(run.thread_id, run.run_id);
    }
    const log = this.#context.live.followersLog(threadId);
    return (await this.#start(threadId, request, { signal, log })).end();
  }

  /** Like `create`, but resolves when the run is accepted. `answer` resolves to its final values. */
  wait(threadId: string, request: RunCreateRequest, { signal }: CallOptions = {}): Promise<WaitingRun> {
    return this.#wait({ threadId, request, signal });
  }

  /** Like `wait`, on a temporary thread. */
  waitStateless(request: RunCreateRequest, { signal }: CallOptions = {}): Promise<WaitingRun> {
    return this.#wait({ threadId: undefined, request, signal });
  }

  #wait(target: Target): Promise<WaitingRun> {
    const { signal } = target;
    return this.#once(target, {
      first: async (threadId, request, options) => {
        const log = this.#context.live.followersLog(threadId);
        const run = await this.#start(threadId, request, { signal, ...options, log });
        return { run: run.run, answer: run.answer() };
      },
      again: ({ thread_id, run_id }, cancelOnDisconnect) =>
        joinRun(this.#context, thread_id, run_id, { signal, cancelOnDisconnect }),
      runOf: ({ run }) => run,
    });
  }

  /** Accepts a run and returns immediately. The run executes in the background, after earlier runs of its thread. */
  background(threadId: string, request: RunCreateRequest): Promise<Run> {
    return this.#background({ threadId, request });
  }

  /** Like `background`, on a temporary thread. */
  createStateless(request: RunCreateRequest): Promise<Run> {
    return this.#background({ threadId: undefined, request });
  }

  /**
   * Like `createStateless`, for several runs. If one is refused, the others do not start, or are withdrawn. Otherwise a
   * client that sends the batch again would start runs twice.
   */
  async createBatch(requests: readonly RunCreateRequest[]): Promise<Run[]> {
    const context = this.#context;
    for (const request of requests) await checkRequest(context, newId(), request, "later");
    // A repeated request gets the first run of its key.
    const isNew = ({ idempotency_key }: RunCreateRequest) => idempotency_key == null;
    const immediate = requests.filter((request) => isNew(request) && !isDelayed(context, request));
    if (!context.queue.isShared) context.live.active.assertRoom(scopeOf(context), immediate.length);
    const results = await Promise.allSettled(requests.map((request) => this.createStateless(request)));
    const started = results.flatMap((result, index) =>
      result.status === "fulfilled"
        ? { run: result.value, request: requests[index] as RunCreateRequest }
        : [],
    );
    const refused = results.find((result) => result.status === "rejected");
    if (!refused) return started.map(({ run }) => run);
    const withdrawn = started.filter(({ request }) => isNew(request));
    await Promise.all(withdrawn.map(({ run }) => withdraw(context, run)));
    throw refused.reason;
  }

  #background(target: Target): Promise<Run> {
    const context = this.#context;
    return this.#once(target, {
      first: async (threadId, request, options) => {
        if (isDelayed(context, request)) {
          const { delayRun } = await import("../scheduling/delayed-runs.js");
          return delayRun(context, threadId, request, options);
        }
        const log = context.live.newLog(threadId, { stateless: options.stateless });
        return (await acceptRun(context, threadId, request, { ...options, log, unattended: true })).run;
      },
      // The row may be deleted already.
      again: async ({ thread_id, run_id, run }) => {
        const row = await context.storage.runs.get(thread_id, run_id);
        return row ? runModel(row) : (run ?? runModel(await runRow(context, thread_id, run_id)));
      },
      runOf: (run) => run,
    });
  }

  /** Resolves as soon as the run is accepted: lock held, row stored (docs/specification.md#concurrency, 2). */
  stream(threadId: string, request: RunCreateRequest, { signal }: CallOptions = {}): Promise<RunStream> {
    return this.#stream({ threadId, request, signal });
  }

  /** Like `stream`, on a temporary thread. */
  streamStateless(request: RunCreateRequest, { signal }: CallOptions = {}): Promise<RunStream> {
    return this.#stream({ threadId: undefined, request, signal });
  }

  #stream(target: Target): Promise<RunStream> {
    const { signal } = target;
    return this.#once<RunStream>(target, {
      first: async (threadId, request, options) => {
        const log = this.#context.live.newLog(threadId, { stateless: options.stateless });
        return (await this.#start(threadId, request, { signal, ...options, log })).stream();
      },
      again: ({ thread_id, run_id }, cancelOnDisconnect) =>
        target.threadId === undefined
          ? joinStatelessStream(this.#context, run_id, { cancelOnDisconnect })
          : joinRunStream(this.#context, thread_id, run_id, { cancelOnDisconnect }),
      runOf: () => null,
    });
  }

  /** Like `stream`, plus the answer of `wait`, which is available when the frames have ended. */
  async streamAndWait(
    threadId: string,
    request: RunCreateRequest,
    { signal }: CallOptions = {},
  ): Promise<AnsweredStream> {
    const log = this.#context.live.newLog(threadId);
    const run = await this.#start(threadId, request, { signal, log });
    return { ...run.stream(), answer: () => run.answer() };
  }

  /** Accepts a run on the given or a temporary thread. With an idempotency key, a repeated request gets the first run. */
  async #once<T>(
    { threadId, request, signal }: Target,
    {
      first,
      again,
      runOf,
    }: {
      first: (threadId: string, request: RunCreateRequest, options: ThreadOptions) => Promise<T>;
      again: (accepted: RunKey & { run: Run | null }, cancelOnDisconnect: boolean) => Promise<T>;
      /** The run to remember with the key. */
      runOf: (accepted: T) => Run | null;
    },
  ): Promise<T> {
    const context = this.#context;
    const { idempotency_key, ...own } = request;
    if (idempotency_key == null && threadId !== undefined) return first(threadId, request, {});
    const accept = (own: RunCreateRequest, fixed?: { known: KnownRun; threadId: string }) => {
      const known = fixed?.known;
      if (threadId !== undefined) return first(fixed?.threadId ?? threadId, own, { known });
      const start = (id: string, options: StatelessOptions) => first(id, own, { ...options, known });
      return withTemporaryThread(context, own, start, { threadId: fixed?.threadId, stays: !!fixed });
    };
    if (idempotency_key == null) return accept(request);
    const { executeOnce } = await import("../runs/idempotency.js");
    const acceptFirst = (known: KnownRun, id: string) => accept(own, { known, threadId: id });
    const found = await executeOnce(context, { request, threadId, signal }, acceptFirst, runOf);
    return "first" in found ? found.first : again(found.again, !this.#isUnattended(request));
  }

  /** Accepts a run that its caller waits for. */
  async #start(threadId: string, request: RunCreateRequest, options: AcceptOptions): Promise<AwaitedRun> {
    const context = this.#context;
    if (context.within?.thread_id === threadId.toLowerCase())
      throw new ThreadBusyError(
        threadId,
        "the calling run is on this thread and would wait for itself: wait for a run on another thread, or create this one without waiting for it",
      );
    const own = { ...options, unattended: this.#isUnattended(request), isAwaited: true };
    return awaitedRun(context, await acceptRun(context, threadId, request, own), own);
  }

  /** Waits for the end of a run; also works for an ended run. @throws NotFoundError (`run_not_found`) */
  async join(threadId: string, runId: string, options: JoinOptions = {}): Promise<WaitingRun> {
    return joinRun(this.#context, threadId, runId, options);
  }

  /**
   * The frames of a run, from the caller's last position, with the same ids. If they are no longer retained: `metadata`,
   * the final `values` and the last frame.
   * @throws NotFoundError (`run_not_found`)
   */
  async joinStream(threadId: string, runId: string, options: StreamJoinOptions = {}): Promise<JoinedStream> {
    return joinRunStream(this.#context, threadId, runId, options);
  }

  /**
   * Like `joinStream`, for a stateless run, while its frames are retained. Its thread may be deleted already.
   * @throws NotFoundError (`run_not_found`)
   */
  joinStatelessStream(runId: string, options: StreamJoinOptions = {}): Promise<JoinedStream> {
    return joinStatelessStream(this.#context, runId, options);
  }

  /** Interrupts a run; has no effect on an ended run. @throws NotFoundError (`run_not_found`) */
  async cancel(threadId: string, runId: string, options: CancelOptions = {}): Promise<void> {
    await cancelRun(this.#context, threadId, runId, options);
  }

  /** Interrupts the given runs of a thread, or all of them, optionally only those with a given status. */
  async cancelMany(request: CancelManyRequest, options: CancelOptions = {}): Promise<void> {
    await cancelRuns(this.#context, request, options);
  }

  /**
   * Deletes the row of an ended run; its checkpoints stay.
   * @throws NotFoundError (`run_not_found`)
   * @throws ThreadBusyError while the run is in flight (`thread_busy`)
   */
  async delete(threadId: string, runId: string): Promise<void> {
    await deleteRun(this.#context, threadId, runId);
  }

  /** Newest first. @throws NotFoundError (`thread_not_found`) */
  async list(threadId: string, filter: RunFilter): Promise<Run[]> {
    const { thread_id } = await visibleThread(this.#context, threadId);
    return (await collect(this.#rows(thread_id, filter))).map(runModel);
  }

  /** Searches runs on all threads that the caller may read, newest first by default. */
  search(request: RunSearchRequest): Promise<Page<Partial<Run>>> {
    return findRuns(this.#context, request);
  }

  /**
   * Like `list`, with only the fields in `select`. Reads runs on demand, for lists that may not fit into memory.
   * @throws NotFoundError (`thread_not_found`)
   */
  async *walk(threadId: string, { select, ...filter }: RunSelection): AsyncGenerator<Partial<Run>> {
    const { thread_id } = await visibleThread(this.#context, threadId);
    for await (const row of this.#rows(thread_id, filter))
      yield selectFields(runModel(row), select, RUN_FIELDS);
  }

  #rows(threadId: string, filter: RunFilter): AsyncGenerator<RunRow, void, undefined> {
    const { limit = DEFAULT_LIMIT, offset = 0, status } = filter;
    const { runs } = this.#context.storage;
    return inPagesByOffset(
      (page) => {
        const left = offset + limit - page.offset;
        return runs.list({ threadId, ...(status && { status }), ...page, limit: Math.min(page.limit, left) });
      },
      ({ run_id }) => run_id,
      offset,
    );
  }

  /** @throws NotFoundError (`run_not_found`), also for a run of another thread */
  async get(threadId: string, runId: string): Promise<Run> {
    return runModel(await runRow(this.#context, threadId, runId));
  }

  /**
   * When the tasks of a run started and ended. For an unfinished run, only known to the process that executes it.
   * @throws NotFoundError (`run_not_found`)
   */
  async tasks(threadId: string, runId: string): Promise<RunTasks> {
    const { run_id, thread_id, tasks = null } = await runRow(this.#context, threadId, runId);
    const { live, storage } = this.#context;
    const stored = tasks ?? (await storage.runs.tasks?.(thread_id, run_id));
    return stored ?? live.find(run_id)?.tasks() ?? { tasks: [], omitted: 0 };
  }

  /**
   * The exception of a run and its source position; undefined if the run threw nothing or the storage does not keep it.
   * It contains code of the graph, so no route may return it.
   * @throws NotFoundError (`run_not_found`)
   */
  async fault(threadId: string, runId: string): Promise<RunFault | undefined> {
    return (await runRow(this.#context, threadId, runId)).fault ?? undefined;
  }

  /** Whether the run continues after its client disconnects. */
  #isUnattended(request: RunCreateRequest): boolean {
    const { on_disconnect, ignore_on_disconnect_continue } = this.#context.settings;
    return (request.on_disconnect ?? on_disconnect) === "continue" && !ignore_on_disconnect_continue;
  }
}
