/** What a reader needs of a checkpoint, passed to the saver inside the config. */
import type { RunnableConfig } from "@langchain/core/runnables";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { isStateChannel } from "../../models/channels.js";
import { isSpecial } from "./writes.js";

/** Which values a reader of checkpoints needs; a saver may return more. */
export interface NeededChannels {
  /** LangGraph's own channels, which determine the next tasks. */
  own: boolean;
  /** Writes of the tasks after a checkpoint. Interrupts and errors are always included. */
  results: boolean;
  /** State keys. */
  keys: readonly string[];
}

export const NO_CHANNELS: NeededChannels = { own: false, results: false, keys: [] };
export const ONLY_RESULTS: NeededChannels = { ...NO_CHANNELS, results: true };

/** Read options, passed to the saver through LangGraph inside the config. */
export interface Reading {
  channels?: NeededChannels;
  /** Called with each checkpoint as it is stored, before LangGraph builds a state from it. */
  onRead?: (tuple: CheckpointTuple) => void;
}

const READING = "__graph_serve_reading";

export const withReading = (configurable: Record<string, unknown>, reading: Reading) => ({
  ...configurable,
  [READING]: reading,
});

export const readingOf = ({ configurable }: RunnableConfig): Reading =>
  (configurable?.[READING] as Reading | undefined) ?? {};

export function isNeeded(channel: string, needed: NeededChannels | undefined): boolean {
  if (!needed) return true;
  return needed.keys.includes(channel) || (needed.own && !isStateChannel(channel));
}

/** LangGraph's task id for writes without a task: those of a command, which are part of the state. */
const NO_TASK = "00000000-0000-0000-0000-000000000000";

export const isWriteNeeded = (taskId: string, channel: string, needed: NeededChannels | undefined): boolean =>
  !needed || needed.results || isSpecial(channel) || taskId === NO_TASK;

/** LangGraph applies a command's update to the channels. Channels that were not read are empty and may reject it. */
export const withoutUpdates = (tuple: CheckpointTuple, read: NeededChannels): CheckpointTuple => ({
  ...tuple,
  pendingWrites: tuple.pendingWrites?.filter(
    ([taskId, channel]) => taskId !== NO_TASK || isNeeded(channel, read),
  ),
});
