import { isRecord } from "../models/common.js";

/** The text of a message's content: a string, or a list of blocks of which some are text. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: { text?: unknown } | string | null) => {
      if (typeof block === "string") return block;
      return typeof block?.text === "string" ? block.text : "";
    })
    .join("");
}

/** True for a message in the form that clients see: `{type, content, ...}`. */
export function isMessageLike(
  value: unknown,
): value is { type: string; content: unknown; [field: string]: unknown } {
  return isRecord(value) && typeof value.type === "string" && "content" in value;
}

/** A message in one line: who says what; a call of tools by their names. */
export function messageLine(message: { type: string; content: unknown; [field: string]: unknown }): string {
  const calls = Array.isArray(message.tool_calls) ? (message.tool_calls as { name?: unknown }[]) : [];
  const called = calls.length > 0 ? `calls ${calls.map(({ name }) => String(name)).join(", ")}` : "";
  const text = [contentText(message.content), called].filter(Boolean).join("  ");
  return `${message.type}: ${text}`;
}

/** The last message of some values in one line; empty without one. */
export function lastMessageLine(values: unknown): string {
  const messages = isRecord(values) ? values.messages : undefined;
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  return isMessageLike(last) ? messageLine(last) : "";
}
