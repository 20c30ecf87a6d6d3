/** Error messages of graphs as clients may see them: LangGraph puts state values into some of its messages. */
import { errorMessage } from "../support/errors/thrown.js";
import { isRecord } from "../models/common.js";

/** Errors for two nodes that write one key, and for a packet that is not a `Send`. The values may contain brackets. */
const WITH_STATE: readonly [RegExp, string][] = [
  [/(Invalid update for channel "[^"]*") with values \[[^]*\](?=: )/, "$1"],
  [/(Invalid packet type, expected SendProtocol), got [^]*/, "$1"],
];

export const thrownMessage = (thrown: unknown): string => plain(errorMessage(thrown));

/** A stored error, `{name, message}` or a string, without the state values in its message. */
export function withoutStateValues(error: unknown): unknown {
  if (typeof error === "string") return plain(error);
  if (!isRecord(error) || typeof error.message !== "string") return error;
  return { ...error, name: error.name, message: plain(error.message) };
}

const plain = (message: string): string =>
  WITH_STATE.reduce((text, [pattern, shown]) => text.replace(pattern, shown), message);
