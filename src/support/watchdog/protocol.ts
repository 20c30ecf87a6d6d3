/** Shared between the main thread and the watchdog thread. */

/** Interval of the main thread's heartbeat and of the watchdog's checks, in milliseconds. */
export const TICK_MS = 500;

// Layout of the shared memory: numbers of four bytes, then the id of the run that started last.

/** Heartbeat counter of the event loop. */
export const TICKS = 0;
/** 1 while a debugger may be attached. */
export const DEBUGGED = 1;
/** Milliseconds until the process must have ended; 0 if it is not shutting down. */
export const DEADLINE = 2;
/** Offset of the run id, in bytes. */
export const LAST_RUN = 12;
export const LAST_RUN_BYTES = 36;

/** Name of the main thread's function that returns what it executes, as JSON of a `Culprit`. */
export const CULPRIT = "graph-serve.culprit";

/** Code that blocks the event loop, as far as known. */
export interface Culprit {
  run_id?: string;
  thread_id?: string;
  graph_id?: string;
  node?: string;
  /** File and line of user code. */
  at?: string;
  function?: string;
}

export interface ThreadOptions {
  memory: SharedArrayBuffer;
  stall_warning_seconds: number;
  stall_exit_seconds: number;
  /** Port that answers probes; none if undefined. */
  health_port?: number;
  host: string;
  /** Whether the process serves other requests, which the log then mentions. */
  serves: boolean;
  /** Format of log lines on stderr; `none` disables logging. */
  format: "json" | "text" | "none";
  /** The settings of the same names, for JSON. */
  log_level_format: "number" | "word";
  log_time_format: "epoch" | "iso";
}

export type ThreadMessage =
  | { kind: "listening"; url: string }
  | { kind: "refused"; reason: string }
  | { kind: "recovered"; seconds: number };
