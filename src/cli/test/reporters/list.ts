/** For people: a line a case as it ends, then what failed, then the sum. Also the one with dots. */
import { countOf, type CaseResult, type CaseStatus } from "../../../testing/result.js";
import { escapeControl } from "../../escape.js";
import { shortPath } from "../../report-error.js";
import { failureLines } from "../failure-text.js";
import type { Reporter, Reporting, SuiteReport } from "./reporter.js";

const MARKS: Record<CaseStatus, string> = { passed: "ok", failed: "FAIL", skipped: "skip", stopped: "stop" };
const DOTS: Record<CaseStatus, string> = { passed: ".", failed: "F", skipped: "-", stopped: "!" };

export function listReporter(reporting: Reporting): Reporter {
  let file = "";
  return {
    caseEnded(result) {
      if (result.file !== file) {
        file = result.file;
        reporting.write(`${escapeControl(shortPath(file, reporting.cwd))}\n`);
      }
      reporting.write(
        `${escapeControl(caseLine(result)).replace(/^ {2}(\w+)/, (_, mark: string) => `  ${painted(result.status, mark, reporting)}`)}\n`,
      );
    },
    ended: (report) => reporting.write(summary(report, reporting)),
  };
}

export function dotReporter(reporting: Reporting): Reporter {
  return {
    caseEnded: ({ status }) => reporting.write(painted(status, DOTS[status], reporting)),
    ended: (report) => reporting.write(`${report.cases.length > 0 ? "\n" : ""}${summary(report, reporting)}`),
  };
}

function painted(status: CaseStatus, text: string, { colors }: Reporting): string {
  return { passed: colors.green, failed: colors.red, skipped: colors.dim, stopped: colors.yellow }[status](
    text,
  );
}

function caseLine({ status, name, durationMs, tokens, note }: CaseResult): string {
  const facts = [
    ...(status === "skipped" ? [] : [`${Math.round(durationMs)} ms`]),
    ...(tokens > 0 ? [`${tokens} tokens`] : []),
    ...(note === undefined ? [] : [note]),
  ];
  return `  ${MARKS[status].padEnd(4)}  ${name}  ${facts.join(", ")}`.trimEnd();
}

/** What failed, what was not reached, and the numbers. */
function summary(report: SuiteReport, reporting: Reporting): string {
  const lines = report.cases
    .filter(({ status }) => status === "failed")
    .flatMap((result) => failedCase(result, reporting));
  const sum = Object.entries(countOf(report)).flatMap(([status, count]) =>
    count > 0 ? [`${count} ${status}`] : [],
  );
  lines.push(
    ...coverageLines(report),
    ...report.faults.map((fault) => `${reporting.colors.red("fail")}  ${fault}`),
  );
  if (report.stoppedBy !== undefined) lines.push(`stopped by ${report.stoppedBy}: this is what was done`);
  lines.push("", `${sum.join(", ") || "no cases"} in ${Math.round(report.durationMs)} ms`);
  return `${lines.join("\n")}\n`;
}

function failedCase(result: CaseResult, { cwd, colors }: Reporting): string[] {
  const title = `${shortPath(result.file, cwd)} > ${result.name}`;
  const path = result.nodes.length > 0 ? [`    nodes     ${result.nodes.join(" -> ")}`] : [];
  const failures = result.failures.flatMap((failure) => {
    const hint = failure === result.failures[0] ? result.fault?.hint : undefined;
    const frame = failure.location?.frame?.split("\n").map((line) => `    ${line}`) ?? [];
    return [
      ...failureLines(failure, cwd).map((line) => `  ${line.replaceAll("\n", "\n  ")}`),
      ...frame,
      ...(hint === undefined ? [] : [`    fix       ${hint}`]),
    ];
  });
  return ["", `${colors.red("FAIL")}  ${escapeControl(title)}`, ...[...failures, ...path].map(escapeControl)];
}

function coverageLines({ coverage }: SuiteReport): string[] {
  if (!coverage) return [];
  const lines = coverage.graphs.flatMap(({ graph, nodes, edges }) => [
    `  ${graph}  nodes ${nodes.reached}/${nodes.total}, conditional edges ${edges.reached}/${edges.total}`,
    ...(nodes.missing.length > 0 ? [`    never reached  ${nodes.missing.join(", ")}`] : []),
    ...(edges.missing.length > 0 ? [`    never taken    ${edges.missing.join(", ")}`] : []),
  ]);
  return ["", `coverage  ${Math.round(coverage.nodePercent)} % of the nodes`, ...lines];
}
