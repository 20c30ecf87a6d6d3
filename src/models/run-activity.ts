/** Events inside runs, sent to watchers as they happen. */
import type { Run } from "./run.js";
import type { Interrupt } from "./state.js";

interface Step {
  run: Run;
  /** Names of the enclosing nodes, outermost first; for a node, its own name is last. */
  path: readonly string[];
  /** Duration in milliseconds. */
  ms: number;
}

export interface NodeActivity extends Step {
  kind: "node";
  state: "done" | "waits" | "failed";
  /** Tokens that models reported in this node, excluding nested nodes. */
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

/**
 * An event inside a run: its start, a finished node or tool call, or its end. `ms` is in milliseconds.
 * @example
 * ```ts
 * import { openService, type RunActivity } from "graph-serve";
 * import { graph } from "./graph.js";
 *
 * const kinds: string[] = [];
 * const onActivity = ({ kind }: RunActivity) => void kinds.push(kind);
 * const service = await openService({ graphs: { agent: graph }, onActivity });
 * const { answer } = await service.runs.waitStateless({ assistant_id: "agent", input: { name: "Ada" } });
 * await answer;
 * await service.close();
 * kinds; // => ["begin", "node", "end"]
 * ```
 */
export type RunActivity =
  /** The run has acquired its thread; the thread of a stateless run is deleted with the run. */
  | { kind: "begin"; run: Run; stateless: boolean }
  | NodeActivity
  | ToolActivity
  /** The run after its end, and its pending interrupts. */
  | { kind: "end"; run: Run; ms: number; interrupts: readonly Interrupt[] };
