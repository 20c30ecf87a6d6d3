/**
 * Stores pictures of all screens of the Studio, for their test and for the documentation: `npm run pictures`. Full-size
 * pictures are in dist-pictures.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
const test = ["run", "test/studio/pictures.test.ts", "--project", "browser"];
const env = {
  ...process.env,
  GRAPH_SERVE_PICTURES: "write",
  GRAPH_SERVE_SHOTS: process.env.GRAPH_SERVE_SHOTS ?? join(ROOT, "dist-pictures"),
};
const { status } = spawnSync(process.execPath, [vitest, ...test, ...process.argv.slice(2)], {
  ...{ cwd: ROOT, env, stdio: "inherit" },
});
process.exitCode = status ?? 1;
