/** Graph values -> client values: the one serializer of every endpoint, stream mode and command. */
import { errorMessage, errorName } from "../errors.js";
import type { JsonObject } from "../models/common.js";

/** Own mark of every LangChain message, the same in all copies of the library. */
const MESSAGE = Symbol.for("langchain.message");

/** Fields of a message beyond the three that every message has; absent ones are left out. */
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
  "role",
] as const;

const KNOWN_MESSAGE_TYPES = new Set([
  "human",
  "ai",
  "system",
  "tool",
  "function",
  "developer",
  "remove",
  "generic",
]);

type MessageLike = JsonObject & { type: string; toDict(): { type: string; data: JsonObject } };

/** True for a LangChain message object of any copy of the library. */
export function isMessage(value: unknown): value is MessageLike {
  return typeof value === "object" && value !== null && MESSAGE in value && value[MESSAGE as never] === true;
}

/**
 * The flat form clients know: the message's fields beside `type`. Written by hand for the known types because the
 * library's own conversion is most of the cost of a streamed token.
 */
function messageToWire(message: MessageLike, ancestors: unknown[]): JsonObject {
  const type = message.type;
  if (!KNOWN_MESSAGE_TYPES.has(type)) return dictToWire(message, ancestors);
  const wire: JsonObject = {
    content: convert(message.content, ancestors),
    additional_kwargs: convert(message.additional_kwargs, ancestors),
    response_metadata: convert(message.response_metadata, ancestors),
  };
  for (const field of OPTIONAL_MESSAGE_FIELDS) {
    const value = message[field];
    if (value !== undefined) wire[field] = convert(value, ancestors);
  }
  wire.type = type;
  return wire;
}

function dictToWire(
  value: { toDict(): { type: string; data: JsonObject } },
  ancestors: unknown[],
): JsonObject {
  const { type, data } = value.toDict();
  return { ...(convert(data, ancestors) as JsonObject), type };
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Convert a class instance; plain data never gets here. */
function instanceToWire(value: object, ancestors: unknown[]): unknown {
  if (isMessage(value)) return messageToWire(value, ancestors);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Error) return { error: errorName(value), message: errorMessage(value) };
  if (value instanceof Map) return mapToWire(value, ancestors);
  if (value instanceof Set) return convert([...value], ancestors);
  if (ArrayBuffer.isView(value)) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  }
  if (value instanceof RegExp || value instanceof URL) return String(value);
  const { toDict, toJSON } = value as { toDict?: unknown; toJSON?: unknown };
  if (typeof toDict === "function") return dictToWire(value as MessageLike, ancestors);
  if (typeof toJSON === "function") return convert((value as { toJSON(): unknown }).toJSON(), ancestors);
  return recordToWire(value as JsonObject, ancestors);
}

function mapToWire(map: Map<unknown, unknown>, ancestors: unknown[]): unknown {
  return convert(Object.fromEntries([...map].map(([key, value]) => [String(key), value])), ancestors);
}

/** Copies only when something inside changes: most state is JSON already. */
function recordToWire(record: JsonObject, ancestors: unknown[]): unknown {
  let copy: JsonObject | undefined;
  for (const key of Object.keys(record)) {
    const value = record[key];
    const converted = convert(value, ancestors);
    if (converted === value) continue;
    copy ??= { ...record };
    copy[key] = converted;
  }
  return copy ?? record;
}

function listToWire(list: unknown[], ancestors: unknown[]): unknown {
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const value = list[index];
    const converted = convert(value, ancestors);
    if (converted === value) continue;
    copy ??= [...list];
    copy[index] = converted;
  }
  return copy ?? list;
}

function convert(value: unknown, ancestors: unknown[]): unknown {
  if (typeof value !== "object" || value === null) return typeof value === "bigint" ? String(value) : value;
  if (ancestors.includes(value)) return "[circular]";
  ancestors.push(value);
  try {
    if (Array.isArray(value)) return listToWire(value, ancestors);
    return isPlain(value) ? plainToWire(value as JsonObject, ancestors) : instanceToWire(value, ancestors);
  } finally {
    ancestors.pop();
  }
}

function plainToWire(value: JsonObject, ancestors: unknown[]): unknown {
  return typeof value.toJSON === "function"
    ? instanceToWire(value, ancestors)
    : recordToWire(value, ancestors);
}

/**
 * A value as clients see it: messages flat, errors as `{error, message}`, dates as ISO text, bytes as base64, cycles
 * cut. Returns the value itself when it is JSON already; changes nothing in place.
 */
export function toWire(value: unknown): unknown {
  return convert(value, []);
}

/** JSON text of a value as clients see it, on one line; `null` for what JSON cannot say. */
export function toJson(value: unknown): string {
  return JSON.stringify(toWire(value)) ?? "null";
}

/** Metadata of a streamed message is one object for all its chunks: its JSON is made once. */
const metadataJson = new WeakMap<object, string>();

/** JSON text of a `[message, metadata]` pair of the messages stream. */
export function messageTupleJson(message: unknown, metadata: unknown): string {
  if (typeof metadata !== "object" || metadata === null) return toJson([message, metadata]);
  let json = metadataJson.get(metadata);
  if (json === undefined) {
    json = toJson(metadata);
    metadataJson.set(metadata, json);
  }
  return `[${toJson(message)},${json}]`;
}
