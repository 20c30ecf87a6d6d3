/** Progress of a run in flight: custom events of the graph and model output. */
import { isRecord } from "../models/common.js";
import type { RunFrame } from "../models/run-stream.js";
import { contentText } from "./text.js";

/** Maximum characters of a progress message: the end of model output, the start of an event. */
const LONGEST_PROGRESS = 500;
/** Minimum time between two messages of model output. */
const PAUSE_MS = 250;

/** Stream modes required for progress. */
export const PROGRESS_MODES = ["custom", "messages-tuple"] as const;

/**
 * Turns frames of a run into progress messages. Some may be dropped, because the answer repeats the content.
 */
export class RunProgress {
  readonly #tell: (message: string) => void;
  /** Model output so far, of the current message. */
  #speech = { id: "", text: "" };
  #toldAt = -Infinity;

  constructor(tell: (message: string) => void) {
    this.#tell = tell;
  }

  take({ event, data }: RunFrame): void {
    const [mode] = event.split("|", 1);
    if (mode === "custom") this.#tell(eventText(JSON.parse(data)).slice(0, LONGEST_PROGRESS));
    else if (mode === "messages") this.#hear(JSON.parse(data));
  }

  #hear(data: unknown): void {
    const chunk: unknown = Array.isArray(data) ? data[0] : undefined;
    if (!isRecord(chunk) || !/^ai/i.test(String(chunk.type))) return;
    const text = contentText(chunk.content);
    if (text === "") return;
    const id = String(chunk.id);
    const before = this.#speech.id === id ? this.#speech.text : "";
    this.#speech = { id, text: (before + text).slice(-LONGEST_PROGRESS) };
    const at = performance.now();
    if (at - this.#toldAt < PAUSE_MS) return;
    this.#toldAt = at;
    this.#tell(this.#speech.text);
  }
}

/** Event fields that usually contain a readable description. */
const WORDS = ["message", "text", "status"];

function eventText(event: unknown): string {
  if (typeof event === "string") return event;
  const word = isRecord(event) ? WORDS.map((field) => event[field]).find(isText) : undefined;
  return word ?? JSON.stringify(event) ?? "";
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
