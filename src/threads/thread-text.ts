/** Finds a text in what a client may see of a thread. */
import { isRecord, type JsonObject } from "../models/common.js";

/** A longer text without a space is data, such as a picture: nobody looks for its characters. */
const LONGEST_WORD = 1000;

/** Whether a text stands in one of those of some JSON, or in one of its numbers; letter case is ignored. */
export type HasText = (json: unknown) => boolean;

export function hasText(query: string): HasText {
  const wanted = query.toLowerCase();
  return (json) => textsOf(json).some((text) => !isData(text) && text.toLowerCase().includes(wanted));
}

const isData = (text: string): boolean => text.length > LONGEST_WORD && !/\s/.test(text);

/** Without recursion: what clients store may be deep. */
function textsOf(json: unknown): string[] {
  const texts: string[] = [];
  const rest: unknown[] = [json];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "number") texts.push(String(value));
    else if (Array.isArray(value)) for (const item of value as unknown[]) rest.push(item);
    else if (isRecord(value)) for (const item of spokenTexts(value)) rest.push(item);
  }
  return texts;
}

/** Of a message what it says and calls; of a block of one all but what sort of block it is. */
function spokenTexts(value: JsonObject): unknown[] {
  if (typeof value.type !== "string") return Object.values(value);
  if ("content" in value) return [value.content, value.name, value.tool_calls];
  const { type: _, id: __, ...rest } = value;
  return Object.values(rest);
}
