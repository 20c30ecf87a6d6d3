/** A run that waits in the queue, or that whichever process had room executes, as its caller here has it. */
import type { JsonObject } from "../models/common.js";
import type { RunStream } from "../models/run-stream.js";
import type { Run } from "../models/run.js";
import { isFinished } from "../storage/rows.js";
import { answerElsewhere, endElsewhere, looksAt, stopElsewhere } from "./elsewhere.js";
import { framesElsewhere, until } from "./frames-elsewhere.js";
import type { EngineContext } from "./live-runs.js";
import { narrower } from "./narrow-log.js";
import type { LogReader } from "./run-log.js";
import { runModel } from "./thread-origin.js";

interface CallerOptions {
  /** Aborts when the caller is gone. */
  signal?: AbortSignal;
  /** Whether the run goes on then. */
  unattended: boolean;
  /** What is left to do when the caller has had its end. Never rejects. */
  atEnd?: () => Promise<void>;
}

export class QueuedRun {
  readonly run: Run;
  readonly #context: EngineContext;
  readonly #options: CallerOptions;
  /** Aborts when nobody waits here any more: the caller is gone, or the process ends. */
  readonly #leave: AbortSignal;

  constructor(context: EngineContext, run: Run, options: CallerOptions) {
    this.#context = context;
    this.run = run;
    this.#options = options;
    const { signal, unattended } = options;
    const { stopping } = context.live;
    this.#leave = signal ? AbortSignal.any([signal, stopping]) : stopping;
    if (unattended) return;
    if (signal?.aborted) this.#stop();
    signal?.addEventListener("abort", () => this.#stop(), { once: true });
  }

  /** The run as it ended. */
  async end(): Promise<Run> {
    const row = await endElsewhere(this.#context, this.run, this.#leave);
    return row ? runModel(row) : this.run;
  }

  /** What a caller who waits is answered. */
  async answer(): Promise<JsonObject> {
    try {
      return await answerElsewhere(this.#context, this.run, this.#leave);
    } finally {
      if (this.#leave.aborted) this.#tidyLater();
      else await this.#options.atEnd?.();
    }
  }

  stream(): RunStream {
    const { unattended } = this.#options;
    const frames = this.#frames();
    const disconnect = () => {
      frames.leave();
      if (!unattended) this.#stop();
      this.#tidyLater();
    };
    return { run: this.run, frames, disconnect, resumable: unattended };
  }

  /** Where processes share no frames, and it is executed here after all, its own. */
  #frames(): LogReader {
    const left = new AbortController();
    const leave = () => left.abort();
    this.#context.live.stopping.addEventListener("abort", leave, { once: true });
    const { run } = this;
    const context = this.#context;
    const { atEnd } = this.#options;
    const all = async function* () {
      yield* told();
      await atEnd?.();
    };
    const told = async function* () {
      const now = context.frames ? run : await begun(context, run, left.signal);
      const log = context.frames ? undefined : context.live.logOf(run.run_id);
      if (log) {
        const narrow = narrower(run);
        for await (const batch of log.read()) yield log.isWide ? batch.flatMap(narrow) : batch;
        if (!context.live.find(run.run_id)?.isTaken) return;
      }
      const rest = framesElsewhere(context, now);
      left.signal.addEventListener("abort", () => rest.leave(), { once: true });
      yield* rest;
    };
    return { leave, [Symbol.asyncIterator]: () => until(left.signal, all()) };
  }

  /** Should the process end before, the sweep sees to what is left. */
  #tidyLater(): void {
    const { atEnd } = this.#options;
    const { stopping } = this.#context.live;
    if (atEnd) endElsewhere(this.#context, this.run, stopping).then(atEnd, () => undefined);
  }

  #stop(): void {
    const { run_id } = this.run;
    stopElsewhere(this.#context, this.run).catch((error: unknown) =>
      this.#context.logger.error(
        { err: error, run_id },
        "a run could not be cancelled, though its client left",
      ),
    );
  }
}

/** The run once it has left the queue. */
async function begun(context: EngineContext, run: Run, signal: AbortSignal): Promise<Run> {
  for await (const row of looksAt(context, run, signal)) {
    if (!row) return run;
    if (isFinished(row) || row.status === "running") return runModel(row);
  }
  return run;
}
