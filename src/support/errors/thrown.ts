/** Reads thrown values, which can be anything. */

/**
 * Maximum length of a thrown value's message in rows, frames and logs, in characters.
 * @example
 * ```ts
 * import { errorMessage, LONGEST_MESSAGE } from "graph-serve";
 *
 * errorMessage("x".repeat(LONGEST_MESSAGE)).length; // => LONGEST_MESSAGE
 * ```
 */
export const LONGEST_MESSAGE = 10_000;
const LONGEST_NAME = 200;
/** Maximum number of causes that are read; a chain can be cyclic. */
const MOST_CAUSES = 10;

/**
 * Message of any thrown value. Never throws, even if the value throws when inspected.
 * @param error any value
 * @returns the message, truncated to LONGEST_MESSAGE characters and never empty
 * @example
 * ```ts
 * import { errorMessage } from "graph-serve";
 *
 * errorMessage(new RangeError("too large")); // => "too large"
 * errorMessage({ secret: 1 }); // => "an object without a message was thrown, with the keys secret"
 * ```
 */
export function errorMessage(error: unknown): string {
  const text =
    tryOr(() => messageOf(error)) || tryOr(() => nameOf(error)) || "something without a message was thrown";
  const more = text.length - LONGEST_MESSAGE;
  return more > 0 ? `${text.slice(0, LONGEST_MESSAGE)}... (${more} more characters)` : text;
}

/**
 * The error's name as clients see it. Never throws.
 * @param error any value
 * @returns the name, such as `RangeError`, truncated to 200 characters; `Error` for a value that is not an error
 * @example
 * ```ts
 * import { errorName } from "graph-serve";
 *
 * errorName(new RangeError("too large")); // => "RangeError"
 * errorName("boom"); // => "Error"
 * ```
 */
export function errorName(error: unknown): string {
  return (tryOr(() => nameOf(error)) || "Error").slice(0, LONGEST_NAME);
}

/**
 * The error followed by its causes. Never throws.
 * @param error any value
 * @returns at most 10 values, the error first, each once
 * @example
 * ```ts
 * import { causesOf, errorMessage } from "graph-serve";
 *
 * const error = new Error("query failed", { cause: new Error("connection refused") });
 * causesOf(error).map(errorMessage); // => ["query failed", "connection refused"]
 * ```
 */
export function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  const causeOf = (effect: unknown) => tryOr(() => (effect as { cause?: unknown }).cause);
  for (let next = error; next != null && !chain.includes(next); next = causeOf(next)) {
    if (chain.length === MOST_CAUSES) break;
    chain.push(next);
  }
  return chain;
}

/**
 * Reads a value that may throw, as getters of graph values can.
 * @param read called once
 * @returns the result of `read`; undefined if it throws
 * @example
 * ```ts
 * import { tryOr } from "graph-serve";
 *
 * tryOr(() => JSON.parse("{") as object); // => undefined
 * ```
 */
export function tryOr<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function messageOf(thrown: unknown): string {
  if (typeof thrown === "function") return "a function was thrown";
  if (typeof thrown !== "object" || thrown === null) return String(thrown);
  const { message } = thrown as { message?: unknown };
  if (typeof message === "string" && message !== "") return message;
  const text = tryOr(() => ownText(message)) || tryOr(() => ownText(thrown));
  if (text || thrown instanceof Error) return text ?? "";
  // LangGraph adds this key to errors it catches.
  const keys = Object.keys(thrown).filter((key) => key !== "pregelTaskId");
  return `an object without a message was thrown, with ${keys.length > 0 ? `the keys ${keys.join(", ")}` : "no keys"}`;
}

const textOf: (value: unknown) => string = String;

/** Custom string form of a value; empty if an object only has the default one. */
function ownText(value: unknown): string {
  const text = value === undefined || value instanceof Error ? "" : textOf(value);
  return text.startsWith("[object ") ? "" : text;
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { name } = error as { name: unknown };
  return typeof name === "string" && name !== "" ? name : String(error.constructor.name);
}

/**
 * Joins the lines of a message with colons.
 * @param text one or more lines
 * @returns the text without line breaks
 * @example
 * ```ts
 * import { oneLine } from "graph-serve";
 *
 * oneLine("cannot load agent.ts\n  unexpected token"); // => "cannot load agent.ts: unexpected token"
 * ```
 */
export const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ": ");
