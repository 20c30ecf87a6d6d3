/**
 * Shows a run as it goes: messages as they come, a line for each call of a tool and each node. What is said goes to a
 * terminal's stdout; all of it goes to stderr where stdout takes the state.
 */
import { createInterface } from "node:readline";
import type { RunEvent } from "../../client/run-events.js";
import { contentText, escapeControl } from "../../view/text.js";
import type { CliIo } from "../terminal/io.js";
import type { Printer } from "../terminal/print.js";
import { clipped, indentedPath } from "../terminal/text.js";
import type { RunReport } from "./outcome.js";
import { messageInput, type RunBody } from "./request.js";
import { type AnsweredCall, type StreamedMessage, ToolCalls } from "./tool-calls.js";

interface TaskFrame {
  id: string;
  name: string;
  error?: unknown;
  interrupts?: unknown[];
  result?: unknown;
}

const SILENT = new Set(["metadata", "values", "end", "error"]);

/** Maximum columns for the arguments of a tool and for its result. */
const CALL_COLUMNS = 60;

export class LiveView {
  /** Whether a message or a call of a tool has been shown. */
  hasSpoken = false;
  readonly #print: Printer;
  readonly #starts = new Map<string, number>();
  readonly #calls = new ToolCalls();
  #message: string | undefined;

  constructor(print: Printer) {
    this.#print = print;
  }

  show({ event, data }: RunEvent): void {
    const [mode = "", ...namespace] = event.split("|");
    if (SILENT.has(mode)) return;
    if (mode === "messages" && Array.isArray(data)) this.#showMessage(data[0] as StreamedMessage);
    else if (mode === "tasks") this.#showTask(namesIn(namespace), data as TaskFrame);
    else
      this.#line(
        `  ${this.#print.noteColors.dim(escapeControl(event))}  ${escapeControl(JSON.stringify(data))}`,
      );
  }

  /** What the user says, for a reader at a terminal. */
  showInput(text: string): void {
    this.#print.part(`${this.#print.colors.dim(`> ${escapeControl(text)}`)}\n`);
  }

  /** Begin a new line after tokens. */
  finish(): void {
    if (this.#message !== undefined) this.#say("\n");
    this.#message = undefined;
  }

  /** The run has ended: calls that wait for an answer are shown without one. */
  end(): void {
    for (const call of this.#calls.unanswered()) this.#showCall(call);
    this.finish();
  }

  #showMessage(message: StreamedMessage): void {
    const answered = this.#calls.take(message);
    if (answered) this.#showCall(answered);
    else if (/^ai/i.test(message.type ?? "")) this.#showToken(message);
  }

  #showToken({ id, content }: StreamedMessage): void {
    const text = contentText(content);
    if (text === "") return;
    if (this.#message !== (id ?? "")) this.finish();
    this.#message = id ?? "";
    this.#say(escapeControl(text));
  }

  #showCall({ name, args, result, failed }: AnsweredCall): void {
    const { dim, red } = this.#colors;
    const shown = result === undefined ? undefined : clipped(result, CALL_COLUMNS);
    const answer = shown === undefined ? "" : `  ${failed ? red(shown) : dim(`-> ${shown}`)}`;
    this.finish();
    this.#say(`  ${escapeControl(name)}(${clipped(args, CALL_COLUMNS)})${answer}\n`);
  }

  #showTask(path: readonly string[], { id, name, error, interrupts, result }: TaskFrame): void {
    const start = this.#starts.get(id);
    if (start === undefined && error === undefined && result === undefined) {
      this.#starts.set(id, performance.now());
      return;
    }
    this.#starts.delete(id);
    const ms = start === undefined ? "" : `${Math.round(performance.now() - start)} ms`;
    const state = error ? "  failed" : interrupts?.length ? "  waits" : "";
    const { cyan } = this.#print.noteColors;
    this.#line(`${indentedPath([...path, name], cyan)}  ${ms}${state}`);
  }

  /** A line about the work. */
  #line(text: string): void {
    this.finish();
    this.#print.note(text);
  }

  /** What is said is the result, unless that is the state. */
  #say(text: string): void {
    this.hasSpoken = true;
    if (this.#print.isTerminal) this.#print.part(text);
    else this.#print.notePart(text);
  }

  get #colors() {
    return this.#print.isTerminal ? this.#print.colors : this.#print.noteColors;
  }
}

/** Names of the nodes along a namespace such as `outer:id|inner:id`; what counts the calls of one task names none. */
const namesIn = (namespace: readonly string[]): string[] =>
  namespace.filter((part) => !/^\d+$/.test(part)).map((part) => part.split(":", 1)[0] ?? "");

/** The runs that lines of stdin ask for: a message each, or an answer when the graph waits for one. */
export async function* conversation(
  io: CliIo,
  print: Printer,
  last: () => RunReport | undefined,
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

function waits(outcome: RunReport | undefined): boolean {
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
