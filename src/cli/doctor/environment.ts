/** Checks of the process and of what it is told by its environment. */
import type { Variables } from "../../config/expand.js";
import { ok, warn, type Check } from "./check.js";
import { isAtLeast } from "./versions.js";

const TRACING = ["LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGCHAIN_TRACING"];

/** `range` is the `engines` entry of our package: `>=20.19`. */
export function nodeCheck(version: string, range: string): Check {
  const least = range.replace(/^\D+/, "");
  if (isAtLeast(version, least)) return ok("node", `Node.js ${version}`);
  return {
    check: "node",
    status: "fail",
    detail: `Node.js ${version} is too old`,
    fix: `install Node.js ${least} or later`,
  };
}

/** Tracing sends what runs are given and answer to a server elsewhere: whoever has it on should know. */
export function tracingCheck(env: Variables): Check {
  const on = TRACING.filter((name) => /^(true|1)$/i.test(env[name]?.trim() ?? ""));
  if (on.length === 0) return ok("tracing", "LangSmith tracing is off");
  return warn(
    "tracing",
    `${on.join(" and ")} is on: inputs and outputs of every run are sent to LangSmith`,
    `unset ${on.join(" and ")}, if they are not meant to leave this machine`,
  );
}
