/** Checks of the LangGraph packages that graphs and server meet. */
import { duplicateCoreNotice, SHARED_PACKAGES, useLangGraphOf } from "../../user-langgraph.js";
import { ok, warn, type Check } from "./check.js";
import { isInCaret } from "./versions.js";

/** Versions as seen from `folder`, against the ranges of our package. */
export function packageChecks(folder: string, ranges: Readonly<Record<string, string>>): Check[] {
  const { versions } = useLangGraphOf(folder);
  return SHARED_PACKAGES.map((name): Check => {
    const { ours, theirs } = versions[name];
    const range = ranges[name];
    const version = theirs ?? ours;
    if (version === undefined) {
      return { check: name, status: "fail", detail: "is not installed", fix: `npm install ${name}` };
    }
    if (range !== undefined && !isInCaret(version, range)) {
      return {
        check: name,
        status: "fail",
        detail: `${version} does not fit: graph-serve needs ${range}`,
        fix: `npm install ${name}@${range}`,
      };
    }
    if (theirs === undefined) {
      return warn(name, `the project has none: graph-serve's own ${version} is used`, `npm install ${name}`);
    }
    return ok(name, ours === undefined || ours === theirs ? version : `${version} (graph-serve has ${ours})`);
  });
}

/** Two copies of one package are two sets of classes: messages and commands of one are unknown to the other. */
export function copiesCheck(graphFiles: readonly string[]): Check {
  const notice = graphFiles.map(duplicateCoreNotice).find((each) => each !== undefined);
  if (notice === undefined) return ok("one core", "graphs and server share one @langchain/core");
  const [detail = notice, fix = "npm dedupe @langchain/core"] = notice.split("; ");
  return warn("one core", detail, fix);
}
