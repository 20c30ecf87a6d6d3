import type { JsonObject } from "./common.js";
import type { Run } from "./run.js";

/** One frame of a run's event stream; `data` is JSON text on one line. Ids count up from 0. */
export interface RunFrame {
  id: number;
  event: string;
  data: string;
}

/** The reader of a stream fell so far behind that frames it has not seen are gone. */
export class FramesLostError extends Error {
  constructor() {
    super("frames of the run were dropped before they were read");
    this.name = "FramesLostError";
  }
}

/** A run that has been accepted: lock held, row stored. */
export interface RunStream {
  run: Pick<Run, "run_id" | "thread_id">;
  /**
   * Frames in order, in batches of those ready together; ends after the `end` or `error` frame. Read once. Throws
   * FramesLostError instead of leaving a gap.
   */
  frames: AsyncIterable<readonly RunFrame[]>;
  /**
   * The subscriber is gone: the frames end, and the run is interrupted unless it asked otherwise
   * (docs/specification.md#states).
   */
  disconnect(): void;
  /** True when the run goes on without its subscriber, who may come back for the rest. */
  resumable: boolean;
}

/** The stream of a run that somebody started earlier. */
export interface JoinedStream extends RunStream {
  /** True when the run has ended and the subscriber has seen its last frame. */
  isOver: boolean;
}

/** A run that has been accepted, and what it will answer. */
export interface WaitingRun {
  run: Run;
  /** The final visible values, or the error under `__error__`; rejects only when the storage failed. */
  answer: Promise<JsonObject>;
}
