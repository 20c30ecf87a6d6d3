/**
 * Refuses a command whose update the graph's state rejects. LangGraph stores an update before it applies it: each later
 * read of the thread, and each later run, would fail on it.
 */
import type { Command } from "@langchain/langgraph";
import type { OpsContext } from "../context/context.js";
import { isRecord, type JsonObject } from "../models/common.js";
import { errorMessage } from "../support/errors/thrown.js";
import type { CheckedRequest } from "./run-request.js";

/** The parts of LangGraph's channels that are used: a channel applies values to the state of one key. */
interface Channel {
  lc_graph_name: string;
  fromCheckpoint(stored: unknown): Channel;
  update(values: readonly unknown[]): boolean;
}

/**
 * The error that the graph throws when it applies the update of a command to the state that a run starts from; undefined
 * if it accepts the update, or if that can only be found out by executing it.
 */
export async function updateRefusal(
  { storage }: OpsContext,
  { bound: { graph }, configurable }: Pick<CheckedRequest, "bound" | "configurable">,
  { update }: Command<unknown, JsonObject>,
): Promise<Error | undefined> {
  const { thread_id, checkpoint_ns = "", checkpoint_id } = configurable;
  if (!update || !graph.channels || checkpoint_ns !== "") return undefined;
  const tuple = await storage.checkpointer.getTuple({
    configurable: { thread_id, checkpoint_ns, ...(checkpoint_id !== undefined && { checkpoint_id }) },
  });
  for (const [key, values] of valuesByKey(update)) {
    const channel = graph.channels[key];
    if (!isChannel(channel)) continue;
    try {
      channel.fromCheckpoint(tuple?.checkpoint.channel_values[key]).update(values);
    } catch (error) {
      return error instanceof Error ? error : new Error(errorMessage(error));
    }
  }
  return undefined;
}

/** The values of a key are applied together. They are copies, since a reducer may change its arguments. */
function valuesByKey(update: NonNullable<Command["update"]>): Map<string, unknown[]> {
  const entries: [string, unknown][] = Array.isArray(update) ? update : Object.entries(update);
  const values = new Map<string, unknown[]>();
  for (const [key, value] of entries) values.set(key, [...(values.get(key) ?? []), copied(value)]);
  return values;
}

/** Instances of classes, such as messages, are not copied. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, copied(entry)]));
}

/** The stored value of a delta channel is not its state. */
const isChannel = (channel: unknown): channel is Channel =>
  isRecord(channel) &&
  typeof channel.fromCheckpoint === "function" &&
  typeof channel.update === "function" &&
  channel.lc_graph_name !== "DeltaChannel";
