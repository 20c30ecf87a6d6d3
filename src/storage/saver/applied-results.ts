/**
 * `updateState` of LangGraph applies the results of tasks that finished beside an interrupted one, but names no new
 * versions of their channels. Savers that store each version of a value once would keep the value before these results.
 */
import { isDeepStrictEqual } from "node:util";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  maxChannelVersion,
  type BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
} from "@langchain/langgraph-checkpoint";
import { isStateChannel, JOIN } from "../../models/channels.js";
import { ONLY_RESULTS, withReading, type NeededChannels } from "./reading.js";

export interface Edit {
  checkpoint: Checkpoint;
  newVersions: ChannelVersions;
}

/** The edit, with new versions of the channels that results of the edited checkpoint's tasks were applied to. */
export async function withAppliedResults(
  saver: BaseCheckpointSaver,
  { configurable = {} }: RunnableConfig,
  edit: Edit,
): Promise<Edit> {
  if (configurable.checkpoint_id === undefined) return edit;
  const before = (channels: NeededChannels) =>
    saver.getTuple({ configurable: withReading(configurable, { channels }) });
  const { channel_values, channel_versions } = edit.checkpoint;
  const written = ((await before(ONLY_RESULTS))?.pendingWrites ?? []).flatMap(([, channel]) =>
    Object.hasOwn(channel_values, channel) &&
    isApplied(channel, channel_values[channel]) &&
    !Object.hasOwn(edit.newVersions, channel)
      ? [channel]
      : [],
  );
  if (written.length === 0) return edit;
  // An edit of an earlier checkpoint leaves its results out.
  const values = (await before({ ...ONLY_RESULTS, keys: written }))?.checkpoint.channel_values ?? {};
  const applied = written.filter((channel) => !isDeepStrictEqual(values[channel], channel_values[channel]));
  if (applied.length === 0) return edit;
  const version = saver.getNextVersion(maxChannelVersion(...Object.values(channel_versions)) as number);
  const versions = Object.fromEntries(applied.map((channel) => [channel, version]));
  return {
    checkpoint: { ...edit.checkpoint, channel_versions: { ...channel_versions, ...versions } },
    newVersions: { ...edit.newVersions, ...versions },
  };
}

/**
 * Whether an edit keeps what finished tasks wrote to the channel: state, and which nodes a join has seen. As on other
 * storages, it starts no node: triggers, and joins that have seen all their nodes, stay as they were.
 */
function isApplied(channel: string, value: unknown): boolean {
  if (!channel.startsWith(JOIN)) return isStateChannel(channel);
  if (!Array.isArray(value)) return false;
  const names = channel.slice(JOIN.length, channel.lastIndexOf(":")).split("+");
  // The join of a deferred node also stores whether the graph has finished.
  const seen: unknown[] = Array.isArray(value[0]) ? value[0] : value;
  return seen.length < names.length;
}
