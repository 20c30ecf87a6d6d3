/** Assembles checkpoint tuples from stored parts. */
import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  maxChannelVersion,
  TASKS,
} from "@langchain/langgraph-checkpoint";
import type { NamespaceRef } from "./ref.js";

type PendingWrites = NonNullable<CheckpointTuple["pendingWrites"]>;

interface TupleParts {
  id: string;
  /** Id of the parent checkpoint; empty or null if there is none. */
  parent: string | null;
  checkpoint: Checkpoint;
  metadata: unknown;
  pendingWrites: PendingWrites;
}

/**
 * Versions of the values to store with a checkpoint. LangGraph names no new versions for a fork, whose parent is that of the
 * forked checkpoint and lacks the values of its last step.
 */
export const storedVersions = (
  { channel_versions }: Checkpoint,
  { source }: CheckpointMetadata,
  newVersions: ChannelVersions,
): ChannelVersions => (source === "fork" ? channel_versions : newVersions);

const configOf = ({ thread_id, checkpoint_ns }: NamespaceRef, checkpoint_id: string) => ({
  configurable: { thread_id, checkpoint_ns, checkpoint_id },
});

/** Assembles a LangGraph CheckpointTuple. */
export const tupleOf = (place: NamespaceRef, { id, parent, ...parts }: TupleParts): CheckpointTuple => ({
  config: configOf(place, id),
  checkpoint: parts.checkpoint,
  metadata: parts.metadata as CheckpointMetadata | undefined,
  parentConfig: parent ? configOf(place, parent) : undefined,
  pendingWrites: parts.pendingWrites,
});

/** Before version 4 of the format, `Send` tasks were not a channel but writes of the parent checkpoint. */
export function addSends(checkpoint: Checkpoint, sends: unknown[]): void {
  const versions = Object.values(checkpoint.channel_versions);
  checkpoint.channel_values[TASKS] = sends;
  checkpoint.channel_versions[TASKS] =
    versions.length > 0 ? versions.reduce((a, b) => maxChannelVersion(a, b)) : 1;
}
