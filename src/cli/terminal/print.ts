/** Writes results to stdout and everything else to stderr, as the global flags and the terminal ask for. */
import picocolors from "picocolors";
import { escapeControl } from "../../view/text.js";
import { withCommandPrefix } from "./called-as.js";
import type { CliIo, Output } from "./io.js";

export interface PrintFlags {
  json?: boolean;
  jsonl?: boolean;
  quiet?: boolean;
  verbose?: boolean;
  color?: boolean;
}

const DEFAULT_WIDTH = 80;

export class Printer {
  readonly flags: PrintFlags;
  readonly #io: CliIo;
  readonly #noted = new Set<string>();

  constructor(io: CliIo, flags: PrintFlags = {}) {
    this.#io = io;
    this.flags = flags;
  }

  /** Colours of stdout. */
  get colors(): Colors {
    return picocolors.createColors(usesColor(this.#io, this.#io.stdout, this.flags));
  }

  /** Colours of stderr. */
  get noteColors(): Colors {
    return picocolors.createColors(usesColor(this.#io, this.#io.stderr, this.flags));
  }

  /** True when someone watches stderr: a terminal, and not a CI job. */
  get isWatched(): boolean {
    return this.#io.stderr.isTTY === true && !this.#io.env.CI;
  }

  /** True when `--json` or `--jsonl` asks for data instead of text for people. */
  get isJson(): boolean {
    return this.flags.json === true || this.flags.jsonl === true;
  }

  /** True when someone reads stdout on a terminal. */
  get isTerminal(): boolean {
    return this.#io.stdout.isTTY === true;
  }

  /** Columns to fit into; unlimited in a pipe. */
  get width(): number {
    const { isTTY, columns } = this.#io.stdout;
    return isTTY ? (columns ?? DEFAULT_WIDTH) : Infinity;
  }

  /** The folder that the command works in: paths are shown from there. */
  get cwd(): string {
    return this.#io.cwd;
  }

  /** A line of the result. */
  data(line: string): void {
    this.#io.stdout.write(`${line}\n`);
  }

  /** Part of a line of the result. */
  part(text: string): void {
    this.#io.stdout.write(text);
  }

  /** A result in parts, each taken by the reader before the next is asked for. */
  async parts(texts: AsyncIterable<string>): Promise<void> {
    for await (const text of texts) {
      this.part(text);
      await this.drained();
    }
  }

  /** Wait until the reader has taken what was written: who prints much holds no more than that. */
  async drained(): Promise<void> {
    const { stdout } = this.#io;
    if (!stdout.writableNeedDrain || !stdout.once) return;
    await new Promise<void>((resolve) => stdout.once?.("drain", resolve));
  }

  /** A document of the result, or one of its lines with `--jsonl`. */
  json(document: unknown): void {
    this.data(this.jsonText(document));
  }

  /** JSON that is safe on a terminal: control characters occur only in strings, where escapes are equivalent. */
  jsonText(document: unknown): string {
    return escapeControl(JSON.stringify(document, null, this.flags.jsonl ? undefined : 2));
  }

  /** A line about the work, its commands as this program was called; `--quiet` leaves it out. */
  note(line: string): void {
    if (!this.flags.quiet) this.#io.stderr.write(`${this.asCalled(line)}\n`);
  }

  /** Text of the result that shows commands, as this program was called. */
  asCalled(text: string): string {
    return withCommandPrefix(text, this.#io);
  }

  /** A line about the work that one call of a command says once. */
  noteOnce(line: string): void {
    if (this.#noted.has(line)) return;
    this.#noted.add(line);
    this.note(line);
  }

  /** Part of a line about the work. */
  notePart(text: string): void {
    if (!this.flags.quiet) this.#io.stderr.write(text);
  }

  /** A warning; always shown. */
  warn(message: string): void {
    const text = escapeControl(this.asCalled(message));
    this.#io.stderr.write(`${this.noteColors.yellow("warn")}  ${text}\n`);
  }
}

/** Functions that colour text, or leave it as it is. */
export type Colors = ReturnType<typeof picocolors.createColors>;

function usesColor({ env }: CliIo, output: Output, { color }: PrintFlags): boolean {
  if (color === false || env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  return output.isTTY === true && !env.CI && env.TERM !== "dumb";
}
