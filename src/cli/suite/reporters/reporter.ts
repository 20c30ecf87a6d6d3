import picocolors from "picocolors";
import type { GraphCoverage } from "../../../testing/coverage.js";
import type { CaseResult, Failure, SuiteResult } from "../../../testing/cases/result.js";
import { faultText, shortPath } from "../../session/report-error.js";
import type { Colors } from "../../terminal/print.js";

export const REPORTERS = ["list", "dot", "json", "junit", "github", "tap"] as const;
export type ReporterName = (typeof REPORTERS)[number];

/** Output options of a reporter. */
export interface Reporting {
  /** Writes text; complete lines end with a newline. */
  write: (text: string) => void;
  colors: Colors;
  cwd: string;
  /** Rewrites commands in a text to the way this program was called. */
  asCalled: (text: string) => string;
}

export interface SuiteReport extends SuiteResult {
  coverage?: { graphs: GraphCoverage[]; nodePercent: number };
  /** Failures of the whole suite, such as low coverage. */
  faults: string[];
}

/** Reports results as they arrive, and a summary at the end. */
export interface Reporter {
  caseEnded?(result: CaseResult): void;
  ended(report: SuiteReport): void;
}

// Formats a failed expectation: case, expectation, expected and actual values, file and line.

const LONGEST = 1_000;
const NO_COLORS = picocolors.createColors(false);

/** The lines of a failure, without colors. */
export function failureLines(
  { expectation, message, expected, actual, step, location, fault }: Failure,
  cwd: string,
): string[] {
  const place = step === undefined ? "" : `step ${step}, `;
  const lines = [`${place}${expectation}: ${message}`];
  if (expected !== undefined) lines.push(`  expected  ${indented(shown(expected))}`);
  if (actual !== undefined || expected !== undefined) lines.push(`  actual    ${indented(shown(actual))}`);
  if (location) lines.push(`  at        ${locationText(location, cwd)}`);
  if (fault)
    lines.push(
      ...faultText(fault, { colors: NO_COLORS, cwd })
        .split("\n")
        .map((line) => `  ${line}`),
    );
  return lines;
}

/** `file:line` */
export function locationText({ file, line }: { file: string; line?: number }, cwd: string): string {
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
