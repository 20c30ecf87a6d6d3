/** Entry point of the command line. A command is imported only when it is called. */
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { VERSION } from "../support/own-package.js";
import { exitProcess, processIo, type CliIo } from "./terminal/io.js";

/** Increased when a field of any `--json` output is removed, renamed or changes its type; not when one is added. */
const JSON_VERSION = 1;
const VERSION_FLAGS = new Set(["--version", "-V"]);

// For bin/graph-serve.js.
export { exitProcess, processIo, type CliIo } from "./terminal/io.js";

/** Runs one command; `argv` excludes the program name. Reports errors and never throws. */
export async function main(argv: readonly string[], io: CliIo): Promise<number> {
  if (VERSION_FLAGS.has(argv[0] ?? "") && argv.slice(1).every((flag) => flag === "--json")) {
    const versions = { version: VERSION, json: JSON_VERSION };
    io.stdout.write(`${argv.length === 1 ? VERSION : JSON.stringify(versions)}\n`);
    return 0;
  }
  try {
    const { runProgram } = await import("./program.js");
    return await runProgram(argv, io);
  } catch (error) {
    if ((error as NodeJS.ErrnoException | undefined)?.code === "EPIPE") return 0;
    const { reportError } = await import("./session/report-error.js");
    return reportError(error, io, outputFlags(argv));
  }
}

/** Reads the output flags without the parser, because the parser itself may have failed. */
function outputFlags(argv: readonly string[]) {
  return {
    json: argv.includes("--json"),
    jsonl: argv.includes("--jsonl"),
    verbose: argv.includes("--verbose") || argv.includes("-v"),
    color: argv.includes("--no-color") ? false : undefined,
  };
}

if (process.argv[1] !== undefined && isThisFile(process.argv[1])) {
  await exitProcess(await main(process.argv.slice(2), processIo()));
}

function isThisFile(path: string): boolean {
  try {
    return realpathSync(path) === fileURLToPath(import.meta.url);
  } catch {
    return false;
  }
}
