/** Graph values -> client values: the only serializer, used by every endpoint, stream mode and command. */
import { errorMessage, errorName } from "../support/errors/thrown.js";
import { isRecord, type JsonObject, type SplitJson, withoutNul } from "../models/json.js";
import { maskSecrets } from "../support/secrets.js";
import {
  reasonOf,
  findUnserializable,
  MAX_SERIALIZABLE_DEPTH,
  UnserializableError,
} from "../support/unserializable.js";

interface Walk {
  /** The objects that contain the value, outermost first. */
  readonly ancestors: unknown[];
  /** Whether to throw for a value that cannot be converted; otherwise a placeholder string replaces it. */
  readonly strict: boolean;
}

/** Symbol that marks LangChain messages, the same in all copies of the library. */
const MESSAGE = Symbol.for("langchain.message");

/** Optional fields of a message; omitted if undefined. */
const OPTIONAL_MESSAGE_FIELDS = [
  "id",
  "name",
  "tool_calls",
  "invalid_tool_calls",
  "tool_call_chunks",
  "usage_metadata",
  "tool_call_id",
  "status",
  "artifact",
  "metadata",
  "role",
] as const;

export const MESSAGE_TYPES = new Set([
  "human",
  "ai",
  "system",
  "tool",
  "function",
  "developer",
  "remove",
  "generic",
]);

export type MessageLike = JsonObject & { type: string; toDict(): { type: string; data: JsonObject } };

/** True for a LangChain message object of any copy of the library. */
export function isMessage(value: unknown): value is MessageLike {
  return typeof value === "object" && value !== null && MESSAGE in value && value[MESSAGE as never] === true;
}

/**
 * The flat form that clients expect: the fields of the message and its `type`. Known types are converted by hand, because
 * the library's own conversion accounts for most of the cost of a streamed token.
 */
function messageToWire(message: MessageLike, walk: Walk): JsonObject {
  const type = message.type;
  if (!MESSAGE_TYPES.has(type)) return dictToWire(message, walk);
  const wire: JsonObject = {
    content: convert(message.content, walk),
    additional_kwargs: convert(message.additional_kwargs, walk),
    response_metadata: convert(message.response_metadata, walk),
  };
  for (const field of OPTIONAL_MESSAGE_FIELDS) {
    const value = message[field];
    if (value !== undefined) wire[field] = convert(value, walk);
  }
  wire.type = type;
  return wire;
}

function dictToWire(value: { toDict(): { type: string; data: JsonObject } }, walk: Walk): JsonObject {
  const { type, data } = value.toDict();
  const fields = convert(data, walk);
  return { ...(isRecord(fields) && fields), type: convert(type, walk) };
}

/** Convert a class instance. */
function instanceToWire(value: object, walk: Walk): unknown {
  if (isMessage(value)) return messageToWire(value, walk);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Error) return { error: errorName(value), message: errorMessage(value) };
  if (value instanceof Map) return mapToWire(value, walk);
  if (value instanceof Set) return convert([...value], walk);
  if (ArrayBuffer.isView(value)) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  }
  if (value instanceof RegExp || value instanceof URL || value instanceof BigInt) return String(value);
  const { toDict, toJSON } = value as { toDict?: unknown; toJSON?: unknown };
  if (typeof toDict === "function") return dictToWire(value as MessageLike, walk);
  if (typeof toJSON === "function") return bodyToWire((value as { toJSON(): unknown }).toJSON(), walk);
  return recordToWire(value as JsonObject, walk);
}

/** Convert the result of toJSON. As in JSON.stringify, a toJSON of the result is not called, now or by a later serializer. */
function bodyToWire(body: unknown, walk: Walk): unknown {
  if (!isRecord(body) || typeof body.toJSON !== "function") return convert(body, walk);
  const fields = Object.entries(body).filter(([, value]) => typeof value !== "function");
  return recordToWire(Object.fromEntries(fields), walk);
}

function mapToWire(map: Map<unknown, unknown>, walk: Walk): unknown {
  return convert(Object.fromEntries([...map].map(([key, value]) => [String(key), value])), walk);
}

/** Copies only if something inside changes: most state is already JSON. */
function recordToWire(record: JsonObject, walk: Walk): unknown {
  let copy: JsonObject | undefined;
  for (const key of Object.keys(record)) {
    const value = record[key];
    const converted = convert(value, walk);
    if (converted === value) continue;
    copy ??= { ...record };
    copy[key] = converted;
  }
  return copy ?? record;
}

