/** The runs that this process has in flight or in its queue, and the logs of those that ended lately. */
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { ShuttingDownError } from "../support/errors.js";
import type { OpsContext } from "./context.js";
import { type AcceptedRun, RunHandle, RunTask } from "./live-run.js";
import { type AbortCause, RunAborted, Settlements } from "./run-results.js";
import { RunLogs } from "./run-log.js";

export class RunTasks {
  readonly settlements: Settlements;
  /** Logs of ended runs. */
  readonly logs = new RunLogs();
  readonly #context: OpsContext;
  /** Runs in flight: at most one a thread, by thread id. */
  readonly #active = new Map<string, RunTask>();
  /** Runs that have not ended, by run id. */
  readonly #handles = new Map<string, RunHandle>();
  readonly #stopping = new AbortController();

  constructor(context: OpsContext) {
    this.#context = context;
    this.settlements = new Settlements(context);
    // Every caller that waits for a thread listens.
    setMaxListeners(0, this.#stopping.signal);
  }

  /** Accept no more runs; callers that wait are turned away. */
  stopAccepting(): void {
    this.#stopping.abort(new ShuttingDownError());
  }

  /** Aborts when no more runs are accepted. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Execute an accepted run; its lease is released at the end, whatever happens. */
  start(accepted: AcceptedRun): RunTask {
    const { run, log } = accepted;
    const task = new RunTask(this.#context, this.settlements, accepted);
    const handle = this.#handles.get(run.run_id) ?? this.track(new RunHandle(run, log, () => undefined));
    handle.begin(task);
    this.#active.set(run.thread_id, task);
    const forget = () => {
      if (this.#active.get(run.thread_id) === task) this.#active.delete(run.thread_id);
    };
    task.done.then(forget, forget);
    return task;
  }

  /** Let others find a run until it has ended. */
  track(handle: RunHandle): RunHandle {
    const { runId, log } = handle;
    this.#handles.set(runId, handle);
    void handle.answer.then(() => {
      this.#handles.delete(runId);
      if (log) this.logs.keep(runId, log);
    });
    return handle;
  }

  /** The run with this id, while it waits or is in flight here. */
  find(runId: string): RunHandle | undefined {
    return this.#handles.get(runId);
  }

  /** Stop the runs that other processes ask this one to stop. */
  async obeyCancels(): Promise<void> {
    if (this.#handles.size === 0) return;
    const { storage, ownerId } = this.#context;
    for (const runId of await storage.runs.cancelRequests(ownerId)) {
      this.#handles.get(runId)?.stop(RunAborted.because("cancelled"));
    }
  }

  /** Stop the thread's run, when one is in flight. */
  abort(threadId: string, cause: Exclude<AbortCause, "timeout">): void {
    this.#active.get(threadId)?.abort(RunAborted.because(cause));
  }

  /** Wait for all runs, at most `graceSeconds`, then stop those that are left and wait for their end. */
  async stop(graceSeconds: number): Promise<void> {
    const settled = () => Promise.allSettled([...this.#active.values()].map((task) => task.done));
    const cancel = new AbortController();
    const grace = sleep(graceSeconds * 1000, undefined, { signal: cancel.signal }).catch(() => undefined);
    if (this.#active.size > 0) await Promise.race([settled(), grace]);
    cancel.abort();
    for (const task of this.#active.values()) task.abort(RunAborted.because("shutdown"));
    await settled();
    await this.settlements.flushAll();
  }
}
