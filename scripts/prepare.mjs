// Script "prepare": builds the clone and links its command. npm also runs it at the first `npx graph-serve`, which links
// the clone into npm's cache, and when a project that depends on the clone is installed. What `npm ci` has built is not
// built again then.
import { execFileSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const BUILT = ["dist/cli/main.js", "dist/studio/index.html"];

const { npm_command: command, npm_config_local_prefix: project = ROOT } = process.env;
const isBuilt = BUILT.every((file) => existsSync(join(ROOT, file)));
const isAsked = command !== "exec" && realpathSync(project) === realpathSync(ROOT);
if (isAsked || !isBuilt) {
  execFileSync("npm", ["run", "build"], { cwd: ROOT, stdio: "inherit", shell: process.platform === "win32" });
  await import("./link-bin.mjs");
}
