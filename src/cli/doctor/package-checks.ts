/** Checks of the packages used by graphs and server: LangGraph's, and those of the queue. */
import type { LoadedConfig } from "../../config/load.js";
import { engineNeed, loadOptional } from "../../support/optional-package.js";
import { duplicateCoreNotice, SHARED_PACKAGES, useLangGraphOf } from "../../support/user-langgraph.js";
import { isInRange } from "./version-range.js";
import { type Check, ok, warn, failure } from "./check.js";

/** Compares the versions installed for `folder` with the ranges of our package. */
export function packageChecks(folder: string, ranges: Readonly<Record<string, string>>): Check[] {
  const { versions } = useLangGraphOf(folder);
  return SHARED_PACKAGES.map((name): Check => {
    const { ours, theirs } = versions[name];
    const range = ranges[name];
    const version = theirs ?? ours;
    if (version === undefined) {
      return { check: name, status: "fail", detail: "not installed", fix: `npm install ${name}` };
    }
    if (range !== undefined && !isInRange(version, range)) {
      return {
        check: name,
        status: "fail",
        detail: `${version} is not supported: graph-serve requires ${range}`,
        fix: `npm install "${name}@${range}"`,
      };
    }
    if (theirs === undefined) {
      return warn(
        name,
        `not installed in the project: using graph-serve's ${version}`,
        `npm install ${name}`,
      );
    }
    return ok(name, ours === undefined || ours === theirs ? version : `${version} (graph-serve has ${ours})`);
  });
}

/** Two copies of @langchain/core have different classes, so `instanceof` checks fail for messages and commands. */
export function copiesCheck(graphFiles: readonly string[]): Check {
  const notice = graphFiles.map(duplicateCoreNotice).find((each) => each !== undefined);
  if (notice === undefined) return ok("one core", "graphs and server share one @langchain/core");
  const [detail = notice, fix = "npm dedupe @langchain/core"] = notice.split("; ");
  return warn("one core", detail, fix);
}

/** The package that a server with a queue loads from the project. */
export function queueChecks(
  { settings, baseDir }: LoadedConfig,
  ranges: Readonly<Record<string, string>>,
): Check[] {
  const { queue } = settings;
  if (queue === "none") return [];
  const range = ranges["pg-boss"] ?? "";
  try {
    const { version } = loadOptional<{ version: string }>("pg-boss/package.json", engineNeed(baseDir));
    if (isInRange(version, range)) return [ok("queue", `${queue}, on pg-boss ${version}`)];
    return [
      {
        check: "queue",
        status: "fail",
        detail: `pg-boss ${version} is not supported: graph-serve requires ${range}`,
        fix: `npm install "pg-boss@${range}"`,
      },
    ];
  } catch (error) {
    return [failure("queue", error, "npm install pg-boss@12")];
  }
}
