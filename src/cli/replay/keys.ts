/** Reads single keys to step through a replay. */
import { on } from "node:events";
import type { CliIo, Input } from "../terminal/io.js";

/** `interrupt` is Ctrl-C, which sends no signal in raw mode. */
type StepKey = "next" | "back" | "quit" | "interrupt";

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
  "\u0003": "interrupt",
  "\u0004": "quit",
};

/** Reads pressed keys. The terminal is in raw mode from construction until it is closed. */
export class StepKeys {
  readonly #stdin: Input;
  readonly #signal: AbortSignal;
  readonly #pressed: AsyncIterable<unknown[]>;

  /** Ends when stdin ends or `signal` aborts. */
  constructor({ stdin }: CliIo, signal: AbortSignal) {
    this.#stdin = stdin;
    this.#signal = signal;
    stdin.setRawMode?.(true);
    this.#pressed = on(stdin, "data", { signal, close: ["end", "close"] });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StepKey> {
    try {
      for await (const [data] of this.#pressed) {
        // One chunk can contain several keys, for example when pasted.
        for (const key of String(data).match(/\u001b\[[A-D]|[^]/g) ?? []) {
          const meaning = KEYS[key];
          if (meaning) yield meaning;
        }
      }
    } catch (error) {
      if (!this.#signal.aborted) throw error;
    }
  }

  close(): void {
    this.#stdin.setRawMode?.(false);
    this.#stdin.pause();
  }
}
