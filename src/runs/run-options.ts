/** What a run is accepted with beside its request. */
import type { KnownRun } from "./run-request.js";
import type { RunLog, Stateless } from "../frames/run-log.js";

export interface LiveRunOptions {
  /** Takes the run's frames; left out for a run that nobody streams. */
  log?: RunLog;
  /** Set for a run whose thread is none of its client's. */
  stateless?: Stateless;
  /**
   * Called when the run has ended, before anybody hears of it, while its thread is still held. One that is dead can go on
   * when somebody asks for it. Never rejects.
   */
  atEnd?: (isDead: boolean) => Promise<void>;
  /** Whether it goes on when its client leaves. */
  unattended?: boolean;
}

/** Of a run that a queue takes. */
export interface QueueOptions extends LiveRunOptions {
  /** Set when `interrupt` and `rollback` stop what is in flight, whatever the settings say. */
  takesOver?: boolean;
  /** Of a run that was asked for earlier. */
  known?: KnownRun;
  /** Whether its caller waits for it: who waits removes a thread that goes with the run. */
  isAwaited?: boolean;
}
