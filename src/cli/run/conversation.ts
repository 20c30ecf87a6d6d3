import { createInterface } from "node:readline";
import type { CliIo } from "../io.js";
import type { Printer } from "../print.js";
import type { RunOutcome } from "./outcome.js";
import { messageInput, type RunBody } from "./request.js";

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
