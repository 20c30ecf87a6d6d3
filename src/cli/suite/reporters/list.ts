/** The `list` and `dot` reporters: one line or dot per case, then failures and totals. Also github, json and tap. */
import { type CaseResult, type CaseStatus, countStatus } from "../../../testing/cases/result.js";
import { escapeControl } from "../../../view/text.js";
import { errorDocument, shortPath } from "../../session/report-error.js";
import { failureLines, locationText, type Reporter, type Reporting, type SuiteReport } from "./reporter.js";

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

/** Failures, coverage and totals. */
function summary(report: SuiteReport, reporting: Reporting): string {
  const lines = report.cases
    .filter(({ status }) => status === "failed")
    .flatMap((result) => failedCase(result, reporting));
  const sum = Object.entries(countStatus(report)).flatMap(([status, count]) =>
    count > 0 ? [`${count} ${status}`] : [],
  );
  lines.push(
    ...coverageLines(report),
    ...report.faults.map((fault) => `${reporting.colors.red("fail")}  ${fault}`),
  );
  if (report.stoppedBy !== undefined)
    lines.push(`stopped by ${report.stoppedBy}: these are the results so far`);
  lines.push("", `${sum.join(", ") || "no cases"} in ${Math.round(report.durationMs)} ms`);
  return `${lines.join("\n")}\n`;
}

function failedCase(result: CaseResult, { cwd, colors, asCalled }: Reporting): string[] {
  const title = `${shortPath(result.file, cwd)} > ${result.name}`;
  const path = result.nodes.length > 0 ? [`    nodes     ${result.nodes.join(" -> ")}`] : [];
  const failures = result.failures.flatMap((failure) => {
    const hint = failure === result.failures[0] ? result.fault?.hint : undefined;
    const frame = failure.location?.frame?.split("\n").map((line) => `    ${line}`) ?? [];
    return [
      ...failureLines(failure, cwd).map((line) => `  ${line.replaceAll("\n", "\n  ")}`),
      ...frame,
      ...(hint === undefined ? [] : [`    fix       ${asCalled(hint)}`]),
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

// GitHub Actions annotations: each failure is shown at its line in the pull request.

export function githubReporter(reporting: Reporting): Reporter {
  const list = listReporter(reporting);
  const { write, cwd } = reporting;
  return {
    caseEnded: (result) => list.caseEnded?.(result),
    ended(report) {
      list.ended(report);
      for (const { name, failures, file } of report.cases) {
        for (const failure of failures) {
          const { file: place = file, line } = failure.location ?? {};
          const properties = {
            file: shortPath(place, cwd),
            ...(line !== undefined && { line: String(line) }),
            title: name,
          };
          write(command("error", properties, failureLines(failure, cwd).join("\n")));
        }
      }
      for (const fault of report.faults) write(command("error", {}, fault));
    },
  };
}

function command(name: string, properties: Record<string, string>, text: string): string {
  const texts = Object.entries(properties).map(
    ([key, value]) => `${key}=${data(value).replaceAll(":", "%3A").replaceAll(",", "%2C")}`,
  );
  return `::${name}${texts.length > 0 ? ` ${texts.join(",")}` : ""}::${data(text)}\n`;
}

const data = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");

/** One JSON document with all results. */
export function jsonReporter({ write }: Reporting): Reporter {
  return {
    ended({ cases, durationMs, stoppedBy, coverage, faults }) {
      const items = cases.map(({ fault, failures, ...result }) => ({
        ...result,
        durationMs: Math.round(result.durationMs),
        failures: failures.map(({ location, ...failure }) => ({
          ...failure,
          ...(location && { file: location.file, line: location.line }),
        })),
        ...(fault && errorDocument(fault)),
      }));
      const document = {
        summary: {
          ...countStatus({ cases }),
          durationMs: Math.round(durationMs),
          stoppedBy: stoppedBy ?? null,
        },
        cases: items,
        ...(coverage && { coverage }),
        faults,
      };
      write(`${JSON.stringify(document, null, 2)}\n`);
    },
  };
}

export function tapReporter({ write, cwd }: Reporting): Reporter {
  let count = 0;
  const title = ({ file, name }: CaseResult) =>
    `${shortPath(file, cwd)} > ${name}`
      .replace(/[\r\n]+/g, " ")
      .replaceAll("\\", "\\\\")
      .replaceAll("#", "\\#");
  const line = (ok: boolean, text: string, rest = "") => {
    if (count === 0) write("TAP version 14\n");
    count += 1;
    write(`${ok ? "ok" : "not ok"} ${count} - ${text}${rest}\n`);
  };
  return {
    caseEnded(result) {
      const { status, note, failures } = result;
      const skip = status === "skipped" || status === "stopped" ? ` # SKIP ${note ?? status}` : "";
      line(status !== "failed", title(result), skip);
      if (failures.length > 0) write(diagnostics(result, cwd));
    },
    ended({ faults, stoppedBy }) {
      for (const fault of faults) line(false, fault);
      if (count === 0) write("TAP version 14\n");
      write(stoppedBy === undefined ? `1..${count}\n` : `Bail out! stopped by ${stoppedBy}\n`);
    },
  };
}

/** A YAML block; JSON is valid YAML. */
function diagnostics({ failures, nodes }: CaseResult, cwd: string): string {
  const shown = failures.map(({ location, ...failure }) => ({
    ...failure,
    ...(location && { at: locationText(location, cwd) }),
  }));
  return `  ---\n  ${JSON.stringify({ failures: shown, nodes })}\n  ...\n`;
}
