/** The shared queue of all processes, and what they learn about it. */
import type { Resumption, RunHolder, RunKey, RunLease, RunRow } from "./runs.js";
import type { ThreadPatch } from "./threads.js";

/** Whether runs are ready: `suspects`, those during which a process has crashed; `runs`, all others. */
export interface ReadyQueues {
  runs: boolean;
  suspects: boolean;
}

export interface QueueStats {
  /** Number of queued runs. */
  waiting: number;
  /** Number of ready runs: each is the first of its thread and only needs a process. */
  ready: number;
  /** How long the oldest ready run has been ready, in seconds. */
  oldest_seconds: number;
}

/** Best-effort notifications between the processes of a storage: polling covers lost ones. */
export interface Wakeups {
  /** Wake all processes when a run is ready. Never throws. */
  notify(): void;
  /** Subscribe to notifications of all processes. Returns a function that unsubscribes. */
  listen(listener: () => void): () => void;
}

/** Result of `RunQueue.accept`. `before` is the number of earlier unfinished runs of the thread. */
export type Acceptance =
  | { became: "begun" | "queued"; before: number }
  | { became: "no_thread" | "thread_full" | "queue_full" | "caller_full" | "not_held" };

/** A queued run that is the first unfinished run of its thread, fetched by a process that is about to claim it. */
export interface ReadyRun extends RunKey {
  /** Identifies the user on whose behalf it runs; empty without authentication. */
  caller: string;
  /** Whether a process has crashed while executing it. */
  isSuspect: boolean;
}

export interface AcceptOptions {
  /** What to store instead if the run is queued. */
  queued: RunLease & { resumption: Resumption };
  /** Maximum number of earlier unfinished runs of its thread. */
  mostBefore: number;
  /** Maximum number of queued runs, in total and of its caller; unlimited if undefined. */
  mostWaiting?: number;
  mostOfCaller?: number;
  /** Set if the row exists and has this holder. The run is taken over from it, or the result is `not_held`. */
  from?: RunHolder;
}

/**
 * The shared queue of all processes: the runs whose state is `queued`, without an owner. Only the first unfinished run of a
 * thread is ready, in the order in which the storage accepted the runs, whichever process accepted them.
 */
export interface RunQueue {
  /**
   * Store a run and the change to its thread in one step. A run whose state is `running` begins if its thread has no
   * earlier unfinished run. Otherwise it is stored as `queued` says.
   */
  accept(row: RunRow, thread: ThreadPatch, options: AcceptOptions): Promise<Acceptance>;
  /** What `fetch` and `fetchSuspect` would find. */
  ready(): Promise<ReadyQueues>;
  /**
   * At most `limit` ready runs that are not suspect. For a few seconds, no other process gets them. Runs whose callers have
   * the fewest runs in flight come first, then runs of callers that were served least recently, then the oldest.
   * `recentCallers` lists the callers in the order in which they were served; callers missing from it come first.
   */
  fetch(limit: number, recentCallers?: readonly string[]): Promise<ReadyRun[]>;
  /** As `fetch`, for the oldest suspect run. */
  fetchSuspect(): Promise<ReadyRun | undefined>;
  /** Let any process fetch a run that was not claimed. */
  release(run: ReadyRun): Promise<void>;
  /** Queue metrics, for example for autoscaling. */
  stats(): Promise<QueueStats>;
}
