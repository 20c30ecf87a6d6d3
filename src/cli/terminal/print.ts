/** Writes results to stdout and everything else to stderr, depending on global flags and the terminal. */
import picocolors from "picocolors";
import { escapeControl } from "../../view/text.js";
import { withCommandPrefix } from "./called-as.js";
import { type CliIo, columnsOf, type Output } from "./io.js";

export interface PrintFlags {
  json?: boolean;
  jsonl?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  color?: boolean;
}

export class Printer {
  readonly flags: PrintFlags;
  /** Whether the output is data (`--json` or `--jsonl`) instead of text. */
  readonly isJson: boolean;
  readonly #io: CliIo;
  readonly #noted = new Set<string>();

  constructor(io: CliIo, flags: PrintFlags = {}) {
    this.#io = io;
    this.flags = flags;
    this.isJson = flags.json === true || flags.jsonl === true;
  }

  get colors(): Colors {
    return picocolors.createColors(usesColor(this.#io, this.#io.stdout, this.flags));
  }

  /** Colors for stderr. */
  get noteColors(): Colors {
    return picocolors.createColors(usesColor(this.#io, this.#io.stderr, this.flags));
  }

  /** Whether stderr is interactive: a terminal, and not a CI job. */
  get isWatched(): boolean {
    return this.#io.stderr.isTTY === true && !this.#io.env.CI;
  }

  /** Whether stdout is a terminal. */
  get isTerminal(): boolean {
    return this.#io.stdout.isTTY === true;
  }

  /** Width of stdout in columns; unlimited in a pipe. */
  get width(): number {
    const { stdout } = this.#io;
    return stdout.isTTY ? columnsOf(stdout) : Infinity;
  }

  /** Working directory of the command; paths are shown relative to it. */
  get cwd(): string {
    return this.#io.cwd;
  }

  /** Prints a line of the result. */
  data(line: string): void {
    this.#io.stdout.write(`${line}\n`);
  }

  /** Prints part of a line of the result. */
  part(text: string): void {
    this.#io.stdout.write(text);
  }

  /** Prints a result in parts, with back-pressure. */
  async parts(texts: AsyncIterable<string>): Promise<void> {
    for await (const text of texts) {
      this.part(text);
      await this.drained();
    }
  }

  /** Waits until the reader has consumed the output, so that large results are not buffered in memory. */
  async drained(): Promise<void> {
    const { stdout } = this.#io;
    if (!stdout.writableNeedDrain || !stdout.once) return;
    await new Promise<void>((resolve) => stdout.once?.("drain", resolve));
  }

  /** Prints a JSON document, or a single line with `--jsonl`. */
  json(document: unknown): void {
    this.data(this.jsonText(document));
  }

  /** JSON that is safe on a terminal: control characters occur only in strings, where escapes are equivalent. */
  jsonText(document: unknown): string {
    return escapeControl(JSON.stringify(document, null, this.flags.jsonl ? undefined : 2));
  }

  /** Prints a status line to stderr, unless `--quiet`. Suggested commands are rewritten to the way the program was called. */
  note(line: string): void {
    if (!this.flags.quiet) this.#io.stderr.write(`${this.asCalled(line)}\n`);
  }

  /** Rewrites commands in a text to the way this program was called. */
  asCalled(text: string): string {
    return withCommandPrefix(text, this.#io);
  }

  /** Like `note`, but prints the same line only once. */
  noteOnce(line: string): void {
    if (this.#noted.has(line)) return;
    this.#noted.add(line);
    this.note(line);
  }

  /** Prints part of a status line. */
  notePart(text: string): void {
    if (!this.flags.quiet) this.#io.stderr.write(text);
  }

  /** Prints a warning, also with `--quiet`. */
  warn(message: string): void {
    const text = escapeControl(this.asCalled(message));
    this.#io.stderr.write(`${this.noteColors.yellow("warn")}  ${text}\n`);
  }
}

/** Functions that color text, or return it unchanged if colors are disabled. */
export type Colors = ReturnType<typeof picocolors.createColors>;

function usesColor({ env }: CliIo, output: Output, { color }: PrintFlags): boolean {
  if (color === false || env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  return output.isTTY === true && !env.CI && env.TERM !== "dumb";
}
