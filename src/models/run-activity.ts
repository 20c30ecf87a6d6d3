/** Events of runs, sent to watchers as they happen. */
import type { Run } from "./run.js";
import type { Interrupt } from "./state.js";

/** Something inside of a run that has ended. */
interface Step {
  run: Run;
  /** Names of the nodes that it is in, the outermost first; of a node, its own last. */
  path: readonly string[];
  /** How long it took. */
  ms: number;
}

export interface NodeActivity extends Step {
  kind: "node";
  state: "done" | "waits" | "failed";
  /** What models reported in it, without the nodes inside of it. */
  tokens: number;
}

export interface ToolActivity extends Step {
  kind: "tool";
  name: string;
  /** Input and output or error, as full text. */
  input: string;
  output: string;
  state: "done" | "failed";
}

export type RunActivity =
  /** The run has its thread, which is gone with it when it is stateless. */
  | { kind: "begin"; run: Run; stateless: boolean }
  | NodeActivity
  | ToolActivity
  /** The run as it ended, and what it waits for. */
  | { kind: "end"; run: Run; ms: number; interrupts: readonly Interrupt[] };
