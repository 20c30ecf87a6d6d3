/** Parses JSON from clients: request bodies and WebSocket messages. */
import { isUtf8 } from "node:buffer";
import { errorMessage, InvalidRequestError } from "../../support/errors.js";

/** Maximum nesting of objects and lists. */
export const MAX_DEPTH = 200;
/** Maximum number of values in one body: objects, lists, and their contents. */
export const MAX_VALUES = 500_000;

const NUL = "\0";
const BYTE_ORDER_MARK = 0xfeff;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** Depth change per byte: +1 opens an object or a list, -1 closes one. */
const STEPS = new Int8Array(256);
for (const opening of "{[") STEPS[opening.charCodeAt(0)] = 1;
for (const closing of "}]") STEPS[closing.charCodeAt(0)] = -1;

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

/** Checks limits in one pass over the bytes before parsing: a small body can contain millions of values. */
function assertBounded(bytes: Buffer): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (byte === COMMA) values += 1;
    else {
      const step = STEPS[byte] as number;
      if (step === 0) continue;
      depth += step;
      if (step > 0) values += 1;
      if (depth > MAX_DEPTH) throw tooDeep();
    }
    if (values > MAX_VALUES) {
      throw invalidBody(
        `body contains more than ${MAX_VALUES.toLocaleString("en")} values`,
        "too_many_values",
      );
    }
  }
}

function endOfString(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return bytes.length;
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
