/** Following a run that somebody started earlier: its answer, or its frames. */
import { NotFoundError } from "../errors.js";
import { toJson } from "../graphs/serialize.js";
import type { JsonObject } from "../models/common.js";
import type { Run, StreamMode } from "../models/run.js";
import type { RunFrame, RunStream, WaitingRun } from "../models/run-stream.js";
import type { OpsContext } from "./context.js";
import { endElsewhere, stopElsewhere } from "./remote-runs.js";
import { RunAborted } from "./run-abort.js";
import { failedAnswer, runAnswer } from "./run-answer.js";
import type { RunHandle } from "./run-handle.js";
import { runModel, runRow } from "./run-rows.js";
import type { RunTasks } from "./run-tasks.js";
import { framesAfter, framesOf } from "./stream-modes.js";
import { graphOf } from "./thread-state.js";

/** Ids of a summary are above those of every log: who comes back with one gets the rest of the summary. */
const SUMMARY_ID = 2 ** 40;

export interface JoinOptions {
  /** Aborts when the caller is gone. */
  signal?: AbortSignal;
  /** Cancel the run when the caller goes. */
  cancelOnDisconnect?: boolean;
}

export interface StreamJoinOptions extends JoinOptions {
  /** Id of the last frame that the caller has seen; -1, or left out, for all that are kept. */
  after?: number;
  /** Only frames of these modes; all when left out. */
  modes?: readonly StreamMode[];
}

export class RunJoins {
  readonly #context: OpsContext;
  readonly #tasks: RunTasks;

  constructor(context: OpsContext, tasks: RunTasks) {
    this.#context = context;
    this.#tasks = tasks;
  }

  /** Wait for a run's end, also one that has come already. @throws NotFoundError (`run_not_found`) */
  async join(
    threadId: string,
    runId: string,
    { signal, cancelOnDisconnect }: JoinOptions = {},
  ): Promise<WaitingRun> {
    const run = await this.#run(threadId, runId);
    const handle = this.#tasks.find(run.run_id);
    if (cancelOnDisconnect) signal?.addEventListener("abort", () => this.#leave(run, handle), { once: true });
    return { run, answer: handle ? handle.answer : this.#storedAnswer(run, signal) };
  }

  /**
   * The frames of a run, from where the caller left off, under the same ids. When they are no longer kept: `metadata`,
   * the final `values` and the last frame.
   * @throws NotFoundError (`run_not_found`)
   */
  async stream(threadId: string, runId: string, options: StreamJoinOptions = {}): Promise<RunStream> {
    const { after = -1, modes, signal, cancelOnDisconnect = false } = options;
    const run = await this.#run(threadId, runId);
    const handle = this.#tasks.find(run.run_id);
    const log = handle?.log ?? this.#tasks.logs.get(run.run_id);
    const frames = log?.reaches(after)
      ? log.read(after)
      : framesAfter(after, this.#summary(run, handle, signal));
    return {
      run,
      frames: framesOf(frames, modes),
      disconnect: () => cancelOnDisconnect && this.#leave(run, handle),
      resumable: true,
    };
  }

  async #run(threadId: string, runId: string): Promise<Run> {
    return runModel(await runRow(this.#context, threadId, runId));
  }

  /** What is left to tell of a run without a log. */
  async *#summary(
    run: Run,
    handle: RunHandle | undefined,
    signal?: AbortSignal,
  ): AsyncGenerator<readonly RunFrame[]> {
    const { run_id, thread_id } = run;
    yield [{ id: SUMMARY_ID, event: "metadata", data: JSON.stringify({ run_id, thread_id, attempt: 1 }) }];
    const answer = await (handle ? handle.answer : this.#storedAnswer(run, signal));
    const { status, usage, error } = await this.#run(thread_id, run_id);
    if (error !== null) {
      const data = { error: "Error", message: error, detail: error, run_id, status, usage };
      yield [{ id: SUMMARY_ID + 1, event: "error", data: JSON.stringify(data) }];
      return;
    }
    yield [
      { id: SUMMARY_ID + 1, event: "values", data: toJson(answer) },
      { id: SUMMARY_ID + 2, event: "end", data: JSON.stringify({ run_id, thread_id, status, usage }) },
    ];
  }

  /** The answer of a run that is not this process's: from its row and its checkpoints. */
  async #storedAnswer(run: Run, signal?: AbortSignal): Promise<JsonObject> {
    const { thread_id, run_id, error } = await this.#ended(run, signal);
    if (error !== null) return failedAnswer(new Error(error));
    const row = await this.#context.storage.metadata.getThread(thread_id);
    if (!row) return {};
    const { graph, filter } = await graphOf(this.#context, row);
    const states = graph.getStateHistory(
      { configurable: { thread_id, checkpoint_ns: "" } },
      { limit: 1, filter: { run_id } },
    );
    for await (const { values, tasks } of states) {
      const interrupts = tasks.flatMap((task) => task.interrupts ?? []);
      return runAnswer(filter.values(values), interrupts.length > 0 ? interrupts : undefined);
    }
    return {};
  }

  /** @throws NotFoundError when the run was deleted meanwhile (`run_not_found`) */
  async #ended({ thread_id, run_id }: Run, signal?: AbortSignal): Promise<Run> {
    const row = await endElsewhere(this.#context, { thread_id, run_id }, signal);
    if (!row) throw new NotFoundError("run", run_id);
    return runModel(row);
  }

  /** The caller goes, and takes the run along. */
  #leave(run: Run, handle: RunHandle | undefined): void {
    if (handle) return handle.stop(RunAborted.because("disconnected"));
    stopElsewhere(this.#context, run).catch((error: unknown) =>
      this.#context.logger.error(
        { err: error, run_id: run.run_id },
        "a run of another process could not be cancelled",
      ),
    );
  }
}
