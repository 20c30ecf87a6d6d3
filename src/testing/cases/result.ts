/** What running cases gives. */
import type { SettingPath } from "../../config/document.js";
import type { GraphServeError, SourceLocation } from "../../support/errors.js";
import type { RunFault } from "../../support/run-fault.js";
import type { Bounds } from "./case-model.js";
import { boundsText, within } from "./matcher.js";

/** One expectation that does not hold. */
export interface Failure {
  /** Number of the step, from 1; undefined when the case has one. */
  step?: number;
  /** Such as `values.messages[-1].content match`. */
  expectation: string;
  /** What is wrong, in one line. */
  message: string;
  expected?: unknown;
  actual?: unknown;
  location?: SourceLocation;
  /** What the run threw, and where; undefined if it did not fail, or the server does not report it. */
  fault?: RunFault;
}

/** `stopped`: the command was stopped while the case ran. */
export type CaseStatus = "passed" | "failed" | "skipped" | "stopped";

export interface CaseResult {
  /** Absolute path of the case file, or the graph's source when there is none. */
  file: string;
  name: string;
  graph: string;
  status: CaseStatus;
  failures: Failure[];
  /** Why it was skipped, what was written, that it passed at the third attempt. */
  note?: string;
  durationMs: number;
  attempts: number;
  /** Nodes in the order they ran, over all steps. */
  nodes: string[];
  tokens: number;
  /** The fault of a graph that could not be loaded, or of a storage or server that could not be reached. */
  fault?: GraphServeError;
}

export interface SuiteResult {
  cases: CaseResult[];
  durationMs: number;
  /** The signal that ended the suite early. */
  stoppedBy?: string;
}

/** How many cases have each status. */
export function countStatus({ cases }: Pick<SuiteResult, "cases">): Record<CaseStatus, number> {
  const counts = { passed: 0, failed: 0, skipped: 0, stopped: 0 };
  for (const { status } of cases) counts[status] += 1;
  return counts;
}

// An expectation that a run does not meet.

/** A failure, and where its expectation stands inside of `expect`. */
export interface Mismatch extends Omit<Failure, "location" | "step"> {
  path: SettingPath;
}

export function mismatch(
  path: SettingPath,
  message: string,
  values: { expected?: unknown; actual?: unknown } = {},
): Mismatch {
  return { path, expectation: pathText(path), message, ...values };
}

/** A number that must keep within bounds. */
export function bounded(path: SettingPath, bounds: Bounds, actual: number, unit: string): Mismatch[] {
  if (within(actual, bounds)) return [];
  return [mismatch(path, `${actual} ${unit}, expected ${boundsText(bounds)}`, { expected: bounds, actual })];
}

export function pathText(path: SettingPath): string {
  return path.join(".");
}
