/** Parses JSON from clients: request bodies and WebSocket messages. */
import { isUtf8 } from "node:buffer";
import { InvalidRequestError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";
import { exceededLimit } from "./json-scan.js";

/** Maximum nesting of objects and lists. */
export const MAX_DEPTH = 200;
/** Maximum number of values in one body: objects, lists, and their contents. */
export const MAX_VALUES = 500_000;

const NUL = "\0";
/** Possibly the escape of half a surrogate pair. Clients that send only ASCII escape whole pairs. */
const LONE_SURROGATE =
  /\\\\u[dD]|\\u[dD](?:[89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2}\\u[dD])[c-fC-F])/;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * Parses JSON text in UTF-8; `{}` for empty text.
 * @throws InvalidRequestError for invalid JSON or UTF-8, excessive depth, too many values, a NUL
 *   character or a lone surrogate
 */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalidBody("body is not valid UTF-8", "utf8_invalid");
  // A shorter text cannot be too deep.
  if (bytes.length > 2 * MAX_DEPTH) assertBounded(bytes);
  let text = bytes.toString("utf8");
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) text = text.slice(1);
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalidBody(`body is not valid JSON: ${errorMessage(error).slice(0, 200)}`, "json_invalid", error);
  }
  // In JSON text in UTF-8, a NUL or a lone surrogate can only be an escape.
  if (text.includes("\\u0000") || LONE_SURROGATE.test(text)) assertPlain(value, true);
  return value;
}

/** @throws InvalidRequestError */
function assertBounded(bytes: Buffer): void {
  const exceeded = exceededLimit(bytes, { depth: MAX_DEPTH, values: MAX_VALUES });
  if (exceeded === "depth") throw tooDeep();
  if (exceeded === "values")
    throw invalidBody(`body contains more than ${MAX_VALUES.toLocaleString("en")} values`, "too_many_values");
}

/**
 * Checks a value level by level: no deeper than MAX_DEPTH, and no NUL or lone surrogate in a string or key,
 * because databases reject or replace them.
 */
export function assertPlain(root: unknown, checkText: boolean): void {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    const inner: unknown[] = [];
    for (const value of level) {
      if (typeof value === "string") assertText(value, checkText);
      else if (Array.isArray(value)) for (const item of value) pushChild(inner, item, checkText);
      else if (typeof value === "object" && value !== null) {
        for (const [key, item] of Object.entries(value)) {
          assertText(key, checkText);
          pushChild(inner, item, checkText);
        }
      }
    }
    if (depth === MAX_DEPTH && level.some((value) => typeof value === "object" && value !== null)) {
      throw tooDeep();
    }
    level = inner;
  }
}

function pushChild(children: unknown[], value: unknown, checkText: boolean): void {
  if (typeof value === "object" ? value !== null : checkText && typeof value === "string")
    children.push(value);
}

function assertText(text: string, checkText: boolean): void {
  if (!checkText) return;
  if (text.includes(NUL)) throw invalidBody("a NUL character (U+0000) is not allowed", "nul_character");
  if (/\p{Surrogate}/u.test(text))
    throw invalidBody(
      "half a surrogate pair is not allowed: a character such as an emoji was cut in two",
      "lone_surrogate",
    );
}

const tooDeep = () => invalidBody(`body is nested deeper than ${MAX_DEPTH} levels`, "too_deep");

export const invalidBody = (message: string, type: string, cause?: unknown): InvalidRequestError =>
  new InvalidRequestError(message, [{ loc: ["body"], msg: message, type }], { cause });
