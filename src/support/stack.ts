/** Rows of stacks: where each call stands, and which of them are the user's own. */
import { dirname, isAbsolute, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { tryOr } from "./errors.js";

/** A row of a stack. */
export interface StackFrame {
  /** Name of the function; left out for one without a name. */
  function?: string;
  file: string;
  line: number;
  column: number;
}

/** `at name (file:1:2)` or `at file:1:2`. */
const FRAME = /^\s*at (?:async )?(?:(.*?) \((.*):(\d+):(\d+)\)|(.*):(\d+):(\d+))$/;
/** `src` or `dist` of this package. */
const OWN_PACKAGE = dirname(dirname(fileURLToPath(import.meta.url))) + sep;

/** The call that a line of a stack names; undefined for other lines. */
export function parseStackLine(row: string): StackFrame | undefined {
  const [matched, name, ...parts] = FRAME.exec(row) ?? [];
  if (matched === undefined) return undefined;
  const [place = "", line, column] = parts.filter((part) => part !== undefined);
  const file = tryOr(() => plainPath(place)) ?? place;
  return { ...(name !== undefined && { function: name }), file, line: Number(line), column: Number(column) };
}

/** Code of the user's project: no package, nothing of Node, nothing of ours. */
export const isUserCode = ({ file }: StackFrame): boolean =>
  isAbsolute(file) && !/[\\/]node_modules[\\/]/.test(file) && !file.startsWith(OWN_PACKAGE);

/** A path of a stack, where it may be a URL with a version. */
export function plainPath(text: string): string {
  return text.startsWith("file:") ? fileURLToPath(new URL(text)) : text;
}
