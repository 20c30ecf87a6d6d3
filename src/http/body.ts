/** Request bodies: raw bytes, whatever the content type, to a checked JSON value. */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { errorMessage, InvalidRequestError, PayloadTooLargeError } from "../support/errors.js";
import { factsOf } from "./request-facts.js";

export const MAX_DEPTH = 200;

const NUL = "\0";
const BYTE_ORDER_MARK = 0xfeff;
const inflate = promisify(gunzip);

/**
 * The JSON value of a request's body; `{}` when it is empty.
 * @throws InvalidRequestError when it is not JSON, not UTF-8, too deep, or holds a NUL character
 * @throws PayloadTooLargeError when it is larger than `limit` bytes, also once inflated
 */
export async function readJson(req: IncomingMessage & { body?: unknown }, limit: number): Promise<unknown> {
  // Embedded behind a body parser of the host's, the stream has been read already.
  if (req.body !== undefined && req.readableEnded) return readParsed(req.body);
  const bytes = factsOf(req).body ?? (await readBytes(req, limit));
  return parseJson(bytes.length === 0 ? bytes : await decode(bytes, req.headers["content-encoding"], limit));
}

function readParsed(body: unknown): unknown {
  if (Buffer.isBuffer(body)) return parseJson(body);
  if (typeof body === "string") return parseJson(Buffer.from(body));
  assertPlain(body, true);
  return body;
}

/** All bytes of a body. One that is too large is refused at once; the rest of it is read and thrown away. */
function readBytes(req: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (result: Buffer | Error) => {
      req.off("data", onData).off("end", onEnd).off("close", onGone);
      if (Buffer.isBuffer(result)) resolve(result);
      else reject(result);
    };
    const refuse = () => {
      settle(new PayloadTooLargeError(limit));
      req.resume();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) refuse();
      else chunks.push(chunk);
    };
    const onEnd = () => settle(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size));
    const onGone = () => settle(invalid("the request ended before its body was complete", "incomplete"));
    if (Number(req.headers["content-length"]) > limit) return refuse();
    if (req.destroyed) return onGone();
    req.on("data", onData).on("end", onEnd).on("close", onGone);
  });
}

async function decode(bytes: Buffer, encoding: string | undefined, limit: number): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase();
  if (!name || name === "identity") return bytes;
  if (name !== "gzip") {
    throw InvalidRequestError.at(
      ["header", "content-encoding"],
      "only gzip and identity are accepted",
      "encoding",
    );
  }
  try {
    return await inflate(bytes, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
      throw new PayloadTooLargeError(limit);
    throw invalid("body is not valid gzip", "encoding", error);
  }
}

function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalid("body is not valid UTF-8", "utf8_invalid");
  let text = bytes.toString("utf8");
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) text = text.slice(1);
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(`body is not valid JSON: ${errorMessage(error).slice(0, 200)}`, "json_invalid", error);
  }
  // In JSON text a NUL can only be an escape, and depth n takes 2n brackets: most bodies need no walk.
  const mayHoldNul = text.includes("\\u0000");
  if (mayHoldNul || text.length > 2 * MAX_DEPTH) assertPlain(value, mayHoldNul);
  return value;
}

/** Walk a value level by level: no deeper than MAX_DEPTH, no NUL in a string or key (databases refuse those). */
function assertPlain(root: unknown, checkNul: boolean): void {
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
      throw invalid(`body is nested deeper than ${MAX_DEPTH} levels`, "too_deep");
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
    throw invalid("a NUL character (U+0000) is not allowed", "nul_character");
}

const invalid = (message: string, type: string, cause?: unknown) =>
  new InvalidRequestError(message, [{ loc: ["body"], msg: message, type }], { cause });
