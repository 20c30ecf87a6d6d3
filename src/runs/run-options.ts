/** Options of an accepted run, in addition to its request. */
import type { RunLog, Stateless } from "../frames/run-log.js";
import type { Resumption, RunHolder } from "../storage/contract/runs.js";

export interface LiveRunOptions {
  /** Receives the frames of the run; undefined if the run is not streamed. */
  log?: RunLog;
  /** Set for a stateless run: its thread does not belong to the client. */
  stateless?: Stateless;
  /**
   * Called when the run has ended, before its end is reported and while its thread is still locked. A dead run can
   * continue once it is redriven. Never rejects.
   */
  atEnd?: (isDead: boolean) => Promise<void>;
  /** Called when the run has ended without having had its thread, before its end is reported. Never rejects. */
  ifUnbegun?: () => Promise<void>;
  /** Whether the run continues after its client disconnects. */
  unattended?: boolean;
  /** Set for a run that ends with its client's connection: what its row stores if it is requeued after losing its lock. */
  ifLost?: () => Resumption;
}

/** Properties of a run that are fixed before it is accepted. */
export interface KnownRun {
  run_id: string;
  created_at?: string;
  /** The current owner, if the run already has a row. */
  from?: RunHolder;
}

/** Options of a run to accept. */
export interface AcceptOptions extends LiveRunOptions {
  /** Aborts when the caller disconnects. A run that waits for its thread is then not accepted. */
  signal?: AbortSignal;
  /** Whether `interrupt` and `rollback` stop the run in flight. Defaults to the setting multitask_cancel. */
  takesOver?: boolean;
  /** Set for a run that was requested earlier. */
  known?: KnownRun;
  /** Whether the caller waits for the run. It then also deletes the thread of a temporary run. */
  isAwaited?: boolean;
}
