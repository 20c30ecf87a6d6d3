/** The contract of a frame bus, which carries the frames of runs to other processes. */
import type { RunFrame } from "../../models/run-stream.js";

/** How long frames are kept, in milliseconds: after the end of a run, or after the last frame of an unfinished run. */
export const ENDED_MS = 5 * 60_000;
export const OPEN_MS = 10 * 60_000;
/** Number of attempts whose frames are kept, so that a late or reconnecting reader also gets earlier attempts. */
export const MOST_ATTEMPTS = 3;

/** Subject of a hint: `run:` or `end:` with a run id, or `thread:` with a thread id. */
export type HintName = `${"run" | "end" | "thread"}:${string}`;

/** What a reader must know about a run before it may send the run's frames to a client. */
export interface FramesAbout {
  thread_id: string;
  /** Whether all stream modes are captured, for readers of the thread's events. The run's own client gets a projection. */
  all_modes: boolean;
  /** Set for a stateless run, whose thread does not belong to its client. */
  stateless?: { scope: string | null };
}

/** Consecutive frames of one attempt of a run. */
export interface FramePart {
  run_id: string;
  attempt: number;
  about: FramesAbout;
  /** Id of the oldest frame that the writer still has. If it is not the first of its attempt, the bus deletes all older frames. */
  first: number;
  /** Id of the first frame of the part. If the part has no frames, the id of the next frame. */
  from: number;
  frames: readonly RunFrame[];
  /** Whether these are the last frames of the run. */
  is_last: boolean;
}

/** The frames of a run after a given frame. */
export interface FramePage {
  about: FramesAbout;
  /** In order, earlier attempts first. May be incomplete: read again from the last id. */
  frames: RunFrame[];
  /** Id of the next frame of the latest attempt. */
  next: number;
  /** Whether the run has ended, so that frame `next` never arrives. */
  is_ended: boolean;
}

/**
 * Each attempt has one writing process; any process may read. Calls reject with `StorageUnavailableError` while the bus is
 * unavailable. `append` rejects with another error if the bus refuses the content of a part; a retry does not help then.
 */
export interface FrameBus {
  readonly kind: "redis" | "postgres";
  /** Address without credentials, safe to print. */
  readonly location: string;
  /** Minimum interval between two `append` calls of a process, in milliseconds. */
  readonly paceMs: number;
  /** Poll interval of readers, in milliseconds: hints may be lost. */
  readonly pollMs: number;
  /**
   * Store frames. Storing a frame twice has no effect.
   * @returns for each part, the id of the frame that the bus expects next. If it is lower than the part's `from`, the bus
   * has lost frames and stored nothing of this part. Undefined if a later attempt has begun.
   */
  append(parts: readonly FramePart[]): Promise<(number | undefined)[]>;
  /** The frames after the frame with this id; undefined if the run is unknown. */
  read(runId: string, after: number): Promise<FramePage | undefined>;
  /** Subscribe to hints: new frames of a run, its end, or new runs on a thread. Returns a function that unsubscribes. */
  listen(name: HintName, listener: () => void): () => void;
  /** Call `listener` when a connection is lost: stored frames may be gone. */
  onLoss(listener: () => void): void;
  close(): Promise<void>;
}
