/** Names threads, namespaces and checkpoints in LangGraph's configs. */
import type { RunnableConfig } from "@langchain/core/runnables";

export interface NamespaceRef {
  thread_id: string;
  /** Empty for the root graph. */
  checkpoint_ns: string;
}

export interface CheckpointRef extends NamespaceRef {
  checkpoint_id: string | undefined;
}

/**
 * The thread, namespace and checkpoint that a config names. Values that are not strings are ignored: a database might
 * interpret an object from a client as an operator.
 * @throws Error if the config has no thread id
 */
export function checkpointRef({ configurable = {} }: RunnableConfig): CheckpointRef {
  const { thread_id, checkpoint_ns, checkpoint_id } = configurable as Record<string, unknown>;
  if (typeof thread_id !== "string" || thread_id === "")
    throw new Error("configurable.thread_id is needed to reach a checkpoint");
  return {
    thread_id,
    checkpoint_ns: typeof checkpoint_ns === "string" ? checkpoint_ns : "",
    checkpoint_id: typeof checkpoint_id === "string" && checkpoint_id !== "" ? checkpoint_id : undefined,
  };
}

/**
 * Like `checkpointRef`, but requires a checkpoint id.
 * @throws Error if the config has no thread id or no checkpoint id
 */
export function requiredCheckpointRef(config: RunnableConfig): NamespaceRef & { checkpoint_id: string } {
  const { checkpoint_id, ...place } = checkpointRef(config);
  if (checkpoint_id === undefined) throw new Error("configurable.checkpoint_id is needed to store writes");
  return { ...place, checkpoint_id };
}
