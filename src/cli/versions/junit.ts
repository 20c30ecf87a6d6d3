/** JUnit reports with a suite for each graph. */
import { element, escapeXml } from "../suite/reporters/xml.js";

export interface GraphCase {
  graph_id: string | null;
  name: string;
  failure?: { type: string; message: string; text: string };
  /** Why the case was skipped; undefined if it was not. */
  skipped?: string;
}

export function junitByGraph(cases: readonly GraphCase[]): string {
  const ids = [...new Set(cases.map(({ graph_id }) => graph_id))];
  const suites = ids.map((id) => {
    const own = cases.filter(({ graph_id }) => graph_id === id);
    return element("testsuite", { name: id ?? "no graph", ...countsOf(own) }, own.map(testCase));
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element("testsuites", countsOf(cases), suites)}\n`;
}

const countsOf = (cases: readonly GraphCase[]) => ({
  tests: cases.length,
  failures: cases.filter(({ failure }) => failure).length,
  skipped: cases.filter(({ skipped }) => skipped !== undefined).length,
});

function testCase({ graph_id, name, failure, skipped }: GraphCase): string {
  const children: string[] = [];
  if (failure) {
    const { type, message, text } = failure;
    children.push(element("failure", { type, message }, [escapeXml(text)]));
  }
  if (skipped !== undefined) children.push(element("skipped", { message: skipped }, []));
  return element("testcase", { name, classname: graph_id ?? "no graph", time: "0.000" }, children);
}
