import type { RunCreateRequest } from "../../models/run.js";

/** An event of a run, as the stream has it; `data` is JSON text. */
export interface RunEvent {
  id: number | string;
  event: string;
  data: string;
}

/** Where a run is executed: in this process, or on a server. */
export interface RunTarget {
  /** What is run where nothing says otherwise. */
  readonly assistantId: string;
  /** Whether the thread can be run again by a later command. */
  readonly keepsThreads: boolean;
  /** The graph that the thread ran last; undefined for a thread that has run none, or is not there. */
  graphOf(threadId: string): Promise<string | undefined>;
  /** The events of one run, to its end. Aborting the signal interrupts the run. */
  stream(threadId: string, request: RunCreateRequest, signal: AbortSignal): AsyncIterable<RunEvent>;
  close(): Promise<void>;
}
