import { isRecord } from "./common.js";
import type { Run } from "./run.js";
import type { ThreadState } from "./state.js";
import type { Thread } from "./thread.js";

export const THREAD_FILE_FORMAT = "graph-serve/thread";
export const THREAD_FILE_VERSION = 1;

/** A thread as one file: what clients see of it, checkpoint by checkpoint. */
export interface ThreadFile {
  format: typeof THREAD_FILE_FORMAT;
  version: typeof THREAD_FILE_VERSION;
  exported_at: string;
  thread: Thread;
  /** Newest first. */
  runs: Run[];
  /** Oldest first. */
  states: ThreadState[];
}

/** What is wrong with a file that should hold a thread; undefined when it holds one. */
export function threadFileFault(content: unknown): string | undefined {
  if (!isRecord(content) || content.format !== THREAD_FILE_FORMAT) return "it holds no exported thread";
  if (content.version !== THREAD_FILE_VERSION)
    return `it is of version ${String(content.version)}, this is ${THREAD_FILE_VERSION}`;
  const { thread, runs, states } = content;
  if (!isRecord(thread) || typeof thread.thread_id !== "string") return "its thread is missing";
  if (!Array.isArray(runs) || !runs.every((run) => isRecord(run) && typeof run.run_id === "string"))
    return "its runs cannot be read";
  if (!Array.isArray(states) || !states.every(isState)) return "its states cannot be read";
  return undefined;
}

function isState(state: unknown): boolean {
  return (
    isRecord(state) &&
    isRecord(state.checkpoint) &&
    typeof state.checkpoint.checkpoint_id === "string" &&
    Array.isArray(state.next) &&
    Array.isArray(state.tasks) &&
    isRecord(state.metadata)
  );
}
