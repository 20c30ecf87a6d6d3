/** JUnit report of `versions check`: a suite for each graph, a case for each thread. */
import type { ThreadCheck } from "../../models/version.js";
import { element, escapeXml } from "../suite/reporters/junit.js";

/** @param isStrict threads that were not checked fail instead of being skipped */
export function junitOfVersions(checks: readonly ThreadCheck[], isStrict: boolean): string {
  const ids = [...new Set(checks.map(({ graph_id }) => graph_id))];
  const suites = ids.map((id) => {
    const own = checks.filter(({ graph_id }) => graph_id === id);
    return element(
      "testsuite",
      { name: id ?? "no graph", ...countsOf(own, isStrict) },
      own.map(caseOf(isStrict)),
    );
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element("testsuites", countsOf(checks, isStrict), suites)}\n`;
}

function countsOf(checks: readonly ThreadCheck[], isStrict: boolean) {
  const unchecked = checks.filter((check) => check.unchecked !== null).length;
  const failed = checks.filter(({ problems }) => problems.length > 0).length;
  return {
    tests: checks.length,
    failures: failed + (isStrict ? unchecked : 0),
    skipped: isStrict ? 0 : unchecked,
  };
}

const caseOf =
  (isStrict: boolean) =>
  ({ thread_id, graph_id, problems, unchecked }: ThreadCheck): string => {
    const [first] = problems;
    const children = [
      ...(first
        ? [failure(first.kind, first.message, problems.map(({ message }) => message).join("\n"))]
        : []),
      ...(unchecked === null
        ? []
        : [isStrict ? failure("unchecked", unchecked, "") : element("skipped", { message: unchecked }, [])]),
    ];
    return element(
      "testcase",
      { name: thread_id, classname: graph_id ?? "no graph", time: "0.000" },
      children,
    );
  };

const failure = (type: string, message: string, text: string): string =>
  element("failure", { type, message }, [escapeXml(text)]);
