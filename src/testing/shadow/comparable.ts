/** Values without the parts of messages that differ in every run. */
import { isMessageLike, isRecord, type JsonObject } from "../../models/common.js";

/**
 * Removes ids of messages and tool calls, which are random, and what distinguishes a streamed message from a whole one: its
 * chunks of tool calls, and empty details.
 */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, comparable(inner)] as const);
  if (!isMessageLike(value)) return Object.fromEntries(entries);
  const {
    id: _id,
    tool_call_id: _callId,
    tool_call_chunks: _chunks,
    ...message
  } = withoutEmpty(Object.fromEntries(entries));
  const calls = Array.isArray(message.tool_calls) ? (message.tool_calls as unknown[]) : undefined;
  return { ...message, ...(calls && { tool_calls: calls.map(withoutId) }) };
}

/** Removes empty lists and objects from an object and from the objects in it. */
function withoutEmpty(value: JsonObject): JsonObject {
  const isEmpty = (inner: unknown) =>
    Array.isArray(inner) ? inner.length === 0 : isRecord(inner) && Object.keys(inner).length === 0;
  const entries = Object.entries(value).map(
    ([key, inner]) => [key, isRecord(inner) ? withoutEmpty(inner) : inner] as const,
  );
  return Object.fromEntries(entries.filter(([, inner]) => !isEmpty(inner)));
}

function withoutId(call: unknown): unknown {
  if (!isRecord(call)) return call;
  const { id: _, ...rest } = call;
  return rest;
}
