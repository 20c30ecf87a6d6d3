/** Errors that name the value which could not be stored. */
import { INTERRUPT, type SerializerProtocol, TASKS } from "@langchain/langgraph-checkpoint";
import { findUnserializable, UnserializableError } from "../../support/unserializable.js";

type Entry = readonly [channel: string, value: unknown];

/** Pseudo channel for the metadata of a checkpoint. */
export const METADATA = "__metadata__";

/** Descriptions of LangGraph's own channels, each with the root of the path to the value. */
const CHANNELS: Record<string, readonly [subject: string, name: string]> = {
  [INTERRUPT]: ["the value of interrupt()", "interrupt"],
  [TASKS]: ["the input of a Send", "send"],
  __start__: ["the input", "input"],
  __input__: ["the input", "input"],
  __return__: ["the result of a task", "result"],
  __end__: ["the result of the graph", "result"],
  __previous__: ["the saved value of the graph", "previous"],
  [METADATA]: ["the metadata of the checkpoint", "metadata"],
};

const describeChannel = (channel: string): readonly [string, string] =>
  CHANNELS[channel] ?? [`state key ${JSON.stringify(channel)}`, channel];

/** @throws UnserializableError for a function or a symbol, which would be stored as nothing (`invalid_request`) */
export function assertData(channels: readonly string[], values: Record<string, unknown>): void {
  for (const channel of channels) {
    const value = values[channel];
    if (typeof value !== "function" && typeof value !== "symbol") continue;
    const [subject, name] = describeChannel(channel);
    throw new UnserializableError(
      `${subject} cannot be stored`,
      findUnserializable(value, { name }) ?? { path: name, what: "cannot be serialized" },
    );
  }
}

/** If `serde` rejects one of the values, an error that names it; otherwise the error unchanged. */
export async function namedError(
  error: unknown,
  serde: SerializerProtocol,
  entries: Iterable<Entry>,
): Promise<unknown> {
  if (!(error instanceof UnserializableError)) return error;
  for (const [channel, value] of entries) {
    const rejection = await rejectionOf(serde, value);
    if (!rejection) continue;
    const [subject, name] = describeChannel(channel);
    const { path, what } = rejection.fault;
    // The path starts with the interrupt, or a list of interrupts, around the value.
    const inside = path.replace(channel === INTERRUPT ? /^value(\[\d+\])?(\.value)?/ : /^value/, "");
    return new UnserializableError(
      `${subject} cannot be stored`,
      { path: name + inside, what },
      rejection.cause,
    );
  }
  return error;
}

async function rejectionOf(
  serde: SerializerProtocol,
  value: unknown,
): Promise<UnserializableError | undefined> {
  try {
    await serde.dumpsTyped(value);
    return undefined;
  } catch (error) {
    return error instanceof UnserializableError ? error : undefined;
  }
}
