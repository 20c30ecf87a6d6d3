/** Which value it was that a saver could not store. */
import {
  ERROR,
  INTERRUPT,
  TASKS,
  type PendingWrite,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { errorMessage, errorName } from "../support/errors.js";
import { faultIn, UnserializableError } from "../support/unserializable.js";

type Entry = readonly [channel: string, value: unknown];

/** Stands for the metadata among the channels of a checkpoint. */
export const METADATA = "__metadata__";

/** LangGraph's own channels in words, with what their values go by. */
const CHANNELS: Record<string, readonly [subject: string, name: string]> = {
  [INTERRUPT]: ["what interrupt() asks", "interrupt"],
  [TASKS]: ["the input of a Send", "send"],
  __start__: ["the input", "input"],
  __input__: ["the input", "input"],
  __return__: ["what a task returned", "result"],
  __end__: ["what the graph returned", "result"],
  __previous__: ["what the graph saved", "previous"],
  [METADATA]: ["the metadata of the checkpoint", "metadata"],
};

const inWords = (channel: string): readonly [string, string] =>
  CHANNELS[channel] ?? [`state key ${JSON.stringify(channel)}`, channel];

/** @throws UnserializableError for a function or a symbol, of which nothing would be stored */
export function assertData(entries: Iterable<Entry>): void {
  for (const [channel, value] of entries) {
    if (typeof value !== "function" && typeof value !== "symbol") continue;
    const [subject, name] = inWords(channel);
    throw new UnserializableError(
      `${subject} cannot be stored`,
      faultIn(value, { name }) ?? { path: name, what: "is no data" },
    );
  }
}

/** The error that names the value which `serde` refuses; any other error as it is. */
export async function namedRefusal(
  error: unknown,
  serde: SerializerProtocol,
  entries: Iterable<Entry>,
): Promise<unknown> {
  if (!(error instanceof UnserializableError)) return error;
  for (const [channel, value] of entries) {
    const refusal = await refusalOf(serde, value);
    if (!refusal) continue;
    const [subject, name] = inWords(channel);
    const { path, what } = refusal.fault;
    // What is asked is the value of an interrupt, which stands alone or in a list of them.
    const inside = path.replace(channel === INTERRUPT ? /^value(\[\d+\])?(\.value)?/ : /^value/, "");
    return new UnserializableError(
      `${subject} cannot be stored`,
      { path: name + inside, what },
      refusal.cause,
    );
  }
  return error;
}

async function refusalOf(
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

/** The writes, with what a task threw in bounded words: LangGraph takes its name and message as they are. */
export function wordedWrites(writes: PendingWrite[]): PendingWrite[] {
  if (writes.every(([channel]) => channel !== ERROR)) return writes;
  return writes.map(([channel, value]): PendingWrite => [channel, channel === ERROR ? worded(value) : value]);
}

function worded(thrown: unknown): unknown {
  if (typeof thrown !== "object" || thrown === null) return thrown;
  const { name, message } = thrown as { name?: unknown; message?: unknown };
  return {
    message: message === undefined ? message : errorMessage({ message }),
    name: typeof name === "string" ? name.slice(0, 200) : errorName(thrown),
  };
}
