/** Frames of runs on their way to other processes: what carries them, and what it promises. */
import type { RunFrame } from "../../models/run-stream.js";

/** How long the frames of a run that has ended stay, in milliseconds; those of one that goes on, since the last. */
export const ENDED_MS = 5 * 60_000;
export const OPEN_MS = 10 * 60_000;
/** Attempts of a run whose frames stay: who reads late, or was away, sees what the earlier ones told. */
export const MOST_ATTEMPTS = 3;

/** What hints are about: `run:` or `end:` with the id of a run, `thread:` with that of a thread. */
export type HintName = `${"run" | "end" | "thread"}:${string}`;

/** What readers have to know of a run's frames before they may show them. */
export interface FramesAbout {
  thread_id: string;
  /** Whether they are collected for readers of the thread's events too: a run's own reader gets part of them. */
  is_wide: boolean;
  /** Set for a run whose thread is none of its client's. */
  stateless?: { scope: string | null };
}

/** Frames of one attempt of a run that follow each other. */
export interface FramePart {
  run_id: string;
  attempt: number;
  about: FramesAbout;
  /** Id of the oldest frame that the writer has. Once that is not the first of its attempt, what the bus has of older ones goes. */
  first: number;
  /** Id of the first frame of the part; of the one to come where it has none. */
  from: number;
  frames: readonly RunFrame[];
  /** Whether the run has ended with these. */
  is_last: boolean;
}

/** What the bus has of a run after a frame. */
export interface FramePage {
  about: FramesAbout;
  /** In order, those of earlier attempts before those of later ones; not always all of them. */
  frames: RunFrame[];
  /** Id of the frame of the latest attempt that comes next. */
  next: number;
  /** Whether the run has ended, and `next` comes no more. */
  is_ended: boolean;
}

/**
 * One process writes the frames of an attempt, all may read them. Its calls reject with `StorageUnavailableError` while it
 * is away; `append` with another error where it refuses what is in a part, which it will do again.
 */
export interface FrameBus {
  readonly kind: "redis" | "postgres";
  /** Where it is, safe to print. */
  readonly location: string;
  /** Milliseconds between two calls of `append` of a process, at least. */
  readonly paceMs: number;
  /** Milliseconds after which readers look by themselves: a hint may be lost. */
  readonly pollMs: number;
  /**
   * Store frames. For each part: the id that the bus wants next, which is lower than asked for where it has lost some, and
   * then it has stored nothing of it; undefined when a later attempt has begun. What it has already it takes again.
   */
  append(parts: readonly FramePart[]): Promise<(number | undefined)[]>;
  /** The frames after the one with this id; undefined when nothing is known of the run. */
  read(runId: string, after: number): Promise<FramePage | undefined>;
  /** Hear of what is named: frames of a run, its end, runs that come on a thread. Returns what ends that. */
  listen(name: HintName, hear: () => void): () => void;
  /** Hear that a connection was lost: what was stored may be gone. */
  onLoss(hear: () => void): void;
  close(): Promise<void>;
}
