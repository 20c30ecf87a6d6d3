/** A value to send, with message, form and JSON views that are kept in sync. */
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { isRecord, type JsonObject } from "../../src/models/json.js";
import type { PathStep } from "../../src/models/value-path.js";
import { fileOf } from "./files.js";
import { jsonFault, type TextFault } from "./json-fault.js";

/** A value and its JSON text. While the text is invalid JSON, the value keeps its last valid state. */
export class Draft {
  readonly value = signal<unknown>({});
  /** The JSON text as typed; undefined if it was not edited. */
  readonly #written = signal<string | undefined>(undefined);
  /** Computed lazily, because values may contain whole files. */
  readonly text: ReadonlySignal<string> = computed(
    () => this.#written.value ?? JSON.stringify(this.value.value, null, 2) ?? "null",
  );
  readonly fault = signal<TextFault | undefined>(undefined);
  /** Invalid text of fields, by JSON-encoded path. */
  readonly unfit = signal<ReadonlyMap<string, string>>(new Map());
  readonly isReady: ReadonlySignal<boolean> = computed(
    () => this.fault.value === undefined && this.unfit.value.size === 0,
  );

  readonly #onChange: () => void;

  constructor(onChange: () => void = () => undefined) {
    this.#onChange = onChange;
  }

  set(value: unknown): void {
    this.value.value = value;
    this.#written.value = undefined;
    this.fault.value = undefined;
    this.unfit.value = new Map();
    this.#onChange();
  }

  /** Set the value at a path; undefined removes it. */
  setAt(path: readonly PathStep[], value: unknown): void {
    // Without an item, the ones after it move.
    const isItem = value === undefined && typeof path.at(-1) === "number";
    const changed = isItem ? path.slice(0, -1) : path;
    const others = [...this.unfit.value].filter(([each]) => !isWithin(each, changed));
    this.set(changedAt(this.value.value, path, value));
    this.unfit.value = new Map(others);
    if (others.length > 0) this.#onChange();
  }

  /** Keep the invalid text of a field; the value keeps its last valid state. */
  refuse(path: readonly PathStep[], text: string): void {
    this.unfit.value = new Map(this.unfit.value).set(JSON.stringify(path), text);
    this.#onChange();
  }

  /** Set the value from JSON text. */
  write(text: string): void {
    this.#written.value = text;
    this.unfit.value = new Map();
    try {
      this.value.value = JSON.parse(text) as unknown;
      this.fault.value = undefined;
    } catch {
      this.fault.value = jsonFault(text);
    }
    this.#onChange();
  }
}

function isWithin(path: string, around: readonly PathStep[]): boolean {
  const steps = JSON.parse(path) as PathStep[];
  return around.every((step, index) => steps[index] === step);
}

function changedAt(whole: unknown, path: readonly PathStep[], value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === "number") {
    const list: unknown[] = Array.isArray(whole) ? whole : [];
    const inner = changedAt(list[step], rest, value);
    return inner === undefined ? list.toSpliced(step, 1) : Object.assign([...list], { [step]: inner });
  }
  const { [step]: before, ...others } = isRecord(whole) ? whole : {};
  const inner = changedAt(before, rest, value);
  if (inner === undefined) return others;
  // Keeps the position of existing keys.
  return isRecord(whole) && Object.hasOwn(whole, step)
    ? { ...whole, [step]: inner }
    : { ...others, [step]: inner };
}

/** A user message: text, and files as content blocks. */
export interface Said {
  text: string;
  files: readonly JsonObject[];
}

/** The single user message of the value; undefined if the value contains anything else. */
export function messageOf(value: unknown): Said | undefined {
  if (!isRecord(value)) return undefined;
  const { messages } = value;
  if (messages === undefined || (Array.isArray(messages) && messages.length === 0))
    return { text: "", files: [] };
  const [message, ...more] = Array.isArray(messages) ? (messages as unknown[]) : [];
  if (!isRecord(message) || more.length > 0) return undefined;
  return message.role === "user" || message.type === "human" ? saidIn(message.content) : undefined;
}

/** Accepts a string, or blocks: an optional text first, then only files. */
function saidIn(content: unknown): Said | undefined {
  if (typeof content === "string") return { text: content, files: [] };
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  const first = blocks[0];
  const text = isRecord(first) && first.type === "text" && typeof first.text === "string" ? first.text : "";
  const files = blocks.slice(text === "" ? 0 : 1).filter(isRecord);
  const isAll = files.length > 0 && files.length === blocks.length - (text === "" ? 0 : 1);
  return isAll && files.every((block) => fileOf(block)) ? { text, files } : undefined;
}

/** The value with this as its only message. */
export function withMessage(value: unknown, { text, files }: Said): unknown {
  const { messages: _messages, ...others } = isRecord(value) ? value : {};
  const blocks = [...(text === "" ? [] : [{ type: "text", text }]), ...files];
  if (blocks.length === 0) return others;
  return { messages: [{ role: "user", content: files.length === 0 ? text : blocks }], ...others };
}
