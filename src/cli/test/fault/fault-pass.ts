/** `test --fault`: proves that graphs are safe to stop and to go on. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoadedConfig } from "../../../config/load.js";
import type { CaseResult } from "../../../testing/result.js";
import type { PlannedCase } from "../../../testing/run-suite.js";
import type { Session } from "../../session.js";
import type { SuiteReport } from "../reporters/reporter.js";
import { runWithFault, type FaultOutcome } from "./fault-case.js";
import { parseFault } from "./parse.js";

interface FaultPassOptions {
  fault: string;
  timeoutSeconds: number;
  signal: AbortSignal;
  onResult: (result: CaseResult) => void;
}

/** @throws InvalidRequestError for an unknown fault (`invalid_request`) */
export async function faultPass(
  session: Session,
  config: LoadedConfig,
  planned: readonly PlannedCase[],
  { fault: text, timeoutSeconds, signal, onResult }: FaultPassOptions,
): Promise<SuiteReport> {
  const fault = parseFault(text);
  const results: CaseResult[] = [];
  const began = performance.now();
  const root = await mkdtemp(join(tmpdir(), "graph-serve-fault-"));
  try {
    for (const [index, plan] of planned.entries()) {
      if (signal.aborted) break;
      const start = performance.now();
      const why = whySkipped(plan);
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]);
      const folder = await mkdtemp(join(root, `${index}-`));
      const outcome =
        why === undefined
          ? await runWithFault(plan, { session, config, fault, folder, signal: limit })
          : { failures: [], note: why };
      const result = resultOf(plan, outcome, why === undefined, performance.now() - start);
      if (limit.aborted && !signal.aborted) addTimeout(result, plan, timeoutSeconds);
      results.push(result);
      onResult(result);
    }
    return reportOf(results, text, performance.now() - began, signal);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function reportOf(cases: CaseResult[], fault: string, durationMs: number, signal: AbortSignal): SuiteReport {
  const isShown = signal.aborted || cases.some(({ status }) => status !== "skipped");
  return {
    cases,
    durationMs,
    faults: isShown ? [] : [`no case was broken at ${fault}: none reached it`],
    ...(signal.aborted && { stoppedBy: String(signal.reason) }),
  };
}

function whySkipped({ file, one }: PlannedCase): string | undefined {
  if (one.skip) return "skip";
  if (file.source.mock !== undefined) return "a broken run asks twice, which a recording has no answer to";
  return one.steps[0]?.input === undefined ? "it does not begin with an input" : undefined;
}

function resultOf(
  { file, one }: PlannedCase,
  { missed, ...outcome }: FaultOutcome,
  ran: boolean,
  durationMs: number,
): CaseResult {
  return {
    file: file.file,
    name: one.name,
    graph: file.source.graph ?? "",
    status: !ran || missed ? "skipped" : outcome.failures.length > 0 ? "failed" : "passed",
    durationMs,
    attempts: 1,
    nodes: [],
    tokens: 0,
    ...outcome,
  };
}

function addTimeout(result: CaseResult, { one }: PlannedCase, seconds: number): void {
  result.status = "failed";
  result.failures = [
    { expectation: "timeout", message: `the case did not end within ${seconds} s`, location: one.location },
  ];
}
