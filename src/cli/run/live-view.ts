/** Shows a run as it goes: tokens as they come, a line for each node. All of it on stderr; results go to stdout. */
import { createInterface } from "node:readline";
import type { RunEvent } from "../../client/run-events.js";
import { contentText, escapeControl } from "../../view/text.js";
import type { CliIo } from "../io.js";
import type { Printer } from "../terminal/print.js";
import type { RunOutcome } from "./outcome.js";
import { messageInput, type RunBody } from "./request.js";

interface Chunk {
  id?: string;
  type?: string;
  content?: unknown;
}

interface TaskFrame {
  id: string;
  name: string;
  error?: unknown;
  interrupts?: unknown[];
  result?: unknown;
}

const SILENT = new Set(["metadata", "values", "end", "error"]);

export class LiveView {
  readonly #print: Printer;
  readonly #starts = new Map<string, number>();
  #message: string | undefined;

  constructor(print: Printer) {
    this.#print = print;
  }

  show({ event, data }: RunEvent): void {
    const [mode = ""] = event.split("|");
    if (SILENT.has(mode)) return;
    if (mode === "messages" && Array.isArray(data)) this.#showToken(data[0] as Chunk);
    else if (mode === "tasks") this.#showTask(data as TaskFrame);
    else this.#line(`${this.#print.noteColors.dim(event)}  ${escapeControl(JSON.stringify(data))}`);
  }

  /** Begin a new line after tokens. */
  finish(): void {
    if (this.#message !== undefined) this.#print.notePart("\n");
    this.#message = undefined;
  }

  #showToken({ id, type, content }: Chunk): void {
    if (!/^ai/i.test(type ?? "")) return;
    const text = contentText(content);
    if (text === "") return;
    if (this.#message !== (id ?? "")) this.finish();
    this.#message = id ?? "";
    this.#print.notePart(escapeControl(text));
  }

  #showTask({ id, name, error, interrupts, result }: TaskFrame): void {
    const start = this.#starts.get(id);
    if (start === undefined && error === undefined && result === undefined) {
      this.#starts.set(id, performance.now());
      return;
    }
    this.#starts.delete(id);
    const ms = start === undefined ? "" : `${Math.round(performance.now() - start)} ms`;
    const state = error ? "  failed" : interrupts?.length ? "  waits" : "";
    this.#line(`${this.#print.noteColors.cyan(escapeControl(name))}  ${ms}${state}`);
  }

  #line(text: string): void {
    this.finish();
    this.#print.note(`  ${text}`);
  }
}

/** The runs that lines of stdin ask for: a message each, or an answer when the graph waits for one. */
export async function* conversation(
  io: CliIo,
  print: Printer,
  last: () => RunOutcome | undefined,
  signal: AbortSignal,
): AsyncIterable<RunBody> {
  const lines = createInterface({ input: io.stdin, terminal: false, signal });
  const ask = () => print.notePart(waits(last()) ? "answer> " : "message> ");
  ask();
  for await (const line of lines) {
    const text = line.trim();
    if (text !== "")
      yield waits(last()) ? { command: { resume: answerOf(text) } } : { input: messageInput(text) };
    ask();
  }
  print.note("");
}

function waits(outcome: RunOutcome | undefined): boolean {
  return (outcome?.interrupts.length ?? 0) > 0;
}

/** JSON where the line is JSON, else the text itself. */
function answerOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
