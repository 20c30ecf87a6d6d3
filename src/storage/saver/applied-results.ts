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
import { isStateChannel } from "../../models/channels.js";
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
    isStateChannel(channel) &&
    Object.hasOwn(channel_values, channel) &&
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
