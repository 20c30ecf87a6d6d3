/** Types of the events and helper API that `dev` provides to the Studio in addition to the public API. */

/** Visible part of states: only what the graphs' output schemas expose to clients, or everything stored. */
export type Shown = "clients" | "all";

/** A graph whose current file does not load. */
export interface LoadFault {
  graph_id: string;
  message: string;
  hint: string | null;
  location: FaultLocation | null;
  /** Whether the last version that loaded is still served. */
  served: boolean;
}

export interface FaultLocation {
  file: string;
  /** Line and column count from 1. */
  line: number;
  column: number;
  /** Source lines around the location. */
  frame: string;
}

export interface StudioHello {
  place: string;
  /** Visible part of states in the public API. The helper API shows the other. */
  shows: Shown;
  /** All graphs that can be run, the default first. */
  graphs: string[];
  faults: LoadFault[];
  /** When the graphs were last reloaded, ISO 8601; null if never since the start. */
  reloaded_at: string | null;
  /** Number of reloads since the start, also of those that failed; null if saved files are not reloaded. */
  loads: number | null;
  /** Whether the project has results of `shadow --studio`. */
  has_shadow: boolean;
}

/** The results of the last `shadow --studio` of a project. */
export interface StudioShadow {
  /** When it ended, ISO 8601. */
  at: string;
  /** The file that was compared; null for the configured graphs. */
  against: string | null;
  summary: string;
  /** Number of runs by result. */
  counts: Record<string, number>;
  /** Without runs that are the same. */
  results: StudioShadowResult[];
}

export interface StudioShadowResult {
  thread_id: string;
  run_ids: string[];
  graph_id: string | null;
  /** A class of `shadow`, or `accepted`. */
  outcome: string;
  difference: { place: string; before: string; now: string } | null;
  reason: string | null;
}

/** Graphs were reloaded, or failed to load. */
export interface StudioEvent {
  event: "reloaded" | "load_failed";
  data: StudioHello;
}

/** The replayed run; stored as `replay_of` in the metadata of the replay's thread. */
export interface ReplayOf {
  thread_id: string;
  run_id: string;
  /** The run's final checkpoint. */
  checkpoint_id: string;
  /** Whether recorded responses are used instead of calling models and tools. */
  recorded: boolean;
}

/** A replay of a run on a copy of its thread. */
export interface StudioReplay {
  thread_id: string;
  of: ReplayOf;
  /** `running`, then the final status of the run. */
  status: string;
  error: string | null;
  /** Calls of models and tools that differ from the recording. */
  differences: { message: string; expected: unknown; actual: unknown }[];
}

/** A run as a case file, already written or as a preview. */
export interface StudioCase {
  file: string;
  /** Path relative to the project folder. */
  path: string;
  text: string;
  /** File of the recorded responses, relative to the project folder; null if there is none. */
  mock: { path: string; calls: number } | null;
  /** Files that already exist, relative to the project folder. */
  taken: string[];
  /** Whether the file exists and only the chosen value is added to it. */
  extends: boolean;
  /** Limitations: parts of the run that the case cannot reproduce. */
  notes: string[];
  written: boolean;
}

/** An exception of a run with its place in the project, as only the project's developer may see it. */
export interface StudioFault {
  name: string;
  message: string;
  /** Node whose task threw it, and the namespace of its subgraph. */
  node?: string;
  namespace?: string;
  location?: { file: string; line?: number; column?: number; frame?: string };
  stack: { function?: string; file: string; line: number; column: number }[];
  /** Number of library frames that are not in `stack`. */
  folded: number;
  cause?: StudioFault;
  /** Exceptions of several tasks of one superstep. */
  errors?: StudioFault[];
}

/** A superstep that ran again from its stored input, on a copy of the thread that no longer exists. */
export interface StudioNodeRun {
  /** Final status of the run. */
  status: string;
  error: string | null;
  /** Duration in milliseconds. */
  ms: number;
  /** State before and after; `after` equals `before` if the run failed. */
  before: unknown;
  after: unknown;
  /** The state that the step stored; null if the request names no step. */
  stored: unknown;
  /** Whether a node waits for an answer that is not stored. */
  asks: boolean;
  /** Number of calls of models and tools that were made. */
  calls: number;
  /** Number of calls that were answered from the recording instead. */
  recorded: number;
}
