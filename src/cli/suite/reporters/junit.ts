/** JUnit XML: one suite per case file, with failures and, as output, the executed nodes. */
import type { CaseResult } from "../../../testing/cases/result.js";
import { shortPath } from "../../session/report-error.js";
import { element, escapeXml } from "./xml.js";
import { failureLines, type Reporter, type Reporting } from "./reporter.js";

export function junitReporter({ write, cwd }: Reporting): Reporter {
  return {
    ended({ cases, durationMs, faults }) {
      const files = [...new Set(cases.map(({ file }) => file))];
      const suites = files.map((file) =>
        suite(
          shortPath(file, cwd),
          cases.filter((one) => one.file === file),
          cwd,
        ),
      );
      if (faults.length > 0) suites.push(faultSuite(faults));
      const totals = { ...countsOf(cases), time: seconds(durationMs) };
      totals.tests += faults.length;
      totals.failures += faults.length;
      write(`<?xml version="1.0" encoding="UTF-8"?>\n${element("testsuites", totals, suites)}\n`);
    },
  };
}

function suite(name: string, cases: CaseResult[], cwd: string): string {
  const time = seconds(cases.reduce((sum, { durationMs }) => sum + durationMs, 0));
  const counts = { name, ...countsOf(cases), skipped: cases.filter(isSkipped).length, time };
  return element(
    "testsuite",
    counts,
    cases.map((one) => testCase(one, name, cwd)),
  );
}

const isSkipped = ({ status }: CaseResult): boolean => status === "skipped" || status === "stopped";

function countsOf(cases: readonly CaseResult[]) {
  return {
    tests: cases.length,
    failures: cases.filter(({ status, fault }) => status === "failed" && !fault).length,
    errors: cases.filter(({ status, fault }) => status === "failed" && fault).length,
  };
}

function testCase(result: CaseResult, suiteName: string, cwd: string): string {
  const { name, durationMs, failures, nodes, fault, note } = result;
  const children: string[] = [];
  if (isSkipped(result)) children.push(element("skipped", { message: note ?? result.status }, []));
  const [first, ...more] = failures;
  if (first) {
    // JUnit readers expect one failure per case; its text contains all of them.
    const message = more.length > 0 ? `${first.message} (and ${more.length} more)` : first.message;
    const text = failures.map((failure) => failureLines(failure, cwd).join("\n")).join("\n\n");
    const type = fault ? fault.code : first.expectation;
    children.push(element(fault ? "error" : "failure", { message, type }, [escapeXml(text)]));
  }
  if (nodes.length > 0) children.push(element("system-out", {}, [escapeXml(nodes.join(" -> "))]));
  return element("testcase", { name, classname: suiteName, time: seconds(durationMs) }, children);
}

/** Failures of the whole suite, such as low coverage, as a separate suite, so that the report does not look passed. */
function faultSuite(faults: readonly string[]): string {
  const cases = faults.map((message) =>
    element("testcase", { name: message, classname: "suite", time: "0.000" }, [
      element("failure", { message, type: "suite" }, [escapeXml(message)]),
    ]),
  );
  const counts = {
    name: "suite",
    tests: faults.length,
    failures: faults.length,
    errors: 0,
    skipped: 0,
    time: "0.000",
  };
  return element("testsuite", counts, cases);
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);
