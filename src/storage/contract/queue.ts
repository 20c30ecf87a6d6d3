/** What processes learn about the shared queue: see `RunQueue`. */

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
