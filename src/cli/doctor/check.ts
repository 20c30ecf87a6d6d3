import type { Variables } from "../../config/environment.js";
import type { LoadedConfig } from "../../config/load.js";
import type { Service } from "../../service/service.js";
import { errorMessage, GraphServeError, StorageUnavailableError } from "../../support/errors.js";
import { duplicateCoreNotice, SHARED_PACKAGES, useLangGraphOf } from "../../support/user-langgraph.js";
import { type DevConfig, onlyGraph, openConfigured, openStorageOf } from "../session/open.js";
import { describeGraph } from "../terminal/text.js";

export type CheckStatus = "ok" | "warn" | "fail";

/** A line of `doctor`. */
export interface Check {
  check: string;
  status: CheckStatus;
  detail: string;
  /** How to put it right; always there unless the status is ok. */
  fix?: string;
}

export const ok = (check: string, detail: string): Check => ({ check, status: "ok", detail });

export const warn = (check: string, detail: string, fix: string): Check => ({
  check,
  status: "warn",
  detail,
  fix,
});

/** What an error says, with the fix that it knows. */
export function failure(check: string, error: unknown, fallback: string): Check {
  const hint = error instanceof GraphServeError ? error.hint : undefined;
  return { check, status: "fail", detail: errorMessage(error), fix: hint ?? fallback };
}

// Checks of the process and its environment.

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

/** Tracing sends inputs and outputs of runs to another server, so the operator should know that it is on. */
export function tracingCheck(env: Variables): Check {
  const on = TRACING.filter((name) => /^(true|1)$/i.test(env[name]?.trim() ?? ""));
  if (on.length === 0) return ok("tracing", "LangSmith tracing is off");
  return warn(
    "tracing",
    `${on.join(" and ")} is on: inputs and outputs of every run are sent to LangSmith`,
    `unset ${on.join(" and ")}, if they are not meant to leave this machine`,
  );
}

// Loads each graph for itself, so that every fault is seen at once.

export async function graphChecks(config: LoadedConfig): Promise<Check[]> {
  const ids = Object.keys(config.settings.graphs);
  if (ids.length === 0) {
    return [warn("graphs", "no graph is configured", "name one in `graphs`, or: graph-serve init my-agent")];
  }
  const checks: Check[] = [];
  for (const id of ids) checks.push(...(await graphCheck(config, id)));
  return checks;
}

async function graphCheck(config: LoadedConfig, id: string): Promise<Check[]> {
  const name = `graph ${id}`;
  try {
    const service = await openConfigured(onlyGraph(config, id));
    try {
      const [summary] = await service.graphs();
      const notices = service.notices.filter((notice) => !notice.startsWith("two copies of"));
      return [
        ok(name, summary ? describeGraph(summary) : id),
        ...notices.map((notice) => warn(name, notice, fixOf(notice))),
      ];
    } finally {
      await service.close(0);
    }
  } catch (error) {
    return [failure(name, error, "see graph-serve validate --verbose")];
  }
}

function fixOf(notice: string): string {
  if (notice.includes("its own checkpointer")) return "compile it without a checkpointer";
  if (notice.includes("was not compiled")) return "export builder.compile()";
  return "see graph-serve validate";
}

// Checks of the LangGraph packages that graphs and server meet.

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
    if (range !== undefined && !isInRange(version, range)) {
      return {
        check: name,
        status: "fail",
        detail: `${version} does not fit: graph-serve needs ${range}`,
        fix: `npm install "${name}@${range}"`,
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

// Checks of the storage: reachable, set up well, and nothing left behind by a server that died.

export async function storageChecks(config: DevConfig): Promise<Check[]> {
  const { checkpointer_scheme: scheme } = config.settings;
  if (config.notKept)
    return [
      warn("storage", `${config.notKept.message}: threads end with the server`, config.notKept.hint ?? ""),
    ];
  if (scheme === "memory") return [ok("storage", "memory: threads end with the server")];
  try {
    const service = await openStorageOf(config, "read");
    try {
      return await look(service);
    } finally {
      await service.close(0);
    }
  } catch (error) {
    if (isNotMadeYet(error)) return [ok("storage", `${scheme}: not created yet, the first run creates it`)];
    return [failure("storage", error, "check checkpointer_scheme and checkpointer_uri")];
  }
}

async function look(service: Service): Promise<Check[]> {
  const { scheme, location } = service.storage;
  const findings = (await service.storageFindings()).map(({ name, ok: isOk, detail, fix = "" }) =>
    isOk ? ok(name, detail) : warn(name, detail, fix),
  );
  const stale = await service.cutOffRuns();
  const attempts = await Promise.all(
    stale.map(async ({ thread_id, run_id }) => (await service.runs.get(thread_id, run_id)).attempt),
  );
  return [
    ok("storage", location === undefined ? scheme : `${scheme} ${location}`),
    ...findings,
    stale.length === 0
      ? ok("stale runs", "none")
      : warn(
          "stale runs",
          `${stale.length} left unfinished by a server that no longer lives, at attempt ${[...new Set(attempts)].sort().join(", ")}`,
          "start a server to resume the ones it can, or end them with graph-serve recover --apply",
        ),
  ];
}

/** A file that no run has created yet is not a problem. */
function isNotMadeYet(error: unknown): boolean {
  return error instanceof StorageUnavailableError && errorMessage(error).startsWith("there is no database");
}

/** Just enough of version numbers for the ranges that our package.json has. */
function numbers(version: string): number[] {
  const [core = ""] = version.replace(/^[^\d]*/, "").split(/[-+]/);
  return core.split(".").map(Number);
}

function isAtLeast(version: string, least: string): boolean {
  const [ours, theirs] = [numbers(version), numbers(least)];
  for (let index = 0; index < 3; index += 1) {
    const difference = (ours[index] ?? 0) - (theirs[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** Whether a version is in a range such as `^1.4.0` or `>=0.4 <2`. */
export function isInRange(version: string, range: string): boolean {
  const [least = "", below] = range.split(" ");
  const isBelow = below ? !isAtLeast(version, below) : numbers(version)[0] === numbers(least)[0];
  return isAtLeast(version, least) && isBelow;
}
