/**
 * Shows a run while it executes: streamed messages, and one line per tool call and node. Messages go to stdout if it is a
 * terminal; otherwise everything goes to stderr, because stdout receives the final state.
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
  /** Whether a message or a tool call has been shown. */
  hasSpoken = false;
  readonly #print: Printer;
  readonly #starts = new Map<string, number>();
  readonly #calls = new ToolCalls();
  readonly #isResult: boolean;
  #message: string | undefined;

  /** @param options.isResult whether messages are written to stdout; by default, only if it is a terminal */
  constructor(print: Printer, { isResult = print.isTerminal }: { isResult?: boolean } = {}) {
    this.#print = print;
    this.#isResult = isResult;
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

  /** Prints the user's message. */
  showInput(text: string): void {
    this.#print.part(`${this.#print.colors.dim(`> ${escapeControl(text)}`)}\n`);
  }

  /** Starts a new line after streamed tokens. */
  finish(): void {
    if (this.#message !== undefined) this.#say("\n");
    this.#message = undefined;
  }

  /** Shows tool calls that got no result before the run ended. */
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
    const state = error ? "  failed" : interrupts?.length ? "  interrupted" : "";
    const { cyan } = this.#print.noteColors;
    this.#line(`${indentedPath([...path, name], cyan)}  ${ms}${state}`);
  }

  /** Prints a status line. */
  #line(text: string): void {
    this.finish();
    this.#print.note(text);
  }

  /** Prints messages to stdout on a terminal, otherwise to stderr. */
  #say(text: string): void {
    this.hasSpoken = true;
    if (this.#isResult) this.#print.part(text);
    else this.#print.notePart(text);
  }

  get #colors() {
    return this.#isResult ? this.#print.colors : this.#print.noteColors;
  }
}

/** Node names in a namespace such as `outer:id|inner:id`, without numeric parts, which count the calls of a task. */
const namesIn = (namespace: readonly string[]): string[] =>
  namespace.filter((part) => !/^\d+$/.test(part)).map((part) => part.split(":", 1)[0] ?? "");

/** One run per line of stdin: a message, or an answer if the graph is interrupted. */
export async function* conversation(
  io: CliIo,
  print: Printer,
  last: () => RunReport | undefined,
  signal: AbortSignal,
): AsyncIterable<RunBody> {
  const lines = createInterface({ input: io.stdin, terminal: false, signal });
  const ask = () => print.notePart(isInterrupted(last()) ? "answer> " : "message> ");
  ask();
  for await (const line of lines) {
    const text = line.trim();
    if (text !== "")
      yield isInterrupted(last()) ? { command: { resume: answerOf(text) } } : { input: messageInput(text) };
    ask();
  }
  print.note("");
}

function isInterrupted(outcome: RunReport | undefined): boolean {
  return (outcome?.interrupts.length ?? 0) > 0;
}

/** Parses the line as JSON; returns the text if that fails. */
function answerOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
