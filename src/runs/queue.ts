/** A queue that processes share: what operations ask of it (see ./shared-queue.ts). */
import { setMaxListeners } from "node:events";
import type { Run, RunCreateRequest } from "../models/run.js";
import { ShuttingDownError } from "../support/errors.js";
import { withTimeout } from "../support/pause.js";

/** A run that was accepted; `live` where it began in this process. */
export interface Accepted<Live> {
  run: Run;
  live?: Live;
}

/** Callers whose runs other processes execute: when this one ends, they have as long as its own runs have. */
export class WaiterGroup {
  readonly #waiting = new Set<Promise<unknown>>();
  readonly #aborted = new AbortController();

  constructor() {
    // Every caller listens.
    setMaxListeners(0, this.dismissed);
  }

  /** Aborts when nobody may wait any longer. */
  get dismissed(): AbortSignal {
    return this.#aborted.signal;
  }

  /** The process does not end before it has settled, for a while. */
  track<T>(waiting: Promise<T>): Promise<T> {
    const settled: Promise<unknown> = waiting.then(
      () => this.#waiting.delete(settled),
      () => this.#waiting.delete(settled),
    );
    this.#waiting.add(settled);
    return waiting;
  }

  async abort(graceSeconds: number): Promise<void> {
    if (this.#waiting.size > 0) await withTimeout(graceSeconds * 1000, Promise.all(this.#waiting));
    this.#aborted.abort(new ShuttingDownError());
  }
}

/** `Live` is a run of this process; the context is its caller's. */
export interface Queue<Context, Live, Options> {
  /**
   * Accept a run. It begins here at once where its thread is free and this process has room; else it waits for whichever
   * process has.
   */
  start(
    context: Context,
    threadId: string,
    request: RunCreateRequest,
    options: Options,
  ): Promise<Accepted<Live>>;
  /** A run may wait that somebody has room for. */
  notify(): void;
  /** Take runs that wait, as many as there is room for, until `stop`. */
  open(): void;
  /** Take no more. Resolves when nothing is being taken any more. */
  stop(): Promise<void>;
  /** Who waits here for a run that is executed elsewhere. */
  readonly callers: WaiterGroup;
}
