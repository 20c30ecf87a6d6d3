import type { CaseResult, SuiteResult } from "../../../testing/result.js";
import type { GraphCoverage } from "../../../testing/coverage.js";
import type { Colors } from "../../colors.js";

export const REPORTERS = ["list", "dot", "json", "junit", "github", "tap"] as const;
export type ReporterName = (typeof REPORTERS)[number];

/** What a reporter has besides the results. */
export interface Reporting {
  /** Takes text; whole lines end with a newline. */
  write: (text: string) => void;
  colors: Colors;
  cwd: string;
}

export interface SuiteReport extends SuiteResult {
  coverage?: { graphs: GraphCoverage[]; nodePercent: number };
  /** What the suite has to say beside its cases, such as a coverage that is too low. */
  faults: string[];
}

/** Tells of results as they come, and of all of them at the end. */
export interface Reporter {
  caseEnded?(result: CaseResult): void;
  ended(report: SuiteReport): void;
}
