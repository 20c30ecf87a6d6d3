/** Where in the project's files a fault stands. */
import { readFileSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { codeFrame } from "../code-frame.js";
import type { SourceLocation } from "../errors.js";

/** The module that was being loaded: its path, its name in messages, and the files it is made of. */
export interface FaultyModule {
  path: string;
  source: string;
  baseDir: string;
  files: readonly string[];
}

/** A path as messages show it: from the base folder where it lies below it. */
export function shownPath(path: string, baseDir: string): string {
  const inside = relative(baseDir, path);
  return inside.startsWith("..") || isAbsolute(inside) ? path : `./${inside.replaceAll(sep, "/")}`;
}

/** The first line of the stack that stands in the project's own files. */
export function ownFrame(error: unknown, files: readonly string[]): SourceLocation | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  for (const row of stack.split("\n")) {
    const match = /(?:\(|at (?:async )?)([^()]*?):(\d+):\d+\)?$/.exec(row.trim());
    const file = match?.[1] === undefined ? undefined : plainPath(match[1]);
    if (file !== undefined && files.includes(file)) return locate(file, Number(match?.[2]));
  }
  return undefined;
}

/** A path of a stack, where it may be a URL with a version. */
export function plainPath(text: string): string {
  return text.startsWith("file:") ? fileURLToPath(new URL(text)) : text;
}

export function locate(file: string, line: number, column?: number): SourceLocation {
  const frame = codeFrame(readText(file), line, column);
  return { file, line, ...(column !== undefined && { column }), ...(frame && { frame }) };
}

export function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
