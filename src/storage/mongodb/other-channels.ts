/**
 * Values of channels that a graph does not know, because they belong to another graph or version on the same thread.
 * LangGraph's checkpoint has their versions only. The other savers store each value once and refer to it; here a
 * checkpoint is one document, so these values are copied from its parent.
 */
import type { BaseCheckpointSaver, ChannelVersions, Checkpoint } from "@langchain/langgraph-checkpoint";
import type { Binary, Collection } from "mongodb";

interface StoredCheckpoint {
  type: string;
  checkpoint: Binary;
  /** Channels that have a value; missing in documents of the official saver and of 0.1.0. */
  channels?: string[];
}

type CheckpointDocumentKey = Record<"thread_id" | "checkpoint_ns" | "checkpoint_id", string>;

type Saver = Pick<BaseCheckpointSaver, "serde">;

/** Checkpoints whose channels are remembered, so that only the first superstep of a run reads its parent. */
const REMEMBERED = 1_000;

export class OtherChannels {
  readonly #checkpoints: Collection<StoredCheckpoint>;
  readonly #saver: Saver;
  /** Channels that have a value, by checkpoint. */
  readonly #remembered = new Map<string, readonly string[]>();

  constructor(checkpoints: Collection, saver: Saver) {
    this.#checkpoints = checkpoints as unknown as Collection<StoredCheckpoint>;
    this.#saver = saver;
  }

  /** The checkpoint with the values that it shares with its parent. */
  async added(
    checkpoint: Checkpoint,
    newVersions: ChannelVersions,
    parent: CheckpointDocumentKey,
  ): Promise<Checkpoint> {
    const { channel_values, channel_versions } = checkpoint;
    // Most are channels of this graph without a value, such as those that trigger a node.
    const valueless = Object.keys(channel_versions).filter(
      (channel) => !Object.hasOwn(channel_values, channel) && !Object.hasOwn(newVersions, channel),
    );
    if (valueless.length === 0) return checkpoint;
    const valued = await this.#channelsOf(parent);
    if (valued && !valueless.some((channel) => valued.includes(channel))) return checkpoint;
    const stored = await this.#checkpoints.findOne(parent);
    if (!stored) return checkpoint;
    const before = (await this.#saver.serde.loadsTyped(
      stored.type,
      stored.checkpoint.toString("utf8"),
    )) as Checkpoint;
    const others = valueless.filter(
      (channel) =>
        Object.hasOwn(before.channel_values, channel) &&
        before.channel_versions[channel] === channel_versions[channel],
    );
    const values = { ...channel_values };
    for (const channel of others) values[channel] = before.channel_values[channel];
    return { ...checkpoint, channel_values: values };
  }

  /** Remembers a stored checkpoint. */
  remember(key: CheckpointDocumentKey, channels: readonly string[]): void {
    this.#remembered.set(nameOf(key), channels);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > REMEMBERED && oldest !== undefined) this.#remembered.delete(oldest);
  }

  async #channelsOf(key: CheckpointDocumentKey): Promise<readonly string[] | undefined> {
    const remembered = this.#remembered.get(nameOf(key));
    if (remembered) return remembered;
    const found = await this.#checkpoints.findOne(key, { projection: { channels: 1 } });
    return found ? found.channels : [];
  }
}

/** Copies of a thread have the same checkpoint ids. */
const nameOf = ({ thread_id, checkpoint_ns, checkpoint_id }: CheckpointDocumentKey): string =>
  [thread_id, checkpoint_id, checkpoint_ns].join("/");
