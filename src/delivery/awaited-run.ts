/** An accepted run, for the caller that waits for it. */
import type { JsonObject } from "../models/common.js";
import type { RunFrame, RunStream } from "../models/run-stream.js";
import type { Run } from "../models/run.js";
import { isFinished } from "../models/run-status.js";
import { readRun, untilAborted } from "./read-run.js";
import { answerOf, localEnd, stopRemoteRuns, stopRun } from "./run-ends.js";
import { endOf, pollRow } from "./poll-run.js";
import type { RunLog } from "../frames/run-log.js";
import type { EngineContext, LiveRun } from "../runs/live-runs.js";
import type { Accepted } from "../runs/queue.js";
import type { LiveRunOptions } from "../runs/run-options.js";
import { runModel } from "../storage/rows/run-rows.js";

export interface AwaitedRun {
  readonly run: Run;
  /** The run as it ended. */
  end(): Promise<Run>;
  answer(): Promise<JsonObject>;
  stream(): RunStream;
}

interface CallerOptions {
  /** The log of the run, if it executes in this process and is streamed. */
  log?: RunLog;
  /** Aborts when the caller disconnects. */
  signal?: AbortSignal;
  /** Whether the run continues after that. */
  unattended: boolean;
  /** Called when the caller got the end of the run. Never rejects. */
  atEnd?: LiveRunOptions["atEnd"];
}

/** Another process may continue a run that has started in this one. */
export function awaitedRun(
  context: EngineContext,
  { run, live }: Accepted<LiveRun>,
  options: CallerOptions,
): AwaitedRun {
  if (!live) return new QueuedRun(context, run, options);
  const { log, signal, unattended } = options;
  const stop = () => stopRun(context, run, live);
  /** Interrupts the run if the caller disconnects first. */
  const end = async () => {
    if (!signal || unattended) return localEnd(context, live);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    try {
      return await localEnd(context, live);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  };
  return {
    run,
    end,
    answer: async () => {
      await end();
      return answerOf(context, run, live);
    },
    stream: () => {
      const frames = readRun(context, run, { log, live });
      const disconnect = () => {
        frames.leave();
        if (!unattended) stop();
      };
      return { run, frames, disconnect, resumable: unattended };
    },
  };
}

/** A run that waits in the shared queue, or that any process executes. */
class QueuedRun implements AwaitedRun {
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
    const row = await this.#context.live.callers.track(endOf(this.#context, this.run, this.#leave));
    return row ? runModel(row) : this.run;
  }

  answer(): Promise<JsonObject> {
    return this.#context.live.callers.track(this.#answer());
  }

  async #answer(): Promise<JsonObject> {
    try {
      return await answerOf(this.#context, this.run, undefined, this.#leave);
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

  /** Reads the local log if the run is executed here and processes share no frames. */
  async *#readFrames(signal: AbortSignal): AsyncGenerator<readonly RunFrame[]> {
    const context = this.#context;
    const { run_id } = this.run;
    const run = context.frames ? this.run : await begun(context, this.run, signal);
    const log = context.frames ? undefined : context.live.logOf(run_id);
    const frames = readRun(context, run, log && { log, live: context.live.find(run_id) });
    signal.addEventListener("abort", () => frames.leave(), { once: true });
    yield* frames;
  }

  /** If the process stops before the run ends, the sweep does the cleanup. */
  #tidyLater(): void {
    const { abortSignal } = this.#context.live.callers;
    if (this.#atEnd) endOf(this.#context, this.run, abortSignal).then(this.#atEnd, () => undefined);
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
