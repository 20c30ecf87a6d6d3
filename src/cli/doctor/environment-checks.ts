/** Checks of the process and its environment. */
import type { Variables } from "../../config/environment.js";
import { langsmithNotice, langsmithSwitches } from "../../tracing/langsmith.js";
import { isAtLeast } from "./version-range.js";
import { type Check, ok, warn } from "./check.js";

/** First release of Node.js that its project maintains. */
const FIRST_SUPPORTED = "22.0.0";

/** @param range the `engines` entry of our package, such as `>=20.19` */
export function nodeCheck(version: string, range: string): Check {
  const least = range.replace(/^\D+/, "");
  if (isAtLeast(version, FIRST_SUPPORTED)) return ok("node", `Node.js ${version}`);
  if (isAtLeast(version, least))
    return warn(
      "node",
      `Node.js ${version} has had no security fixes since April 2026, and a run takes 2.5 times as long as on Node.js 24`,
      "install Node.js 24",
    );
  return {
    check: "node",
    status: "fail",
    detail: `Node.js ${version} is too old`,
    fix: `install Node.js ${least} or later`,
  };
}

/** Reports enabled tracing, because it sends inputs and outputs of runs to another server. */
export function tracingCheck(env: Variables): Check {
  const notice = langsmithNotice(env);
  if (notice === undefined) return ok("tracing", "LangSmith tracing is off");
  const fix = `unset ${langsmithSwitches(env).join(" and ")} if this data must not leave this machine`;
  return warn("tracing", notice, fix);
}
