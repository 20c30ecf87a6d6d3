/**
 * The setting `hold_messages`. If a node could write a message to a state key outside the output schema, its messages are
 * held until the node has ended and a visible key contains them, and its tool calls are sent without payloads.
 */
import { isRecord, type JsonObject } from "../models/common.js";
import { filterAt, nodePathOf, type OutputFilter, taskNamespace } from "./output-filter.js";
import { isMessage } from "./serialize.js";

/** The held messages of one run. */
export class HeldOutput {
  readonly #filter: OutputFilter;
  readonly #messages = new HeldMessages();

  constructor(filter: OutputFilter) {
    this.#filter = filter;
  }

  /** Call `send` now if the message's task can only write to visible keys; otherwise when a visible key contains it. */
  message(message: unknown, metadata: unknown, send: () => void): void {
    if (this.#isOpen(taskNamespace(metadata))) send();
    else this.#messages.hold(message, send);
  }

  /** Send the held messages that an ended task wrote to visible keys. Must precede the task's update, which repeats them. */
  taskEnds(namespace: readonly string[], task: unknown): void {
    if (!isRecord(task) || !("result" in task)) return;
    this.#messages.release(filterAt(this.#filter, namespace).writes(String(task.name), task.result));
  }

  /** Drop all held messages: the superstep has ended, or the run is retried. */
  clear(): void {
    this.#messages.clear();
  }

  /** A tool call made by the tasks in these namespaces, without input and output unless all tasks write visible keys only. */
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

// Messages that may end up in a visible or a hidden key.

interface Held {
  /** The message, or its chunks. */
  parts: unknown[];
  /** Concatenated text of the parts; undefined if a part has more than text. */
  text: string | undefined;
  send: (() => void)[];
}

/** Maximum number of chunks held per run; above it, the oldest messages are dropped. */
const MAX_PARTS = 10_000;
/** Depth to which values are searched for messages; enough for a list in a key of an entrypoint's result. */
const MAX_DEPTH = 4;

class HeldMessages {
  /** Keyed by message id, or by the message itself if it has no id. */
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

  /** Send the messages that `shown` contains, as messages or as equal text. */
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

/** Collect the strings, messages and message ids in a value. */
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
