/** Public surface of `graph-serve/testing`. */
export type { CaseFileSource, CaseSource, Expectation, Step } from "./cases/case-model.js";
export { publishedSchema } from "./cases/case-model.js";
export type { CaseResult, CaseStatus, Failure, SuiteResult } from "./cases/result.js";
export { runCases, type RunCasesOptions } from "./run-cases.js";
export type { SnapshotPolicy } from "./snapshot.js";
export type { RecordingMode, RecordingMode as TapeMode } from "./recording/recorder.js";
