/** A run that waits in the queue, or that whichever process had room executes, as its caller here has it. */
import type { JsonObject } from "../models/common.js";
import type { RunFrame, RunStream } from "../models/run-stream.js";
import type { Run } from "../models/run.js";
import { isFinished } from "../storage/rows/rows.js";
import { remoteAnswer, endRemoteRun, pollRow, stopRemoteRuns } from "./remote-runs.js";
import { remoteFrames, untilAborted } from "./remote-frames.js";
import type { EngineContext } from "../runs/live-runs.js";
import { projectForClient } from "../frames/projected-log.js";
import type { WaiterGroup } from "../runs/queue.js";
import type { RunLog } from "../frames/run-log.js";
import type { LiveRunOptions } from "../runs/run-options.js";
import { runModel } from "../threads/thread-origin.js";

interface CallerOptions {
  callers: WaiterGroup;
  /** Aborts when the caller is gone. */
  signal?: AbortSignal;
  /** Whether the run goes on then. */
  unattended: boolean;
  /** What is left to do when the caller has had its end. Never rejects. */
  atEnd?: LiveRunOptions["atEnd"];
}

export class QueuedRun {
  readonly run: Run;
  readonly #context: EngineContext;
  readonly #options: CallerOptions;
  /** Aborts when nobody waits here any more: the caller is gone, or the process ends. */
  readonly #leave: AbortSignal;
  /** Never rejects. */
  readonly #atEnd: (() => Promise<void>) | undefined;

  constructor(context: EngineContext, run: Run, options: CallerOptions) {
    this.#context = context;
    this.run = run;
    this.#options = options;
    const { signal, unattended, callers, atEnd } = options;
    this.#atEnd = atEnd && (() => onceFree(context, run, atEnd));
    this.#leave = signal ? AbortSignal.any([signal, callers.dismissed]) : callers.dismissed;
    if (unattended) return;
    if (signal?.aborted) this.#stop();
    signal?.addEventListener("abort", () => this.#stop(), { once: true });
  }

  /** The run as it ended. */
  async end(): Promise<Run> {
    const row = await this.#options.callers.track(endRemoteRun(this.#context, this.run, this.#leave));
    return row ? runModel(row) : this.run;
  }

  /** What a caller who waits is answered. */
  answer(): Promise<JsonObject> {
    return this.#options.callers.track(this.#answer());
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
    const { unattended, callers } = this.#options;
    const atEnd = this.#atEnd;
    const left = new AbortController();
    const leave = () => left.abort();
    let end = leave;
    void callers.track(new Promise<void>((resolve) => (end = resolve)));
    callers.dismissed.addEventListener("abort", leave, { once: true });
    const over = () => {
      callers.dismissed.removeEventListener("abort", leave);
      end();
    };
    const told = this.#hasReported(left.signal);
    const frames = async function* () {
      try {
        yield* untilAborted(left.signal, told);
        if (!left.signal.aborted) await atEnd?.();
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

  /** Where processes share no frames, and it is executed here after all, its own. */
  async *#hasReported(left: AbortSignal): AsyncGenerator<readonly RunFrame[]> {
    const { run } = this;
    const context = this.#context;
    const now = context.frames ? run : await begun(context, run, left);
    const log = context.frames ? undefined : context.live.logOf(run.run_id);
    if (log) {
      yield* this.#ownFrames(log, left);
      if (left.aborted || !context.live.find(run.run_id)?.isTaken) return;
    }
    const rest = remoteFrames(context, now);
    left.addEventListener("abort", () => rest.leave(), { once: true });
    yield* rest;
  }

  async *#ownFrames(log: RunLog, left: AbortSignal): AsyncGenerator<readonly RunFrame[]> {
    const narrow = projectForClient(this.run);
    const frames = log.read();
    left.addEventListener("abort", () => frames.leave(), { once: true });
    for await (const batch of frames) yield log.capturesAllModes ? batch.flatMap(narrow) : batch;
  }

  /** Should the process end before, the sweep sees to what is left. */
  #tidyLater(): void {
    const { dismissed } = this.#options.callers;
    if (this.#atEnd) endRemoteRun(this.#context, this.run, dismissed).then(this.#atEnd, () => undefined);
  }

  #stop(): void {
    const { run_id } = this.run;
    stopRemoteRuns(this.#context, this.run).catch((error: unknown) =>
      this.#context.logger.error(
        { err: error, run_id },
        "a run could not be cancelled, though its client left",
      ),
    );
  }
}

/** How long a thread is waited for whose run has ended, in milliseconds. */
const FREE_MS = 10_000;

/** Whoever ended the run has its thread until all is done that the end does. What is not done here is left to the sweep. */
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
    // One that died may go on again by now.
    await work(row !== undefined && (!isFinished(row) || row.resumption != null));
  } catch {
    // The storage is away.
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
