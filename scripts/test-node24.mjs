// Runs the quick tests on Node 24, which npm installs into a temporary folder.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installNode24 } from "./node24.mjs";

const ROOT = join(import.meta.dirname, "..");
const TEST_LIMIT_MS = 900_000;

const scratch = mkdtempSync(join(tmpdir(), "graph-serve-node24-"));
try {
  const installed = installNode24(scratch);
  if (installed !== undefined) process.exitCode = test(installed);
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}

function test({ node, env }) {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const { status } = spawnSync(node, [vitest, "run", "--project", "quick", ...process.argv.slice(2)], {
    ...{ cwd: ROOT, env, stdio: "inherit", timeout: TEST_LIMIT_MS },
  });
  return status ?? 1;
}
