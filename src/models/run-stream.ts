import type { JsonObject } from "./common.js";
import type { Run } from "./run.js";

/**
 * One frame of a run's event stream; `data` is JSON text on one line. Ids start at 0.
 * @example
 * ```ts
 * import type { RunFrame } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const request = { assistant_id: "agent", input: { name: "Ada" } };
 * const { frames } = await service.runs.streamStateless(request);
 * const values: RunFrame[] = [];
 * for await (const batch of frames) values.push(...batch.filter(({ event }) => event === "values"));
 * JSON.parse(values.at(-1)?.data ?? ""); // => { name: "Ada", greeting: "Hello Ada" }
 * ```
 */
export interface RunFrame {
  /** Number of the frame, from 0. */
  id: number;
  /** Name of the event, such as `values`. */
  event: string;
  /** JSON text on one line. */
  data: string;
  /** Time of the event in milliseconds since 1970; unset if unknown. */
  at?: number;
}

/** Size of the id range of one attempt's frames. */
const IDS_AN_ATTEMPT = 1e9;

/** First frame id of an attempt; attempt 1 starts at 0. */
export const firstIdOf = (attempt: number): number => (Math.max(attempt, 1) - 1) * IDS_AN_ATTEMPT;

/** The attempt of a frame, from its id. Id -1, before the first frame, belongs to attempt 1. */
export const attemptOf = (id: number): number => Math.floor(Math.max(id, 0) / IDS_AN_ATTEMPT) + 1;

/** Events of the frame with which the stream of a run ends. */
export const LAST_EVENTS: ReadonlySet<string> = new Set(["end", "error"]);

export type Frame = Omit<RunFrame, "id"> & { readonly id: number | string };

/** What a stream of a thread's runs contains: all frames, or the start and the end of each run. */
export const THREAD_STREAM_MODES = ["run_modes", "lifecycle"] as const;
export type ThreadStreamMode = (typeof THREAD_STREAM_MODES)[number];

/** A stream of frames for one subscriber. */
export interface FrameStream {
  /**
   * Frames in order, in batches of those ready together. Can be read once. Throws FramesLostError
   * instead of skipping frames.
   */
  frames: AsyncIterable<readonly Frame[]>;
  /** The subscriber disconnected: the frames end. */
  disconnect(): void;
}

/** A reader fell so far behind that frames it has not read were dropped. */
export class FramesLostError extends Error {
  constructor() {
    super("frames of the run were dropped before they were read");
    this.name = "FramesLostError";
  }
}

/**
 * A run that has been accepted: lock acquired, row stored.
 * @example
 * ```ts
 * import type { RunStream } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const request = { assistant_id: "agent", input: { name: "Ada" } };
 * const stream: RunStream = await service.runs.streamStateless(request);
 * const events: string[] = [];
 * for await (const frames of stream.frames) events.push(...frames.map(({ event }) => event));
 * events.at(-1); // => "end"
 * ```
 */
export interface RunStream extends FrameStream {
  /** Ids of the run and its thread. */
  run: Pick<Run, "run_id" | "thread_id">;
  /** Frames of the run; they end after the `end` or `error` frame. */
  frames: AsyncIterable<readonly RunFrame[]>;
  /**
   * The subscriber disconnected: the frames end, and the run is interrupted unless its request says
   * otherwise (docs/specification.md#states).
   */
  disconnect(): void;
  /** True if the run continues without its subscriber, which can rejoin for the remaining frames. */
  resumable: boolean;
}

/** A run's stream, and the run's answer once it has ended. */
export interface AnsweredStream extends RunStream {
  /** The final visible values, or the error under `__error__`; rejects only if the storage failed. */
  answer(): Promise<JsonObject>;
}

/** The stream of a run that was started earlier. */
export interface JoinedStream extends RunStream {
  /** True if the run has ended and the subscriber has received its last frame. */
  isOver: boolean;
}

/** A run that has been accepted, and its future answer. */
export interface WaitingRun {
  run: Run;
  /** The final visible values, or the error under `__error__`; rejects only if the storage failed. */
  answer: Promise<JsonObject>;
}

/** The data of the first frame of an attempt. */
export function attemptFrame(
  { run_id, thread_id, attempt }: Pick<Run, "run_id" | "thread_id" | "attempt">,
  checkpoint_id?: string,
): string {
  return JSON.stringify({ run_id, thread_id, attempt: Math.max(attempt, 1), checkpoint_id });
}
