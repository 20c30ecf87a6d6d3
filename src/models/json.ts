export type JsonObject = Record<string, unknown>;

/** True for an object that is neither null nor an array. */
export function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for the message format of clients: `{type, content, ...}`. */
export function isMessageLike(
  value: unknown,
): value is { type: string; content: unknown; [field: string]: unknown } {
  return isRecord(value) && typeof value.type === "string" && "content" in value;
}

/** Sorts the keys of all objects, because databases that index JSON return them in their own order. */
export function byKey<T>(value: T): T {
  if (Array.isArray(value)) return value.map(byKey) as T;
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, byKey(value[key])])) as T;
}

/**
 * JSON text in two parts. The tail is the same for many frames, such as the fields and the metadata that all chunks of a
 * message have in common, and longer than most chunks: a log keeps it once. The tail has passed `withoutNul`.
 */
export interface SplitJson {
  readonly head: string;
  readonly tail: string;
}

/**
 * Replaces U+0000 with U+FFFD in JSON text. Requests must not contain NUL, so a client could not
 * send such a value back or subscribe to such a name. In JSON text it can only be an escape after
 * an even number of backslashes.
 */
export const withoutNul = (json: string): string =>
  json.includes("\\u0000") ? json.replace(/(?<!\\)((?:\\\\)*)\\u0000/g, "$1\uFFFD") : json;

/** JSON text that every database keeps unchanged: NUL characters and lone surrogates become U+FFFD. */
export function storableJson(json: string): string {
  if (!/\\u(0000|d[89a-f])/.test(json)) return json;
  return json.replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g, "$1\uFFFD");
}

/** Whether every database keeps the text unchanged. */
export const isStorableText = (text: string): boolean => !text.includes("\0") && !/\p{Surrogate}/u.test(text);
