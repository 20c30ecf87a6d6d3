/** A failed expectation in words: case, expectation, expected and actual, file and line. */
import type { Failure } from "../../testing/result.js";
import { shortPath } from "../report-error.js";

const LONGEST = 1_000;

/** The lines of a failure, without colours. */
export function failureLines(
  { expectation, message, expected, actual, step, location }: Failure,
  cwd: string,
): string[] {
  const place = step === undefined ? "" : `step ${step}, `;
  const lines = [`${place}${expectation}: ${message}`];
  if (expected !== undefined) lines.push(`  expected  ${indented(shown(expected))}`);
  if (actual !== undefined || expected !== undefined) lines.push(`  actual    ${indented(shown(actual))}`);
  if (location) lines.push(`  at        ${placeOf(location, cwd)}`);
  return lines;
}

/** `file:line` */
export function placeOf({ file, line }: { file: string; line?: number }, cwd: string): string {
  const path = shortPath(file, cwd);
  return line === undefined ? path : `${path}:${line}`;
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value instanceof RegExp) return String(value);
  const flat = JSON.stringify(value);
  const text = flat !== undefined && flat.length <= 80 ? flat : JSON.stringify(value, null, 2);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}... (${text.length} characters)` : text;
}

const indented = (text: string): string => text.replaceAll("\n", `\n${" ".repeat(12)}`);
