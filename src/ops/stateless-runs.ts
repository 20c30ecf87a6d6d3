/** Runs without a thread of the client's: each gets one of its own, which is gone when anybody hears of the run's end. */
import type { JoinedStream, RunStream, WaitingRun } from "../models/run-stream.js";
import type { Run, RunCreateRequest } from "../models/run.js";
import { NotFoundError } from "../support/errors.js";
import { requireUuid } from "../support/ids.js";
import type { OpsContext } from "./context.js";
import { framesOf, NOTHING_LEFT, type StreamJoinOptions } from "./follow.js";
import type { AtEnd } from "./live-run.js";
import type { RunTasks } from "./live-runs.js";
import { RunAborted } from "./run-results.js";
import type { Runs } from "./runs.js";
import { scopeOf } from "./thread-origin.js";
import type { Threads } from "./threads.js";

/** Should the server die meanwhile, the sweep removes what is left of a temporary thread after this time. */
const LEFTOVER_TTL_MINUTES = 60;

interface CallOptions {
  signal?: AbortSignal;
}

export class StatelessRuns {
  readonly #context: OpsContext;
  readonly #runs: Runs;
  readonly #threads: Threads;
  readonly #tasks: RunTasks;

  constructor(context: OpsContext, runs: Runs, threads: Threads, tasks: RunTasks) {
    this.#context = context;
    this.#runs = runs;
    this.#threads = threads;
    this.#tasks = tasks;
  }

  async wait(request: RunCreateRequest, options: CallOptions = {}): Promise<WaitingRun> {
    return this.#onOwnThread(
      request,
      (threadId, atEnd) => this.#runs.wait(threadId, request, { ...options, atEnd }),
      ({ run }) => run,
    );
  }

  async stream(request: RunCreateRequest, options: CallOptions = {}): Promise<RunStream> {
    return this.#onOwnThread(
      request,
      (threadId, atEnd) => this.#runs.stream(threadId, request, { ...options, atEnd }),
      ({ run }) => run,
    );
  }

  /** Accept and return at once. */
  async background(request: RunCreateRequest): Promise<Run> {
    return this.#onOwnThread(
      request,
      (threadId, atEnd) => this.#runs.background(threadId, request, { atEnd }),
      (run) => run,
    );
  }

  async batch(requests: readonly RunCreateRequest[]): Promise<Run[]> {
    return Promise.all(requests.map((request) => this.background(request)));
  }

  /**
   * The frames of a stateless run, from where the caller left off, while they are kept; its thread may be gone.
   * @throws NotFoundError (`run_not_found`)
   */
  follow(
    runId: string,
    { after = -1, modes, cancelOnDisconnect = false }: StreamJoinOptions = {},
  ): JoinedStream {
    const run_id = requireUuid(runId, ["path", "run_id"]);
    const handle = this.#tasks.find(run_id);
    const log = handle?.log ?? this.#tasks.logs.get(run_id);
    const isOwn = !this.#context.caller || log?.stateless?.scope === scopeOf(this.#context);
    if (!log?.stateless || !log.reaches(after) || !isOwn) throw new NotFoundError("run", run_id);
    const isOver = log.endsWith(after);
    const frames = isOver ? NOTHING_LEFT : log.read(after);
    return {
      run: { run_id, thread_id: log.stateless.thread_id },
      frames: framesOf(frames, modes),
      disconnect: () => {
        frames.leave();
        if (cancelOnDisconnect) handle?.stop(RunAborted.because("disconnected"));
      },
      resumable: true,
      isOver,
    };
  }

  async #onOwnThread<T>(
    { on_completion }: RunCreateRequest,
    start: (threadId: string, atEnd: AtEnd | undefined) => Promise<T>,
    runOf: (started: T) => Pick<Run, "run_id">,
  ): Promise<T> {
    const keep = on_completion === "keep";
    const { thread_id: threadId } = await this.#threads.create(keep ? {} : { ttl: LEFTOVER_TTL_MINUTES });
    let started: T;
    try {
      const atEnd = () => this.#removed(threadId, () => this.#threads.remove(threadId));
      started = await start(threadId, keep ? undefined : atEnd);
    } catch (error) {
      await this.#removed(threadId, () => this.#threads.delete(threadId));
      throw error;
    }
    const handle = this.#tasks.find(runOf(started).run_id);
    if (handle?.log) handle.log.stateless = { thread_id: threadId, scope: scopeOf(this.#context) };
    return started;
  }

  /** A thread that cannot be removed now is left to the sweep: nobody knows of it. */
  async #removed(threadId: string, remove: () => Promise<unknown>): Promise<void> {
    try {
      await remove();
    } catch (error) {
      this.#context.logger.warn(
        { err: error, thread_id: threadId },
        "a temporary thread could not be removed yet",
      );
    }
  }
}
