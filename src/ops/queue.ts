/** A queue that processes share: what operations ask of it (see ./shared-queue.ts). */
import type { Run, RunCreateRequest } from "../models/run.js";

/** A run that was accepted; `live` where it began in this process. */
export interface Accepted<Live> {
  run: Run;
  live?: Live;
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
  ring(): void;
  /** Take runs that wait, as many as there is room for, until `stop`. */
  open(): void;
  /** Take no more. Resolves when nothing is being taken any more. */
  stop(): Promise<void>;
}
