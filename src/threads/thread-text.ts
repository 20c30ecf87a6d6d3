/** Full-text search in the visible data of a thread. */
import { isRecord, type JsonObject } from "../models/common.js";

/** A longer string without white space is data, such as an image, and is not searched. */
const MAX_WORD_CHARACTERS = 1000;

/** Whether a string or number in a JSON value contains the query; not case-sensitive. */
export type HasText = (json: unknown) => boolean;

export function hasText(query: string): HasText {
  const wanted = query.toLowerCase();
  return (json) => textsOf(json).some((text) => !isData(text) && text.toLowerCase().includes(wanted));
}

const isData = (text: string): boolean => text.length > MAX_WORD_CHARACTERS && !/\s/.test(text);

/** All searchable strings. Not recursive, because client data may be nested deeply. */
function textsOf(json: unknown): string[] {
  const texts: string[] = [];
  const rest: unknown[] = [json];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "number") texts.push(String(value));
    else if (Array.isArray(value)) for (const item of value as unknown[]) rest.push(item);
    else if (isRecord(value)) for (const item of searchableParts(value)) rest.push(item);
  }
  return texts;
}

/** The searchable parts: content, name and tool calls of a message; everything but type and id of a content block. */
function searchableParts(value: JsonObject): unknown[] {
  if (typeof value.type !== "string") return Object.values(value);
  if ("content" in value) return [value.content, value.name, value.tool_calls];
  const { type: _, id: __, ...rest } = value;
  return Object.values(rest);
}
