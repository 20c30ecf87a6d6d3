// Prints "N passed, N failed" from JSON reports of vitest; a file that did not load counts as one failure.
import { existsSync, readFileSync } from "node:fs";

const totals = { passed: 0, failed: 0 };
for (const file of process.argv.slice(2)) {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  if (text === "") continue;
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(text);
  const unloaded = testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  );
  totals.passed += numPassedTests;
  totals.failed += numFailedTests + unloaded.length;
}
process.stdout.write(`${totals.passed} passed, ${totals.failed} failed\n`);
