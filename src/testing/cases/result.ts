/** Results of cases. */
import type { SettingPath } from "../../config/document.js";
import type { GraphServeError } from "../../support/errors.js";
import type { SourceLocation } from "../../support/errors/codes.js";
import type { RunFault } from "../../support/run-fault.js";
import type { Bounds } from "./case-model.js";
import { boundsText, within } from "./matcher.js";

/**
 * One expectation that does not hold.
 * @example
 * ```ts
 * import { runCases, type Failure } from "graph-serve/testing";
 *
 * const { cases } = await runCases({ cwd: import.meta.dirname });
 * const failures: Failure[] = cases.flatMap((result) => result.failures);
 * failures.map(({ expectation, message }) => `${expectation}: ${message}`); // => []
 * ```
 */
export interface Failure {
  /** Number of the step, from 1; undefined if the case has only one. */
  step?: number;
  /** Such as `values.messages[-1].content match`. */
  expectation: string;
  /** One-line description. */
  message: string;
  /** The value of the case file. */
  expected?: unknown;
  /** The value of the run. */
  actual?: unknown;
  /** Location of the expectation in the case file. */
  location?: SourceLocation;
  /** Error of the run and its location; undefined if it did not fail, or the server does not report it. */
  fault?: RunFault;
}

/**
 * How a case ended; `stopped` if the command was stopped during the case.
 * @example
 * ```ts
 * import { runCases, type CaseStatus } from "graph-serve/testing";
 *
 * const accepted: CaseStatus[] = ["passed", "skipped"];
 * const { cases } = await runCases({ cwd: import.meta.dirname });
 * cases.every(({ status }) => accepted.includes(status)); // => true
 * ```
 */
export type CaseStatus = "passed" | "failed" | "skipped" | "stopped";

/**
 * The result of one case.
 * @example
 * ```ts
 * import { runCases, type CaseResult } from "graph-serve/testing";
 *
 * const describe = ({ name, status }: CaseResult) => `${name}: ${status}`;
 * const { cases } = await runCases({ cwd: import.meta.dirname });
 * cases.map(describe); // => ["greets by name: passed"]
 * ```
 */
export interface CaseResult {
  /** Absolute path of the case file, or the graph's source if there is no case file. */
  file: string;
  /** Name of the case. */
  name: string;
  /** Graph that the case ran. */
  graph: string;
  status: CaseStatus;
  /** Expectations that do not hold; empty for a case that passed. */
  failures: Failure[];
  /** Additional information, such as why it was skipped or that it passed on a retry. */
  note?: string;
  /** Duration in milliseconds, over all attempts. */
  durationMs: number;
  /** Number of attempts; more than 1 if the case was retried. */
  attempts: number;
  /** Executed nodes of all steps, in order. */
  nodes: string[];
  /** Number of tokens that models reported, over all steps. */
  tokens: number;
  /** Error of a graph that failed to load, or of an unavailable storage or server. */
  fault?: GraphServeError;
}

/**
 * The results of all cases.
 * @example
 * ```ts
 * import { runCases, type SuiteResult } from "graph-serve/testing";
 *
 * const suite: SuiteResult = await runCases({ cwd: import.meta.dirname });
 * suite.cases.filter(({ status }) => status === "failed").length; // => 0
 * ```
 */
export interface SuiteResult {
  /** One result per case, in the order of the files. */
  cases: CaseResult[];
  /** Duration of the suite in milliseconds. */
  durationMs: number;
  /** The signal that ended the suite early. */
  stoppedBy?: string;
}

/** Number of cases by status. */
export function countStatus({ cases }: Pick<SuiteResult, "cases">): Record<CaseStatus, number> {
  const counts = { passed: 0, failed: 0, skipped: 0, stopped: 0 };
  for (const { status } of cases) counts[status] += 1;
  return counts;
}

/** A failure and the path of its expectation in `expect`. */
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

/** Checks a number against limits. */
export function bounded(path: SettingPath, bounds: Bounds, actual: number, unit: string): Mismatch[] {
  if (within(actual, bounds)) return [];
  return [mismatch(path, `${actual} ${unit}, expected ${boundsText(bounds)}`, { expected: bounds, actual })];
}

export function pathText(path: SettingPath): string {
  return path.join(".");
}
