/** Where a server's log goes: to a terminal line by line, otherwise in larger writes, because each write is a system call. */
import type { DestinationStream } from "pino";
import type { CliIo, Output } from "../terminal/io.js";

/** Longest delay of a line. */
const FLUSH_MS = 100;
/**
 * Longest write of several lines: systems keep writes of up to 4,096 bytes to a pipe together, so that the lines of
 * processes that share it do not mix.
 */
const FLUSH_CHARACTERS = 4096;
/** pino's number for `warn`. */
const WARN = 40;
/** Makes pino set `lastLevel` before each line. */
const SETS_LEVEL = Symbol.for("pino.metadata");

export interface LogOutput extends DestinationStream {
  /** Writes all lines; from now on, each line is written at once. */
  close(): void;
}

/** A line is only delayed in a real process: tests read what they are given, and its end is not the end of a process. */
export function logOutput({ stderr }: Pick<CliIo, "stderr">): LogOutput {
  if (stderr !== process.stderr || stderr.isTTY)
    return { write: (line) => void stderr.write(line), close: () => undefined };
  const output = new BufferedOutput(stderr);
  // Also called by `process.exit` and after an uncaught error. Writes to files and pipes are synchronous.
  process.on("exit", () => output.close());
  return output;
}

/**
 * The first line after a pause is written at once, the next ones together after a while. Warnings and errors never wait:
 * they may be the last lines before the process is killed.
 */
export class BufferedOutput implements LogOutput {
  readonly [SETS_LEVEL] = true;
  lastLevel = 0;
  readonly #out: Output;
  #lines = "";
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(out: Output) {
    this.#out = out;
  }

  write(line: string): void {
    if (this.#lines.length + line.length > FLUSH_CHARACTERS) this.#flush();
    this.#lines += line;
    const isDue = this.#timer === undefined || this.lastLevel >= WARN;
    if (isDue || this.#isClosed || this.#lines.length >= FLUSH_CHARACTERS) this.#flush();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#flush();
  }

  #flush(): void {
    const lines = this.#lines;
    this.#lines = "";
    if (lines !== "") this.#out.write(lines);
    if (!this.#isClosed) this.#timer ??= setTimeout(() => this.#onTime(), FLUSH_MS).unref();
  }

  #onTime(): void {
    this.#timer = undefined;
    if (this.#lines !== "") this.#flush();
  }
}
