// Prints "N passed, N failed" from a JSON report of vitest; a file that did not load counts as one failure.
import { readFileSync } from "node:fs";

const text = readFileSync(process.argv[2], "utf8");
const report = text === "" ? { numPassedTests: 0, numFailedTests: 0, testResults: [] } : JSON.parse(text);
const unloaded = report.testResults.filter(
  ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
);
process.stdout.write(`${report.numPassedTests} passed, ${report.numFailedTests + unloaded.length} failed\n`);
