import type { ThreadStatus } from "./thread.js";

/** A version of a graph, and what belongs to it. */
export interface GraphVersion {
  graph_id: string;
  /** Null for threads that were last run by a release without versions. */
  version: string | null;
  /** Whether the graph that is served now has this version. */
  is_current: boolean;
  threads: number;
  /** Threads that wait for an answer or at a breakpoint. */
  interrupted: number;
  /** Runs that have not ended. */
  open_runs: number;
  last_used_at: string | null;
}

/** Why a thread cannot continue on a graph as before. */
export interface VersionProblem {
  /** `node` and `edge`: its next task would be skipped. `key` and `schema`: the graph cannot read a value. */
  kind: "node" | "edge" | "key" | "schema";
  /** The node, with those of its parent graphs, or the path of the value. */
  place: string;
  message: string;
}

export interface ThreadCheck {
  thread_id: string;
  graph_id: string | null;
  version: string | null;
  status: ThreadStatus;
  updated_at: string;
  problems: VersionProblem[];
  /** Why the thread could not be checked; null if it was. */
  unchecked: string | null;
}
