/**
 * The setting `hold_messages`: what a graph says waits until its node has ended and the state shows it, and calls of tools
 * lose their payloads, wherever a key outside the output schema could receive the text. Nothing here runs without it.
 */
import { isRecord, type JsonObject } from "../models/common.js";
import { filterAt, nodePathOf, type OutputFilter, taskNamespace } from "./output-filter.js";
import { isMessage } from "./serialize.js";

/** What one run holds back. */
export class HeldOutput {
  readonly #filter: OutputFilter;
  readonly #messages = new HeldMessages();

  constructor(filter: OutputFilter) {
    this.#filter = filter;
  }

  /** Call `send` now if the message's task can only write to visible keys; otherwise once its place is known. */
  message(message: unknown, metadata: unknown, send: () => void): void {
    if (this.#isOpen(taskNamespace(metadata))) send();
    else this.#messages.hold(message, send);
  }

  /** Send what a task that ended wrote to visible keys; before its update, which has the same messages. */
  taskEnds(namespace: readonly string[], task: unknown): void {
    if (!isRecord(task) || !("result" in task)) return;
    this.#messages.release(filterAt(this.#filter, namespace).writes(String(task.name), task.result));
  }

  /** Drop what is held: the superstep is over, or the run starts again. */
  clear(): void {
    this.#messages.clear();
  }

  /** The call of a tool, made by the tasks of these namespaces; without input and output unless all are open. */
  toolCall(call: unknown, tasks: readonly string[]): unknown {
    if (tasks.length > 0 && tasks.every((task) => this.#isOpen(task))) return call;
    const { event, toolCallId, name } = isRecord(call) ? call : {};
    return { event, toolCallId, name };
  }

  #isOpen(namespace: string): boolean {
    const path = nodePathOf(namespace);
    const task = path.pop();
    return task !== undefined && filterAt(this.#filter, path).speaksOpenly(task);
  }
}

// Messages whose place in the state is not known yet.

interface Held {
  /** The message, or its chunks. */
  parts: unknown[];
  /** The text of its parts; undefined once one of them has more than text. */
  text: string | undefined;
  send: (() => void)[];
}

/** Chunks that a run may hold; beyond, the oldest messages are dropped. */
const MAX_PARTS = 10_000;
/** Levels of a value that are searched for messages: a list in a key of an entrypoint's answer, and some more. */
const MAX_DEPTH = 4;

class HeldMessages {
  /** By the message's id, or by the message when it has none. */
  readonly #held = new Map<unknown, Held>();
  #parts = 0;

  /** Keep `send` until the message is released. */
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

  /** Send the messages that `shown` contains, as messages or as an equal text. */
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

/** Collect the texts, messages and message ids that a value contains. */
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
