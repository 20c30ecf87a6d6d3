/** Process I/O of a command. Only data goes to stdout; output printed by graphs goes to stderr, with a prefix. */
import type { Readable } from "node:stream";
import { currentOutputSource } from "../../support/output-source.js";

export interface Output {
  write(text: string): boolean;
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** True while written data is buffered for a slow reader. */
  readonly writableNeedDrain?: boolean;
  once?(event: "drain", listener: () => void): unknown;
}

const DEFAULT_COLUMNS = 80;

/** Width of an output in columns; a terminal that reports no width, or 0, is 80 wide. */
export const columnsOf = ({ columns }: Output): number => columns || DEFAULT_COLUMNS;

export interface Input extends Readable {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
}

/** Everything that a command uses of its process; tests replace it. */
export interface CliIo {
  stdout: Output;
  stderr: Output;
  stdin: Input;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** The path that the program was called by; undefined in tests. */
  program?: string;
  /** Replaces process signals in tests: aborts with the signal name as its reason. */
  signal?: AbortSignal;
}

const FULL = "\n  fix  free some space on the disk";
const LOST_OUTPUT_EXIT = 2;

/**
 * The real process. If the reader closes the pipe, as `| head -1` does, the process exits without an error; if stdout
 * is a file that cannot be written, with one.
 */
export function processIo(): CliIo {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") endProcess(0);
      if (stream === process.stderr) throw error;
      const fix = error.code === "ENOSPC" ? FULL : "";
      process.stderr.write(`error  stdout cannot be written: ${error.message}${fix}\n`, () =>
        endProcess(LOST_OUTPUT_EXIT),
      );
    });
  }
  const stdout = ownStdout();
  process.stdout.write = printed;
  return {
    stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    env: process.env,
    cwd: process.cwd(),
    program: process.argv[1],
  };
}

const writeStdout = process.stdout.write.bind(process.stdout);

/** stdout with its original `write`, because `process.stdout.write` is replaced. */
function ownStdout(): Output {
  const { stdout: stream } = process;
  return {
    write: (text) => writeStdout(text),
    get isTTY() {
      return stream.isTTY;
    },
    get columns() {
      return stream.columns;
    },
    get writableNeedDrain() {
      return stream.writableNeedDrain;
    },
    once: (event, listener) => stream.once(event, listener),
  };
}

/** Replaces `process.stdout.write`, which `console.log` calls. */
function printed(
  chunk: string | Uint8Array,
  encoding?: BufferEncoding | ((error?: Error | null) => void),
  done?: (error?: Error | null) => void,
): boolean {
  const callback = typeof encoding === "function" ? encoding : done;
  const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
  return process.stderr.write(marked(text), callback);
}

let isLineBegun = false;

/** Prefixes each line with `print` and its source. */
function marked(text: string): string {
  const who = currentOutputSource();
  const mark = who === undefined ? "print  " : `print  ${who}: `;
  const lines = text.split("\n").map((line, index, { length }) => {
    const goesOn = index === 0 && isLineBegun;
    return goesOn || (line === "" && index === length - 1) ? line : mark + line;
  });
  isLineBegun = text === "" ? isLineBegun : !text.endsWith("\n");
  return lines.join("\n");
}

const { exit } = process as { exit: (this: void, code: number) => never };

/** Exits immediately, even when called from graph code, for which `process.exit` is blocked. */
export function endProcess(code: number): never {
  return exit(code);
}

/** Exits after stdout is flushed, even if a graph module keeps the event loop alive. */
export async function exitProcess(code: number): Promise<never> {
  await new Promise<void>((resolve) => writeStdout("", () => resolve()));
  await new Promise<void>((resolve) => process.stderr.write("", () => resolve()));
  endProcess(code);
}
