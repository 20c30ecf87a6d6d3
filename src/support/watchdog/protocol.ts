/** What the main thread and the watchdog's thread share. */

/** How often the main thread shows that its event loop turns, and how often the other one looks. */
export const TICK_MS = 500;

// Shared memory: numbers of four bytes, then the id of the run that was begun last.

/** Counts up with the event loop. */
export const TICKS = 0;
/** 1 while a debugger may be attached. */
export const DEBUGGED = 1;
/** Milliseconds that the process still has; 0 while it need not end. */
export const DEADLINE = 2;
/** Where the id begins, in bytes. */
export const LAST_RUN = 12;
export const LAST_RUN_BYTES = 36;

/** Name of the function of the main thread that says what it executes, as JSON of a `Culprit`. */
export const CULPRIT = "graph-serve.culprit";

/** What holds the event loop, as far as it is known. */
export interface Culprit {
  run_id?: string;
  thread_id?: string;
  graph_id?: string;
  node?: string;
  /** File and line of the user's own code. */
  at?: string;
  function?: string;
}

export interface ThreadOptions {
  memory: SharedArrayBuffer;
  stall_warning_seconds: number;
  stall_exit_seconds: number;
  /** Where probes are answered; undefined for nowhere. */
  health_port?: number;
  host: string;
  /** How lines are logged, on stderr; none where nothing is to be logged. */
  format: "json" | "text" | "none";
}

/** What the thread says. */
export type ThreadMessage =
  | { kind: "listening"; url: string }
  | { kind: "refused"; reason: string }
  | { kind: "recovered"; seconds: number };
