/**
 * Decides where an accepted run executes. There are two engines: coordination/in-process-queue.ts, in which each process
 * executes the runs that it accepts, and coordination/shared-queue.ts, on pg-boss.
 */
import { setMaxListeners } from "node:events";
import type { Run } from "../models/run.js";
import { ShuttingDownError } from "../support/errors.js";
import { withTimeout } from "../support/pause.js";
import type { AcceptOptions } from "./run-options.js";
import type { CheckedRequest } from "./run-request.js";

/** A run that was accepted; `live` if it started in this process. */
export interface Accepted<Live> {
  run: Run;
  live?: Live;
}

/** Callers that wait for runs of other processes. A shutdown gives them the same grace period as runs. */
export class WaiterGroup {
  readonly #waiting = new Set<Promise<unknown>>();
  readonly #aborted = new AbortController();

  constructor() {
    // Every caller adds a listener.
    setMaxListeners(0, this.abortSignal);
  }

  /** Aborts when callers must stop waiting. */
  get abortSignal(): AbortSignal {
    return this.#aborted.signal;
  }

  /** Makes a shutdown wait for the promise, within the grace period. */
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

/** `Live` is a run of this process; `Context` is the context of its caller. */
export interface Queue<Context, Live> {
  /** Whether other processes may execute runs that this one accepts. */
  readonly isShared: boolean;
  /**
   * Accepts a run. It starts here immediately if its thread is free and this process has capacity. Otherwise it waits for
   * its thread, or for any process with capacity if the queue is shared.
   */
  accept(context: Context, checked: CheckedRequest, options: AcceptOptions): Promise<Accepted<Live>>;
  /** Lets a requeued or redriven run of the thread continue, here or in another process. */
  takeUp(threadId: string): Promise<void>;
  /** Best-effort wake-up of all workers: a run may be waiting. */
  notify(): void;
  /** Claims waiting runs, within the capacity of this process, until `stop`. */
  open(): void;
  /** Stops claiming runs. Resolves when no claim is in progress. */
  stop(): Promise<void>;
}
