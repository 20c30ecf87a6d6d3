import type { AsyncLocalStorage } from "node:async_hooks";
import type { MessageMaker } from "./messages.js";
import type { Tape } from "./tape.js";

/** Finds the tape of a call, and keeps calls inside of calls off it. */
export interface Deck {
  /** The tape of the thread that a call belongs to; undefined when it has none. */
  tapeOf(...hints: unknown[]): Tape | undefined;
  /** Set while a recorded call runs: what it calls itself is part of it. */
  readonly inside: AsyncLocalStorage<{ model?: unknown; chunks: unknown[] }>;
  readonly maker: MessageMaker;
}
