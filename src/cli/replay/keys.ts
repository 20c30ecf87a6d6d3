/** Steps through a replay by single keys. */
import type { CliIo } from "../io.js";

export type StepKey = "next" | "back" | "quit";

const KEYS: Record<string, StepKey> = {
  " ": "next",
  "\r": "next",
  "\n": "next",
  n: "next",
  "\u001b[C": "next",
  "\u001b[B": "next",
  p: "back",
  b: "back",
  "\u001b[D": "back",
  "\u001b[A": "back",
  q: "quit",
  "\u0003": "quit",
  "\u0004": "quit",
};

/** Keys as they are pressed; the end of stdin quits. Raw mode is on while somebody listens. */
export async function* stepKeys(io: CliIo): AsyncGenerator<StepKey> {
  io.stdin.setRawMode?.(true);
  try {
    for await (const data of io.stdin) {
      const text = String(data);
      // A pasted or fast-typed row of keys counts key by key.
      for (const key of text.match(/\u001b\[[A-D]|[^]/g) ?? []) {
        const meaning = KEYS[key];
        if (meaning) yield meaning;
      }
    }
    yield "quit";
  } finally {
    io.stdin.setRawMode?.(false);
    io.stdin.pause();
  }
}
