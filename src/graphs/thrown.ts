/** What a graph threw, as clients may see it: LangGraph puts the state itself into some of its messages. */
import { errorMessage } from "../support/errors.js";
import { isRecord } from "../models/common.js";

/** Where two nodes write one key, and where a node sends no `Send`; the values run to the last of their brackets. */
const WITH_STATE: readonly [RegExp, string][] = [
  [/(Invalid update for channel "[^"]*") with values \[[^]*\](?=: )/, "$1"],
  [/(Invalid packet type, expected SendProtocol), got [^]*/, "$1"],
];

export const thrownMessage = (thrown: unknown): string => plain(errorMessage(thrown));

/** A stored error, `{name, message}` or a text, without the state in its message. */
export function withoutStateValues(error: unknown): unknown {
  if (typeof error === "string") return plain(error);
  if (!isRecord(error) || typeof error.message !== "string") return error;
  return { ...error, name: error.name, message: plain(error.message) };
}

const plain = (message: string): string =>
  WITH_STATE.reduce((text, [pattern, shown]) => text.replace(pattern, shown), message);
