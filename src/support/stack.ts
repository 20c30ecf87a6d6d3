/** Parses stack traces and recognizes user code. */
import { isAbsolute, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { tryOr } from "./errors/thrown.js";
import { CODE_FOLDER } from "./own-package.js";

/**
 * One call in a stack trace of user code or of a library.
 * @example
 * ```ts
 * import { basename } from "node:path";
 * import type { StackFrame } from "graph-serve";
 * import { service } from "./service.js";
 *
 * const { thread_id } = await service.threads.create({});
 * const { run_id } = await service.runs.create(thread_id, { assistant_id: "approval", input: { amount: -1 } });
 * const [frame]: StackFrame[] = (await service.runs.fault(thread_id, run_id))?.stack ?? [];
 * basename(frame?.file ?? ""); // => "graph.ts"
 * ```
 */
export interface StackFrame {
  /** Function name; absent if it has none. */
  function?: string;
  /** Absolute path, if the code was loaded from a file. */
  file: string;
  /** Line number, from 1. */
  line: number;
  /** Column number, from 1. */
  column: number;
}

/** Matches `at name (file:1:2)` and `at file:1:2`. */
const FRAME = /^\s*at (?:async )?(?:(.*?) \((.*):(\d+):(\d+)\)|(.*):(\d+):(\d+))$/;
const OWN_CODE = CODE_FOLDER + sep;

/** Parses a line of a stack trace; undefined if it is not a call. */
export function parseStackLine(row: string): StackFrame | undefined {
  const [matched, name, ...parts] = FRAME.exec(row) ?? [];
  if (matched === undefined) return undefined;
  const [place = "", line, column] = parts.filter((part) => part !== undefined);
  const file = tryOr(() => plainPath(place)) ?? place;
  return { ...(name !== undefined && { function: name }), file, line: Number(line), column: Number(column) };
}

/** True for code of the user's project: not in a package, in Node or in graph-serve. */
export const isUserCode = ({ file }: StackFrame): boolean =>
  isAbsolute(file) && !/[\\/]node_modules[\\/]/.test(file) && !file.startsWith(OWN_CODE);

/** Converts a path in a stack trace, which can be a URL with a version, to a file path. */
export function plainPath(text: string): string {
  return text.startsWith("file:") ? fileURLToPath(new URL(text)) : text;
}
