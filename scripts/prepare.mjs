// Script "prepare": builds the clone and links its command. npm also runs it at the first `npx graph-serve`, because
// it then links the clone into its own cache; what `npm ci` has built is not built again.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const BUILT = ["dist/cli/main.js", "dist/studio/index.html"];

const isBuilt = BUILT.every((file) => existsSync(join(ROOT, file)));
if (process.env.npm_command !== "exec" || !isBuilt) {
  execFileSync("npm", ["run", "build"], { cwd: ROOT, stdio: "inherit", shell: process.platform === "win32" });
  await import("./link-bin.mjs");
}
