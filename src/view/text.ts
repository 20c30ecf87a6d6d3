import { isMessageLike, isRecord } from "../models/json.js";

// C0 except newline and tab, DEL, C1, line and paragraph separators, and bidirectional control characters.
const CONTROL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Makes untrusted text safe for a terminal: control characters become `\u001b` and so on. */
export function escapeControl(text: string): string {
  return text.replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Text for the content and the attributes of HTML, without control characters. */
export const escapeHtml = (text: string): string =>
  escapeControl(text).replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** Text of a message's content, which is a string or a list of blocks. */
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

/** One line with the message type, its text and the names of called tools. */
export function messageLine(message: { type: string; content: unknown; [field: string]: unknown }): string {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isRecord) : [];
  const called = calls.length > 0 ? `calls ${calls.map(({ name }) => String(name)).join(", ")}` : "";
  const text = [contentText(message.content), called].filter(Boolean).join("  ");
  return `${message.type}: ${text}`;
}

/** The last message of the values in one line; empty if there are no messages. */
export function lastMessageLine(values: unknown): string {
  const messages = isRecord(values) ? values.messages : undefined;
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  return isMessageLike(last) ? messageLine(last) : "";
}

/** Formats the error of a task, JSON text of `{"message", "name"}`, in one line. */
export function errorLine(text: string): string {
  try {
    const { name, message } = JSON.parse(text) as { name?: string; message?: string };
    return message === undefined ? text : [name, message].filter(Boolean).join(": ");
  } catch {
    return text;
  }
}

// Wide characters according to Unicode: Hangul, CJK, fullwidth forms, emoji.
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
// Combining marks and joiners.
const JOINED = /[\p{Mn}\p{Me}\u200b-\u200d\ufe00-\ufe0f]/u;

/** Splits text into terminal cells with their width in columns. */
export function cells(text: string): { char: string; width: number }[] {
  const found: { char: string; width: number }[] = [];
  for (const char of text) {
    const last = found.at(-1);
    if (last && JOINED.test(char)) last.char += char;
    else found.push({ char, width: WIDE.test(char) ? 2 : 1 });
  }
  return found;
}

/** Width of the text in terminal columns. */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  return cells(text).reduce((sum, { width }) => sum + width, 0);
}

/** Wraps text at spaces to at most `width` columns. Existing line breaks are kept. */
export function wrapped(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, Math.max(1, width)));
}

function wrapLine(line: string, width: number): string[] {
  if (textWidth(line) <= width) return [line];
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(/(?<=\s)/)) {
    if (textWidth((current + word).trimEnd()) <= width) current += word;
    else {
      if (current.trim() !== "") lines.push(current.trimEnd());
      const pieces = cut(word, width);
      current = pieces.pop() ?? "";
      for (const piece of pieces) lines.push(piece);
    }
  }
  return current.trim() === "" ? lines : [...lines, current.trimEnd()];
}

/** Splits a word that is longer than a line. */
function cut(word: string, width: number): string[] {
  if (textWidth(word.trimEnd()) <= width) return [word];
  const pieces: string[] = [""];
  for (const char of word) {
    const last = pieces.at(-1) ?? "";
    if (textWidth(last + char) > width && last !== "") pieces.push(char);
    else pieces[pieces.length - 1] = last + char;
  }
  return pieces;
}
