import type { SourceLocation } from "./errors/codes.js";
import type { StackFrame } from "./stack.js";

/**
 * Error thrown by a run, with its location, for developers of the graph. Stored with the run and
 * shown by commands that read the storage. Never sent to clients of the server, because it contains
 * code. Limited to about 10,000 characters.
 * @example
 * ```ts
 * import type { RunFault } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const { thread_id } = await service.threads.create({});
 * const { run_id } = await service.runs.create(thread_id, { assistant_id: "approval", input: { amount: -1 } });
 * const fault: RunFault | undefined = await service.runs.fault(thread_id, run_id);
 * fault?.message; // => "the amount is negative"
 * fault?.node; // => "approve"
 * ```
 */
export interface RunFault {
  /** Such as `TypeError`. */
  name: string;
  /** Message of the error. */
  message: string;
  /** Name of the node whose task threw the error, if known. */
  node?: string;
  /** Checkpoint namespace of the node's subgraph, such as `sub:0198c0de-…`; absent in the root graph. */
  namespace?: string;
  /** First line of user code in the stack; absent if there is none. */
  location?: SourceLocation;
  /** Stack frames in user code; if there are none, the first frames in libraries. */
  stack: StackFrame[];
  /** Number of library frames omitted from `stack`. */
  folded: number;
  /** The error that caused this one. */
  cause?: RunFault;
  /** Errors of several tasks of one superstep, or of any other AggregateError. */
  errors?: RunFault[];
}

/** Path of the node from the root graph, such as `outer > inner`; undefined if the node is unknown. */
export function nodePath({ node, namespace = "" }: Pick<RunFault, "node" | "namespace">): string | undefined {
  if (node === undefined) return undefined;
  const outer = namespace === "" ? [] : namespace.split("|").map((part) => part.split(":", 1)[0]);
  return [...outer, node].join(" > ");
}
