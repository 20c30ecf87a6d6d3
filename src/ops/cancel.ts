/** Stopping runs and taking them back. */
import type { CancelManyRequest } from "../models/run.js";
import { isFinished, now } from "../storage/rows.js";
import type { RunRow } from "../storage/storage.js";
import { ThreadBusyError } from "../support/errors.js";
import { requireUuid } from "../support/ids.js";
import type { OpsContext } from "./context.js";
import { endElsewhere, stopElsewhere } from "./follow.js";
import type { RunTasks } from "./live-runs.js";
import { recoverRuns } from "./recovery.js";
import { RunAborted } from "./run-results.js";
import { runRow } from "./run-request.js";
import { latestSnapshot, readerOf, restingStatus } from "./thread-state.js";
import { keepWriters, ownThread } from "./thread-origin.js";

interface CancelOptions {
  /** Resolve only when the run has ended. */
  wait?: boolean;
  /** `rollback` also deletes the run and its checkpoints. */
  action?: "interrupt" | "rollback";
  /** Aborts when the caller is gone: it then no longer waits. */
  signal?: AbortSignal;
}

/** Runs that one call may cancel. */
const MOST_RUNS = 1000;

export class RunCancels {
  readonly #context: OpsContext;
  readonly #tasks: RunTasks;

  constructor(context: OpsContext, tasks: RunTasks) {
    this.#context = context;
    this.#tasks = tasks;
  }

  /** Interrupt a run; one that has ended stays as it is. @throws NotFoundError (`run_not_found`) */
  async cancel(threadId: string, runId: string, options: CancelOptions = {}): Promise<void> {
    await this.#cancel(await runRow(this.#context, threadId, runId), options);
  }

  /** Interrupt several runs: those named, or all of a thread, of the status named. */
  async cancelMany(
    { thread_id, run_ids, status }: CancelManyRequest,
    options: CancelOptions = {},
  ): Promise<void> {
    const id = requireUuid(thread_id, ["body", "thread_id"]);
    const wanted = run_ids && new Set(run_ids.map((runId) => runId.toLowerCase()));
    if (this.#context.caller && !(await ownThread(this.#context, id))) return;
    const rows = await this.#context.storage.runs.list({ threadId: id, limit: MOST_RUNS, offset: 0 });
    const chosen = rows.filter(
      (row) =>
        !isFinished(row) &&
        (!wanted || wanted.has(row.run_id)) &&
        (status == null || status === "all" || status === row.status),
    );
    await Promise.all(chosen.map((row) => this.#cancel(row, options)));
  }

  /**
   * Delete the row of a run that has ended; its checkpoints stay.
   * @throws NotFoundError (`run_not_found`)
   * @throws ThreadBusyError while it is in flight (`thread_busy`)
   */
  async delete(threadId: string, runId: string): Promise<void> {
    const row = await this.#settledRow(threadId, runId);
    if (!isFinished(row)) throw new ThreadBusyError(row.thread_id, `run "${row.run_id}" is ${row.status}`);
    const thread = await this.#context.storage.threads.get(row.thread_id);
    if (thread) await keepWriters(this.#context, thread);
    await this.#deleteRow(row);
  }

  /** A run whose process is dead has ended, whatever its row still says. */
  async #settledRow(threadId: string, runId: string): Promise<RunRow> {
    const row = await runRow(this.#context, threadId, runId);
    if (isFinished(row) || this.#tasks.find(row.run_id)) return row;
    await recoverRuns(this.#context, { threadId: row.thread_id });
    return runRow(this.#context, threadId, runId);
  }

  async #cancel(row: RunRow, { wait, action, signal }: CancelOptions): Promise<void> {
    if (isFinished(row)) return;
    const handle = this.#tasks.find(row.run_id);
    if (handle) handle.stop(RunAborted.because("cancelled"));
    else await stopElsewhere(this.#context, row);
    // Who asked for a rollback gets it, also when gone before the run has ended.
    const leave = action === "rollback" ? undefined : signal;
    if (wait || action === "rollback") await (handle?.answerFor(leave) ?? this.#endElsewhere(row, leave));
    if (action !== "rollback") return;
    // What waited in the queue has left nothing on its thread, which is another run's.
    if (handle && !handle.hasBegun) await this.#deleteRow(row);
    else await this.#rollBack(row);
  }

  async #deleteRow({ thread_id, run_id }: Pick<RunRow, "thread_id" | "run_id">): Promise<void> {
    await this.#context.storage.runs.delete(thread_id, run_id);
    this.#tasks.logs.forget(run_id);
  }

  async #endElsewhere(row: RunRow, signal: AbortSignal | undefined): Promise<void> {
    const { stopping } = this.#tasks;
    await endElsewhere(this.#context, row, signal ? AbortSignal.any([signal, stopping]) : stopping);
  }

  /** As if the run had never been: its checkpoints go, and the thread is what they leave. */
  async #rollBack({ thread_id, run_id }: RunRow): Promise<void> {
    const { storage } = this.#context;
    const lease = await storage.locks.acquire(thread_id, { wait: true, first: true });
    try {
      await storage.checkpointer.deleteRun(thread_id, run_id);
      await this.#deleteRow({ thread_id, run_id });
      const row = await storage.threads.get(thread_id);
      if (!row) return;
      const status = restingStatus(await latestSnapshot(await readerOf(this.#context, row), thread_id));
      await storage.threads.update(thread_id, { updated_at: now(), status, error: null });
    } finally {
      await lease?.release();
    }
  }
}
