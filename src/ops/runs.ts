/** Runs: execute, stream, wait for, list (spec, Runs). What the methods throw at first is said at `RunStarter.start`. */
import { DEFAULT_LIMIT, type JsonObject } from "../models/common.js";
import type { RunStream, WaitingRun } from "../models/run-stream.js";
import {
  RUN_FIELDS,
  type Run,
  type RunCreateRequest,
  type RunFilter,
  type RunSelection,
} from "../models/run.js";
import type { OpsContext } from "./context.js";
import { selectFields } from "./thread-search.js";
import { RunAborted } from "./run-results.js";
import { RunLog } from "./run-log.js";
import { runModel, runRow } from "./run-request.js";
import type { RunStarter, StartOptions } from "./start-run.js";
import type { RunTask } from "./live-run.js";
import { threadRow } from "./thread-origin.js";

type CallOptions = Pick<StartOptions, "signal" | "atEnd">;

export class Runs {
  readonly #context: OpsContext;
  readonly #starter: RunStarter;

  constructor(context: OpsContext, starter: RunStarter) {
    this.#context = context;
    this.#starter = starter;
  }

  /** Execute to completion. A run that fails resolves too: its status is `error`. */
  async create(
    threadId: string,
    request: RunCreateRequest,
    { signal, atEnd }: CallOptions = {},
  ): Promise<Run> {
    const task = await this.#starter.start(threadId, request, { signal, atEnd });
    return this.#whileConnected(task, request, signal);
  }

  /** As `create`, but resolves when the run is accepted; `answer` then gives its final values. */
  async wait(
    threadId: string,
    request: RunCreateRequest,
    { signal, atEnd }: CallOptions = {},
  ): Promise<WaitingRun> {
    const task = await this.#starter.start(threadId, request, { signal, atEnd });
    const ended = this.#whileConnected(task, request, signal);
    return { run: task.run, answer: ended.then((): JsonObject => task.answer) };
  }

  /** Accept and return at once; the run goes on by itself, behind others on its thread. */
  async background(
    threadId: string,
    request: RunCreateRequest,
    { atEnd }: Omit<CallOptions, "signal"> = {},
  ): Promise<Run> {
    return this.#starter.enqueue(threadId, request, new RunLog(), atEnd);
  }

  /** Resolves as soon as the run is accepted: lock held, row stored (spec, Concurrency rules 2). */
  async stream(
    threadId: string,
    request: RunCreateRequest,
    { signal, atEnd }: CallOptions = {},
  ): Promise<RunStream> {
    const log = new RunLog();
    const task = await this.#starter.start(threadId, request, { signal, log, atEnd });
    // Its end is told by the last frame.
    task.done.catch(() => undefined);
    const survives = this.#survivesDisconnect(request);
    const frames = log.read();
    const disconnect = () => {
      frames.leave();
      if (!survives) task.abort(RunAborted.because("disconnected"));
    };
    return { run: task.run, frames, disconnect, resumable: survives };
  }

  /** Newest first. @throws NotFoundError (`thread_not_found`) */
  async list(threadId: string, { limit, offset, status }: RunFilter): Promise<Run[]> {
    const { thread_id } = await threadRow(this.#context, threadId);
    const rows = await this.#context.storage.runs.list({
      threadId: thread_id,
      limit: limit ?? DEFAULT_LIMIT,
      offset: offset ?? 0,
      ...(status && { status }),
    });
    return rows.map(runModel);
  }

  /** As `list`, with the fields alone that `select` names. @throws NotFoundError (`thread_not_found`) */
  async listSelected(threadId: string, query: RunSelection): Promise<Partial<Run>[]> {
    const runs = await this.list(threadId, query);
    return runs.map((run) => selectFields(run, query.select, RUN_FIELDS));
  }

  /** @throws NotFoundError (`run_not_found`), also for a run of another thread */
  async get(threadId: string, runId: string): Promise<Run> {
    return runModel(await runRow(this.#context, threadId, runId));
  }

  /** A run survives its client only when asked to in so many words. */
  #survivesDisconnect({ on_disconnect }: RunCreateRequest): boolean {
    return on_disconnect === "continue" && !this.#context.settings.ignore_on_disconnect_continue;
  }

  /** The run's end; a caller that leaves before interrupts the run. */
  async #whileConnected(task: RunTask, request: RunCreateRequest, signal?: AbortSignal): Promise<Run> {
    if (!signal || this.#survivesDisconnect(request)) return task.done;
    const leave = () => task.abort(RunAborted.because("disconnected"));
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await task.done;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }
}
