/** Events and helpers that `dev` offers its Studio beside the public interface. */

/** What is seen of states: what the output schemas of graphs let clients see, or all that is stored. */
export type Shown = "clients" | "all";

/** A graph that does not load as its file is now. */
export interface LoadFault {
  graph_id: string;
  message: string;
  hint: string | null;
  location: FaultLocation | null;
  /** Whether the last version that loaded still serves. */
  served: boolean;
}

export interface FaultLocation {
  /** Absolute path. */
  file: string;
  /** Line and column count from 1. */
  line: number;
  column: number;
  /** The lines there. */
  frame: string;
}

export interface StudioHello {
  /** Folder of the project. */
  place: string;
  /** What the public interface shows of states: what clients see, or all. The helper shows the other. */
  shows: Shown;
  /** All graphs that can be run, the default first. */
  graphs: string[];
  faults: LoadFault[];
  /** When the graphs were last loaded, ISO 8601; null since the start. */
  reloaded_at: string | null;
}

/** Graphs were reloaded, or failed to load. */
export interface StudioEvent {
  event: "reloaded" | "load_failed";
  data: StudioHello;
}

/** The run that another one repeats; the metadata of its thread have it as `replay_of`. */
export interface ReplayOf {
  thread_id: string;
  run_id: string;
  /** The checkpoint that it came to. */
  checkpoint_id: string;
  /** Whether what was recorded answers, and no model or tool is called. */
  recorded: boolean;
}

/** A run that is run again, on a copy of its thread. */
export interface StudioReplay {
  /** The copy. */
  thread_id: string;
  of: ReplayOf;
  /** `running`, and then that of the run. */
  status: string;
  error: string | null;
  /** Where it asked its models and tools otherwise than recorded. */
  differences: { message: string; expected: unknown; actual: unknown }[];
}

/** A run as a case file, as it is or would be written. */
export interface StudioCase {
  /** Absolute path. */
  file: string;
  /** The same from the project's folder. */
  path: string;
  text: string;
  /** The file of the recorded answers that goes with it, from the project's folder; null where there are none. */
  mock: { path: string; calls: number } | null;
  /** Those of its files that were there before, from the project's folder. */
  taken: string[];
  /** What the case cannot hold. */
  notes: string[];
  written: boolean;
}
