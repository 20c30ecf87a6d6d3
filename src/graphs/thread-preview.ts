/** What lists show of a thread, without its state: a title, the last message, the number of messages. */
import { isRecord, type JsonObject } from "../models/common.js";
import type { StoredPreview, ThreadPreview } from "../models/thread-fields.js";
import type { OutputFilter } from "./output-filter.js";
import { isMessage } from "./serialize.js";

const MESSAGES = "messages";
/** Maximum length of a text, in UTF-16 code units. */
const TEXT_LENGTH = 200;
/** Maximum number of tool names. */
const NAMED_TOOLS = 10;

/** The preview of a thread without visible texts. */
export const UNTITLED: StoredPreview = { title: null, messages: 0, last: null };

/**
 * The preview of a state: of its messages, or of its first text if it has no messages. Contains visible values only.
 * @param values state values, or the input of a run, as the graph receives them
 * @param at.step number of the latest superstep
 * @param at.before the stored preview, whose texts stay if the state contains none
 * @returns undefined if the stored one stays
 */
export function previewOf(
  values: unknown,
  filter: OutputFilter,
  { step, before }: { step?: number | undefined; before?: StoredPreview | undefined },
): StoredPreview | undefined {
  const steps = step === undefined ? undefined : { steps: Math.max(0, step) };
  const state = isRecord(values) ? values : {};
  const messages = Array.isArray(state.messages) ? (state.messages as unknown[]) : [];
  if (messages.length > 0 && filter.shows(MESSAGES))
    return { key: MESSAGES, ...ofMessages(messages), ...steps };
  for (const key of Object.keys(state)) {
    const text = state[key];
    if (typeof text === "string" && text.trim() !== "" && filter.shows(key))
      return { ...UNTITLED, key, title: cut(text), ...steps };
  }
  return steps && { ...(before ?? UNTITLED), ...steps };
}

/** The preview of a stored state, with its superstep. `before` is the one stored earlier. */
export function previewOfState(
  { values, metadata }: { values: unknown; metadata?: JsonObject | null },
  filter: OutputFilter,
  before?: StoredPreview,
): StoredPreview | undefined {
  const step = metadata?.step;
  return previewOf(values, filter, { step: typeof step === "number" ? step : undefined, before });
}

/** The preview for clients: null if there is none, or if they may not see the key that it comes from. */
export function visiblePreview(
  stored: StoredPreview | null | undefined,
  filter: OutputFilter,
): ThreadPreview | null {
  if (!stored || (stored.key !== undefined && !filter.shows(stored.key))) return null;
  const { key: _, steps = null, ...preview } = stored;
  return { ...preview, steps };
}

function ofMessages(messages: readonly unknown[]): Omit<ThreadPreview, "steps"> {
  const first = messages.find((message) => typeOf(message) === "human");
  const last = messages.at(-1);
  const title = textOf(first);
  return {
    title: title === "" ? null : title,
    messages: messages.length,
    last: { type: typeOf(last), text: textOf(last), tools: toolsOf(last) },
  };
}

const ROLES: Readonly<Record<string, string>> = { user: "human", assistant: "ai" };

/** Input may contain messages as OpenAI's `role` and `content`. */
function typeOf(message: unknown): string {
  if (isMessage(message)) return (message as unknown as { getType(): string }).getType();
  if (!isRecord(message)) return "";
  const { type, role } = message;
  const name = typeof type === "string" ? type : role;
  return typeof name === "string" ? (ROLES[name] ?? name) : "";
}

function textOf(message: unknown): string {
  const content = isMessage(message) || isRecord(message) ? message.content : undefined;
  if (typeof content === "string") return cut(content);
  if (!Array.isArray(content)) return "";
  let text = "";
  for (const block of content as unknown[]) {
    if (text.length >= TEXT_LENGTH) break;
    const part = isRecord(block) ? block.text : block;
    if (typeof part === "string") text += part.slice(0, TEXT_LENGTH);
  }
  return cut(text);
}

function toolsOf(message: unknown): string[] {
  const calls = (isMessage(message) || isRecord(message)) && message.tool_calls;
  if (!Array.isArray(calls)) return [];
  return (calls as unknown[])
    .slice(0, NAMED_TOOLS)
    .flatMap((call) => (isRecord(call) && typeof call.name === "string" ? [cut(call.name)] : []));
}

/** The beginning of a text, without half a surrogate pair at its end. */
const cut = (text: string): string => text.slice(0, TEXT_LENGTH).replace(/[\ud800-\udbff]$/, "");
