// Runs the tests of clients, storages and the service with the newest supported line of LangGraph, pinned in
// test/newest, in a separate folder. Packages that test/newest does not list come from this checkout. With --node24, they
// run on Node 24 if it can be installed.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installNode24 } from "./node24.mjs";

const ROOT = join(import.meta.dirname, "..");
const NEWEST = "test/newest";
const TREE = [
  "src",
  "studio",
  "scripts",
  "test",
  "docs",
  "README.md",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
];
const TESTS = [
  "test/clients",
  "test/graphs/placeholder-graph.test.ts",
  "test/http/inner-breakpoints.test.ts",
  "test/http/no-leaks.slow.test.ts",
  "test/http/service.test.ts",
  "test/http/strict-resume.test.ts",
  "test/http/thread-events.test.ts",
  ...["memory", "sqlite", "postgres", "mongodb", "redis"].map((scheme) => `test/storage/${scheme}.test.ts`),
];
/** Slow client tests are skipped: they cut connections and fill memory, which does not depend on the release. */
const PROJECTS = [
  ...["quick", "isolated", "slow"].map((name) => `--project=${name}`),
  "--exclude=test/clients/*.slow.test.ts",
];
const INSTALL_LIMIT_MS = 300_000;
const TEST_LIMIT_MS = 900_000;

const manifest = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const { dependencies: newest } = manifest(join(ROOT, NEWEST));

const scratch = mkdtempSync(join(tmpdir(), "graph-serve-newest-"));
try {
  process.exitCode = test(install());
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}

/** Copies the tree and installs the newest line; all other packages are found in the parent folder. */
function install() {
  const tree = join(scratch, "tree");
  mkdirSync(tree);
  symlinkSync(join(ROOT, "node_modules"), join(scratch, "node_modules"), "junction");
  for (const name of TREE) cpSync(join(ROOT, name), join(tree, name), { recursive: true });
  const folder = join(tree, NEWEST);
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
  const { status } = run("npm", ["ci", ...flags], folder, INSTALL_LIMIT_MS);
  if (status !== 0) throw new Error(`installing the newest line of LangGraph failed (${status})`);
  const packages = join(tree, "node_modules");
  renameSync(join(folder, "node_modules"), packages);
  for (const name of ownPackages()) rmSync(join(packages, name), { recursive: true, force: true });
  return tree;
}

/** Packages of this checkout that the newest line also installs but does not list. */
function ownPackages() {
  const { dependencies, devDependencies, optionalDependencies } = manifest(ROOT);
  const names = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  return names.filter((name) => !Object.hasOwn(newest, name));
}

function test(tree) {
  for (const [name, wanted] of Object.entries(newest)) {
    const { version } = manifest(join(tree, "node_modules", name));
    if (version !== wanted) throw new Error(`${name} is ${version}, not ${wanted}`);
    process.stdout.write(`${name} ${version}\n`);
  }
  const wanted = process.argv.includes("--node24") ? installNode24(join(scratch, "node24")) : undefined;
  const { node, env } = wanted ?? { node: process.execPath, env: process.env };
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  return run(node, [vitest, "run", ...PROJECTS, ...TESTS], tree, TEST_LIMIT_MS, env).status ?? 1;
}

function run(command, args, cwd, timeout, env) {
  return spawnSync(command, args, { cwd, timeout, env, stdio: "inherit" });
}
