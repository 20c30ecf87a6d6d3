/** A queued run, or a run of any process, for the caller that waits for it in this process. */
import type { JsonObject } from "../models/common.js";
import type { RunFrame, RunStream } from "../models/run-stream.js";
import type { Run } from "../models/run.js";
import { isFinished } from "../storage/rows/rows.js";
import { localFrames, readLog } from "./follow.js";
import { remoteAnswer, endRemoteRun, pollRow, stopRemoteRuns } from "./remote-runs.js";
import { remoteFrames, untilAborted } from "./remote-frames.js";
import type { EngineContext } from "../runs/live-runs.js";
import type { LiveRunOptions } from "../runs/run-options.js";
import { runModel } from "../threads/thread-origin.js";

interface CallerOptions {
  /** Aborts when the caller disconnects. */
  signal?: AbortSignal;
  /** Whether the run continues after that. */
  unattended: boolean;
  /** Called when the caller got the end of the run. Never rejects. */
  atEnd?: LiveRunOptions["atEnd"];
}

export class QueuedRun {
  readonly run: Run;
  readonly #context: EngineContext;
  readonly #options: CallerOptions;
  /** Aborts when the wait in this process must end: the caller disconnected, or the process shuts down. */
  readonly #leave: AbortSignal;
  /** Never rejects. */
  readonly #atEnd: (() => Promise<void>) | undefined;

  constructor(context: EngineContext, run: Run, options: CallerOptions) {
    this.#context = context;
    this.run = run;
    this.#options = options;
    const { signal, unattended, atEnd } = options;
    const { callers } = context.live;
    this.#atEnd = atEnd && (() => onceFree(context, run, atEnd));
    this.#leave = signal ? AbortSignal.any([signal, callers.abortSignal]) : callers.abortSignal;
    if (unattended) return;
    if (signal?.aborted) this.#stop();
    signal?.addEventListener("abort", () => this.#stop(), { once: true });
  }

  async end(): Promise<Run> {
    const row = await this.#context.live.callers.track(endRemoteRun(this.#context, this.run, this.#leave));
    return row ? runModel(row) : this.run;
  }

  answer(): Promise<JsonObject> {
    return this.#context.live.callers.track(this.#answer());
  }

  async #answer(): Promise<JsonObject> {
    try {
      return await remoteAnswer(this.#context, this.run, this.#leave);
    } finally {
      if (this.#leave.aborted) this.#tidyLater();
      else await this.#atEnd?.();
    }
  }

  stream(): RunStream {
    const { unattended } = this.#options;
    const { callers } = this.#context.live;
    const atEnd = this.#atEnd;
    const controller = new AbortController();
    const leave = () => controller.abort();
    let end = leave;
    void callers.track(new Promise<void>((resolve) => (end = resolve)));
    callers.abortSignal.addEventListener("abort", leave, { once: true });
    const over = () => {
      callers.abortSignal.removeEventListener("abort", leave);
      end();
    };
    const source = this.#readFrames(controller.signal);
    const frames = async function* () {
      try {
        yield* untilAborted(controller.signal, source);
        if (!controller.signal.aborted) await atEnd?.();
      } finally {
        over();
      }
    };
    const disconnect = () => {
      leave();
      over();
      if (!unattended) this.#stop();
      this.#tidyLater();
    };
    return { run: this.run, frames: frames(), disconnect, resumable: unattended };
  }

  /** Reads the local log if the run is executed here and processes share no frames; otherwise the remote frames. */
  async *#readFrames(signal: AbortSignal): AsyncGenerator<readonly RunFrame[]> {
    const { run } = this;
    const context = this.#context;
    const now = context.frames ? run : await begun(context, run, signal);
    const log = context.frames ? undefined : context.live.logOf(run.run_id);
    if (log) {
      const frames = await readLog(log, run, signal);
      const live = context.live.find(run.run_id);
      const all = live ? localFrames(context, live, frames) : frames;
      signal.addEventListener("abort", () => all.leave(), { once: true });
      yield* all;
      return;
    }
    const rest = remoteFrames(context, now);
    signal.addEventListener("abort", () => rest.leave(), { once: true });
    yield* rest;
  }

  /** If the process stops before the run ends, the sweep does the cleanup. */
  #tidyLater(): void {
    const { abortSignal } = this.#context.live.callers;
    if (this.#atEnd) endRemoteRun(this.#context, this.run, abortSignal).then(this.#atEnd, () => undefined);
  }

  #stop(): void {
    const { run_id } = this.run;
    stopRemoteRuns(this.#context, this.run).catch((error: unknown) =>
      this.#context.logger.error(
        { err: error, run_id },
        "a run could not be cancelled after its client disconnected",
      ),
    );
  }
}

/** How long to wait for the thread of an ended run, in milliseconds. */
const FREE_MS = 10_000;

/** Calls `work` once the thread is unlocked, so that the end of the run is complete. The sweep handles failures. */
async function onceFree(
  { storage: { locks, runs } }: EngineContext,
  { thread_id, run_id }: Run,
  work: NonNullable<LiveRunOptions["atEnd"]>,
): Promise<void> {
  const options = { wait: true, first: true, signal: AbortSignal.timeout(FREE_MS) };
  const lease = await locks.acquire(thread_id, options).catch(() => undefined);
  if (!lease) return;
  try {
    const row = await runs.get(thread_id, run_id);
    // A dead run may have been redriven meanwhile.
    await work(row !== undefined && row.state !== "ended");
  } catch {
    // The storage is unavailable.
  } finally {
    await lease.release();
  }
}

/** The run once it has left the queue. */
async function begun(context: EngineContext, run: Run, signal: AbortSignal): Promise<Run> {
  for await (const row of pollRow(context, run, signal)) {
    if (!row) return run;
    if (isFinished(row) || row.status === "running") return runModel(row);
  }
  return run;
}
