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
const BYTE_ORDER_MARK = 0xfeff;

/**
 * Parses JSON text in UTF-8; `{}` for empty text.
 * @throws InvalidRequestError for invalid JSON or UTF-8, excessive depth, too many values, or a NUL
 *   character
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
  // In JSON text a NUL can only be an escape.
  if (text.includes("\\u0000")) assertPlain(value, true);
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
 * Checks a value level by level: no deeper than MAX_DEPTH, and no NUL in a string or key, because
 * databases reject it.
 */
export function assertPlain(root: unknown, checkNul: boolean): void {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    const inner: unknown[] = [];
    for (const value of level) {
      if (typeof value === "string") assertNoNul(value, checkNul);
      else if (Array.isArray(value)) for (const item of value) pushChild(inner, item, checkNul);
      else if (typeof value === "object" && value !== null) {
        for (const [key, item] of Object.entries(value)) {
          assertNoNul(key, checkNul);
          pushChild(inner, item, checkNul);
        }
      }
    }
    if (depth === MAX_DEPTH && level.some((value) => typeof value === "object" && value !== null)) {
      throw tooDeep();
    }
    level = inner;
  }
}

function pushChild(children: unknown[], value: unknown, checkNul: boolean): void {
  if (typeof value === "object" ? value !== null : checkNul && typeof value === "string")
    children.push(value);
}

function assertNoNul(text: string, checkNul: boolean): void {
  if (checkNul && text.includes(NUL))
    throw invalidBody("a NUL character (U+0000) is not allowed", "nul_character");
}

const tooDeep = () => invalidBody(`body is nested deeper than ${MAX_DEPTH} levels`, "too_deep");

export const invalidBody = (message: string, type: string, cause?: unknown): InvalidRequestError =>
  new InvalidRequestError(message, [{ loc: ["body"], msg: message, type }], { cause });
