/** Messages whose place in the state is not known yet: they wait until they stand where clients may see them. */
import { isRecord, type JsonObject } from "../models/common.js";
import { isMessage } from "./serialize.js";

interface Held {
  /** The message, or its chunks. */
  parts: unknown[];
  /** What its parts say together; undefined once one of them is more than text. */
  text: string | undefined;
  send: (() => void)[];
}

/** What may wait; the oldest is forgotten first. */
const MAX_PARTS = 10_000;
/** How deep messages are looked for: a list in a key of a functional entrypoint's answer, and some more. */
const MAX_DEPTH = 4;

export class HeldMessages {
  /** By the message's id, or by the message when it has none. */
  readonly #held = new Map<unknown, Held>();
  #parts = 0;

  /** Keep `send` until it is known whether the message may be seen. */
  hold(message: unknown, send: () => void): void {
    if (!isMessage(message)) return;
    const key = message.id ?? message;
    const held = this.#held.get(key) ?? { parts: [], text: "", send: [] };
    this.#held.set(key, held);
    held.parts.push(message);
    held.text = joined(held.text, message);
    held.send.push(send);
    this.#parts += 1;
    while (this.#parts > MAX_PARTS) this.#forget(this.#held.keys().next().value);
  }

  /** Send the messages that stand in `shown`, by themselves or as their text. */
  release(shown: unknown): void {
    if (this.#held.size === 0) return;
    const seen = new Set<unknown>();
    collect(shown, seen, 0);
    for (const [key, { parts, text, send }] of [...this.#held]) {
      if (!seen.has(key) && !parts.some((part) => seen.has(part)) && !(text && seen.has(text))) continue;
      this.#forget(key);
      for (const each of send) each();
    }
  }

  /** Nothing that waits can come to be seen any more. */
  clear(): void {
    this.#held.clear();
    this.#parts = 0;
  }

  #forget(key: unknown): void {
    this.#parts -= this.#held.get(key)?.parts.length ?? 0;
    this.#held.delete(key);
  }
}

function joined(text: string | undefined, message: unknown): string | undefined {
  const { content, tool_calls, tool_call_chunks, additional_kwargs = {} } = message as JsonObject;
  const isMore = [tool_calls, tool_call_chunks].flat().some(isRecord) || !isEmpty(additional_kwargs);
  return text === undefined || typeof content !== "string" || isMore ? undefined : text + content;
}

const isEmpty = (value: unknown): boolean => isRecord(value) && Object.keys(value).length === 0;

/** Texts, messages and ids of messages that stand in a value. */
function collect(value: unknown, seen: Set<unknown>, depth: number): void {
  if (typeof value === "string") return void seen.add(value);
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return;
  if (isMessage(value)) {
    seen.add(value);
    if (value.id !== undefined) seen.add(value.id);
    return collect(value.content, seen, MAX_DEPTH);
  }
  const items: unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const item of items) collect(item, seen, depth + 1);
}