function listToWire(list: unknown[], walk: Walk): unknown {
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const value = list[index];
    const converted = convert(value, walk);
    if (converted === value) continue;
    copy ??= [...list];
    copy[index] = converted;
  }
  return copy ?? list;
}

function convert(value: unknown, walk: Walk): unknown {
  if (typeof value !== "object" || value === null) return typeof value === "bigint" ? String(value) : value;
  const { ancestors } = walk;
  if (ancestors.includes(value)) return "[circular]";
  ancestors.push(value);
  try {
    if (ancestors.length > MAX_SERIALIZABLE_DEPTH)
      throw new Error(`nested more than ${MAX_SERIALIZABLE_DEPTH} deep`);
    if (Array.isArray(value)) return listToWire(value, walk);
    const prototype: unknown = Object.getPrototypeOf(value);
    const isPlain = prototype === Object.prototype || prototype === null;
    const record = value as JsonObject;
    return isPlain && typeof record.toJSON !== "function"
      ? recordToWire(record, walk)
      : instanceToWire(value, walk);
  } catch (error) {
    if (walk.strict) throw error;
    return `[unreadable: ${errorMessage(error)}]`;
  } finally {
    ancestors.pop();
  }
}

/**
 * Convert a value for clients: messages are flat, errors are `{error, message}`, dates are ISO strings, bytes are base64,
 * cycles are cut. Unreadable values become a placeholder string. Returns the value itself if it is already JSON;
 * never mutates it.
 */
export function toWire(value: unknown): unknown {
  return convert(value, { ancestors: [], strict: false });
}

/**
 * Like `toWire`, for the values of a run, where an unreadable value fails the run.
 * @throws UnserializableError (`invalid_request`)
 */
export function valuesToWire(values: unknown): unknown {
  try {
    return convert(values, { ancestors: [], strict: true });
  } catch (error) {
    throw unsendable(error, values, "values");
  }
}

/**
 * Serialize output of a run for clients, on one line; `null` for values without a JSON form.
 * @throws UnserializableError (`invalid_request`)
 */
export function toJson(value: unknown, name = "value"): string {
  try {
    return JSON.stringify(convert(value, { ancestors: [], strict: true })) ?? "null";
  } catch (error) {
    throw unsendable(error, value, name);
  }
}

/** The error that names the part of `value` that cannot be sent. `error` is the original error. */
export function unsendable(error: unknown, value: unknown, name: string): UnserializableError {
  if (error instanceof UnserializableError) return error;
  const fault = findUnserializable(value, { name, bigints: true });
  const unknown = { path: name, what: `cannot be read: ${reasonOf(error)}` };
  return new UnserializableError("the output of the run cannot be sent", fault ?? unknown, error);
}

/** Metadata for clients, with secrets masked. */
export const metadataToWire = (metadata: unknown): unknown => maskSecrets(toWire(metadata));

/** How the pairs with one metadata object end. */
interface PairEnd {
  /** After the message. */
  metadata: string;
  /** The end of the last message, from its first field after the content: most chunks of a message have the same. */
  ofMessage: string;
  /** After the content of such a message; undefined until a second message ends so. */
  whole: string | undefined;
}

/** By metadata: all chunks of a streamed message share one metadata object. */
const ends = new WeakMap<object, PairEnd>();

const AFTER_CONTENT = ',"additional_kwargs":';

/** Serialize a `[message, metadata]` pair of the messages stream. */
export function messageTupleJson(message: unknown, metadata: unknown): SplitJson | string {
  if (typeof metadata !== "object" || metadata === null) return toJson([message, metadata], "messages");
  let end = ends.get(metadata);
  if (!end) {
    const json = toJson(metadataToWire(metadata), "messages");
    ends.set(metadata, (end = { metadata: withoutNul(`,${json}]`), ofMessage: "", whole: undefined }));
  }
  const text = toJson(message, "messages");
  const { ofMessage } = end;
  if (ofMessage !== "" && text.endsWith(ofMessage)) {
    end.whole ??= withoutNul(ofMessage) + end.metadata;
    return { head: `[${text.slice(0, -ofMessage.length)}`, tail: end.whole };
  }
  // The whole end is made for a second such message only: chunks of tool calls all end differently.
  const start = text.indexOf(AFTER_CONTENT);
  Object.assign(end, { ofMessage: start < 0 ? "" : text.slice(start), whole: undefined });
  return { head: `[${text}`, tail: end.metadata };
}
