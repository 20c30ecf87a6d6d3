/** Messages as a chat, and what is left of a step's changes beside them. */
import type { Change } from "../diff/changes.js";
import { contentText, isMessageLike } from "../message-text.js";

export interface ChatLine {
  who: string;
  text: string;
}

/** What a message says, and the tools it calls. */
export function chatLines(message: { type: string; content: unknown; [field: string]: unknown }): ChatLine[] {
  const calls = Array.isArray(message.tool_calls)
    ? (message.tool_calls as { name?: unknown; args?: unknown }[])
    : [];
  const text = contentText(message.content);
  const who = message.type.replace(/MessageChunk$/, "").toLowerCase();
  const said = text !== "" || calls.length === 0 ? [{ who, text: text || unspoken(message.content) }] : [];
  return [
    ...said,
    ...calls.map(({ name, args }) => ({
      who,
      text: `calls ${String(name)} ${JSON.stringify(args ?? {})}`,
    })),
  ];
}

/** Content that is no text, such as an image: as it is stored. */
function unspoken(content: unknown): string {
  return Array.isArray(content) && content.length > 0 ? JSON.stringify(content) : "";
}

export interface SortedChanges {
  messages: { type: string; content: unknown; [field: string]: unknown }[];
  others: Change[];
}

/** New messages on one side, all else on the other. */
export function sortChanges(changes: readonly Change[]): SortedChanges {
  const sorted: SortedChanges = { messages: [], others: [] };
  for (const change of changes) {
    const added = change.op === "add" ? change.new : undefined;
    const items = Array.isArray(added) ? (added as unknown[]) : [added];
    if (items.length > 0 && items.every(isMessageLike)) sorted.messages.push(...items.filter(isMessageLike));
    else sorted.others.push(change);
  }
  return sorted;
}
