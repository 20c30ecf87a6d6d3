/** What the savers of this package have in common, whatever they keep checkpoints in. */
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  maxChannelVersion,
  type PendingWrite,
  TASKS,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";

export interface Place {
  thread_id: string;
  /** Empty for the root graph. */
  checkpoint_ns: string;
}

export interface CheckpointPlace extends Place {
  checkpoint_id: string | undefined;
}

/**
 * Where a config points, and the checkpoint that it names. Texts only: a database might read anything else that a client
 * put there as an operator.
 * @throws Error when it names no thread
 */
export function placeOf({ configurable = {} }: RunnableConfig): CheckpointPlace {
  const { thread_id, checkpoint_ns, checkpoint_id } = configurable as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
  const thread = text(thread_id);
  if (thread === undefined) throw new Error("configurable.thread_id is needed to reach a checkpoint");
  return { thread_id: thread, checkpoint_ns: text(checkpoint_ns) ?? "", checkpoint_id: text(checkpoint_id) };
}

/**
 * The checkpoint that a config names.
 * @throws Error when it names none
 */
export function checkpointOf(config: RunnableConfig): Place & { checkpoint_id: string } {
  const { checkpoint_id, ...place } = placeOf(config);
  if (checkpoint_id === undefined) throw new Error("configurable.checkpoint_id is needed to store writes");
  return { ...place, checkpoint_id };
}

/** The config that names the checkpoint of this id. */
export const configOf = ({ thread_id, checkpoint_ns }: Place, checkpoint_id: string) => ({
  configurable: { thread_id, checkpoint_ns, checkpoint_id },
});

type PendingWrites = NonNullable<CheckpointTuple["pendingWrites"]>;

interface TupleParts {
  id: string;
  /** Id of its parent; empty or null for none. */
  parent: string | null;
  checkpoint: Checkpoint;
  metadata: unknown;
  pendingWrites: PendingWrites;
}

/** A checkpoint as LangGraph has it. */
export const tupleOf = (place: Place, { id, parent, ...parts }: TupleParts): CheckpointTuple => ({
  config: configOf(place, id),
  checkpoint: parts.checkpoint,
  metadata: parts.metadata as CheckpointMetadata | undefined,
  parentConfig: parent ? configOf(place, parent) : undefined,
  pendingWrites: parts.pendingWrites,
});

/** Whether writes to this channel have a number of their own, such as an interrupt or an error of the task. */
export const isSpecial = (channel: string): boolean => Object.hasOwn(WRITES_IDX_MAP, channel);

/** A write with its number, which is its key in its task; those of special channels are below 0. */
interface NumberedWrite {
  idx: number;
  channel: string;
  value: unknown;
}

interface NumberedWrites {
  /** One a number. */
  writes: NumberedWrite[];
  /**
   * Whether they take the place of what is stored under their numbers. Ordinary writes do not: what is there was made by
   * an earlier attempt of the same task, and stays.
   */
  replace: boolean;
}

/** The writes of one call, numbered. */
export function numbered(writes: readonly PendingWrite[]): NumberedWrites {
  const replace = writes.every(([channel]) => isSpecial(channel));
  const byNumber = new Map<number, NumberedWrite>();
  for (const [index, [channel, value]] of writes.entries()) {
    const idx = isSpecial(channel) ? (WRITES_IDX_MAP[channel] as number) : index;
    if (replace || !byNumber.has(idx)) byNumber.set(idx, { idx, channel, value });
  }
  return { writes: [...byNumber.values()], replace };
}

/** Before version 4 of the format, tasks to send were not a channel: they are writes of the checkpoint before. */
export function addSends(checkpoint: Checkpoint, sends: unknown[]): void {
  const versions = Object.values(checkpoint.channel_versions);
  checkpoint.channel_values[TASKS] = sends;
  checkpoint.channel_versions[TASKS] =
    versions.length > 0 ? versions.reduce((a, b) => maxChannelVersion(a, b)) : 1;
}
