import type { SourceLocation } from "./errors.js";
import type { StackFrame } from "./stack.js";

/**
 * What a run threw, and where: for those who develop its graph. It is kept with the run and shown by commands that read
 * the storage; it never goes to clients of the server, since it shows code. Bounded: about ten thousand characters.
 */
export interface RunFault {
  /** Such as `TypeError`. */
  name: string;
  message: string;
  /** Name of the node whose task threw it, where that is known. */
  node?: string;
  /** Checkpoint namespace of the subgraph that the node is in, such as `sub:0198c0de-…`; left out in the graph itself. */
  namespace?: string;
  /** The first line of the user's own code in the stack; left out when none is. */
  location?: SourceLocation;
  /** Frames of the user's own code; without any, the first ones of libraries. */
  stack: StackFrame[];
  /** How many frames of libraries are left out of `stack`. */
  folded: number;
  cause?: RunFault;
  /** What several tasks of one superstep threw, and the parts of any other AggregateError. */
  errors?: RunFault[];
}

/** `outer > inner`: the node as it is found from the graph on; undefined when the node is not known. */
export function nodePath({ node, namespace = "" }: Pick<RunFault, "node" | "namespace">): string | undefined {
  if (node === undefined) return undefined;
  const outer = namespace === "" ? [] : namespace.split("|").map((part) => part.split(":", 1)[0]);
  return [...outer, node].join(" > ");
}
