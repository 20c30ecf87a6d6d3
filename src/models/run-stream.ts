import type { JsonObject } from "./common.js";
import type { Run } from "./run.js";

/** One frame of a run's event stream; `data` is JSON text on one line. Ids count up from 0. */
export interface RunFrame {
  id: number;
  event: string;
  data: string;
  /** Time of the event in milliseconds since 1970; unset if unknown. */
  at?: number;
}

/**
 * JSON text with U+FFFD for U+0000. Requests may not contain NUL: a client could not send such a value back, nor subscribe
 * to such a name. In JSON text it can only be an escape, after an even number of backslashes.
 */
export const withoutNul = (json: string): string =>
  json.includes("\\u0000") ? json.replace(/(?<!\\)((?:\\\\)*)\\u0000/g, "$1\uFFFD") : json;

/** Ids that the frames of one attempt may have. */
const IDS_AN_ATTEMPT = 1e9;

/** The first id of an attempt's frames: those of the first begin with 0. */
export const firstIdOf = (attempt: number): number => (Math.max(attempt, 1) - 1) * IDS_AN_ATTEMPT;

/** The attempt that a frame is of, by its id; -1 stands before those of the first. */
export const attemptOf = (id: number): number => Math.floor(Math.max(id, 0) / IDS_AN_ATTEMPT) + 1;

/** A frame of any event stream. */
export type Frame = Omit<RunFrame, "id"> & { readonly id: number | string };

/** Frames on their way to one subscriber. */
export interface FrameStream {
  /**
   * Frames in order, in batches of those ready together. Read once. Throws FramesLostError instead of leaving a gap.
   */
  frames: AsyncIterable<readonly Frame[]>;
  /** The subscriber is gone: the frames end. */
  disconnect(): void;
}

/** The reader of a stream fell so far behind that frames it has not seen are gone. */
export class FramesLostError extends Error {
  constructor() {
    super("frames of the run were dropped before they were read");
    this.name = "FramesLostError";
  }
}

/** A run that has been accepted: lock held, row stored. */
export interface RunStream extends FrameStream {
  run: Pick<Run, "run_id" | "thread_id">;
  /** As those of every stream; they end after the `end` or `error` frame. */
  frames: AsyncIterable<readonly RunFrame[]>;
  /**
   * The subscriber is gone: the frames end, and the run is interrupted unless it asked otherwise
   * (docs/specification.md#states).
   */
  disconnect(): void;
  /** True if the run continues without its subscriber, which can rejoin for the rest. */
  resumable: boolean;
}

/** A run's stream, and what the run has answered once it has ended. */
export interface AnsweredStream extends RunStream {
  /** The final visible values, or the error under `__error__`; rejects only when the storage failed. */
  answer(): Promise<JsonObject>;
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
