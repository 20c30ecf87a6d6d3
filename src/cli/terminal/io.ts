/** What a command touches of its process. Data alone goes to stdout: what graphs print goes to stderr, and is marked. */
import type { Readable } from "node:stream";
import { currentOutputSource } from "../../support/output-source.js";

export interface Output {
  write(text: string): boolean;
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** True while a slow reader has yet to take what was written. */
  readonly writableNeedDrain?: boolean;
  once?(event: "drain", listener: () => void): unknown;
}

export interface Input extends Readable {
  readonly isTTY?: boolean;
  setRawMode?(raw: boolean): unknown;
}

/** Everything a command uses of its process, so that a test can replace it. */
export interface CliIo {
  stdout: Output;
  stderr: Output;
  stdin: Input;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** The path under which the program was called; undefined in tests that replace it. */
  program?: string;
  /** Replaces a signal to the process: aborts with the signal's name as its reason. */
  signal?: AbortSignal;
}

/** The process itself. A reader that goes away, as `| head -1` does, ends it quietly. */
export function processIo(): CliIo {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") endProcess(0);
      throw error;
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

/** stdout with its own `write`, whatever takes its place. */
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

/** Takes the place of `process.stdout.write`, which `console.log` calls. */
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

/** Each line with `print` before it, and the name in which it is printed. */
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

/** End the process at once, also where code of a graph led here, from which `process.exit` is kept. */
export function endProcess(code: number): never {
  return exit(code);
}

/** End the process, whatever a graph module keeps open, once what was written has been handed over. */
export async function exitProcess(code: number): Promise<never> {
  await new Promise<void>((resolve) => writeStdout("", () => resolve()));
  await new Promise<void>((resolve) => process.stderr.write("", () => resolve()));
  endProcess(code);
}
