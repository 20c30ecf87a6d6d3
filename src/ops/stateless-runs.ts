/** Runs without a thread of the client's: each gets one of its own, which goes when the run has ended. */
import { NotFoundError } from "../errors.js";
import { newId, requireUuid } from "../ids.js";
import type { RunCreateRequest, Run } from "../models/run.js";
import type { RunStream, WaitingRun } from "../models/run-stream.js";
import { contains } from "../storage/contains.js";
import type { OpsContext } from "./context.js";
import { RunAborted } from "./run-abort.js";
import type { StreamJoinOptions } from "./run-joins.js";
import { framesOf } from "./stream-modes.js";
import type { RunTasks } from "./run-tasks.js";
import type { Runs } from "./runs.js";
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
      (threadId) => this.#runs.wait(threadId, request, options),
      ({ run }) => run,
    );
  }

  async stream(request: RunCreateRequest, options: CallOptions = {}): Promise<RunStream> {
    return this.#onOwnThread(
      request,
      (threadId) => this.#runs.stream(threadId, request, options),
      ({ run }) => run,
    );
  }

  /** Accept and return at once. */
  async background(request: RunCreateRequest): Promise<Run> {
    return this.#onOwnThread(
      request,
      (threadId) => this.#runs.background(threadId, request),
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
  ): RunStream {
    const run_id = requireUuid(runId, ["path", "run_id"]);
    const handle = this.#tasks.find(run_id);
    const log = handle?.log ?? this.#tasks.logs.get(run_id);
    const { caller } = this.#context;
    if (!log?.stateless || !log.reaches(after) || (caller && !contains(log.stateless.scope, caller.scope))) {
      throw new NotFoundError("run", run_id);
    }
    return {
      run: { run_id, thread_id: log.stateless.thread_id },
      frames: framesOf(log.read(after), modes),
      disconnect: () => cancelOnDisconnect && handle?.stop(RunAborted.because("disconnected")),
      resumable: true,
    };
  }

  async #onOwnThread<T>(
    { on_completion }: RunCreateRequest,
    start: (threadId: string) => Promise<T>,
    runOf: (started: T) => Pick<Run, "run_id">,
  ): Promise<T> {
    const keep = on_completion === "keep";
    const threadId = newId();
    await this.#threads.create({ thread_id: threadId, ...(!keep && { ttl: LEFTOVER_TTL_MINUTES }) });
    let started: T;
    try {
      started = await start(threadId);
    } catch (error) {
      await this.#remove(threadId);
      throw error;
    }
    const handle = this.#tasks.find(runOf(started).run_id);
    if (handle?.log) handle.log.stateless = { thread_id: threadId, scope: this.#context.caller?.scope ?? {} };
    const ended = handle?.answer ?? Promise.resolve();
    if (!keep) void ended.then(() => this.#remove(threadId));
    return started;
  }

  /** The answer is on its way already: a thread that cannot be removed now is left to the sweep. */
  async #remove(threadId: string): Promise<void> {
    try {
      await this.#threads.delete(threadId);
    } catch (error) {
      this.#context.logger.warn(
        { err: error, thread_id: threadId },
        "a temporary thread could not be removed yet",
      );
    }
  }
}
