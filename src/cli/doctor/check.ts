import type { Variables } from "../../config/environment.js";
import type { LoadedConfig } from "../../config/load.js";
import type { Service } from "../../service/service.js";
import { GraphServeError, StorageUnavailableError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";
import { silentLogger } from "../../support/log.js";
import { engineNeed, loadOptional } from "../../support/optional-package.js";
import { langsmithNotice, langsmithSwitches } from "../../tracing/langsmith.js";
import { duplicateCoreNotice, SHARED_PACKAGES, useLangGraphOf } from "../../support/user-langgraph.js";
import { configuredStorage } from "../migrate/sides.js";
import { type DevConfig, onlyGraph, openConfigured, openStorageOf } from "../session/open.js";
import { describeGraph } from "../terminal/text.js";

export type CheckStatus = "ok" | "warn" | "fail";

/** A result of `doctor` and `validate`. */
export interface Check {
  check: string;
  status: CheckStatus;
  detail: string;
  /** How to fix it; set unless the status is ok. */
  fix?: string;
  /** The error of a failed check. */
  cause?: unknown;
}

export const ok = (check: string, detail: string): Check => ({ check, status: "ok", detail });

export const warn = (check: string, detail: string, fix: string): Check => ({
  check,
  status: "warn",
  detail,
  fix,
});

/** A failed check from an error, with the error's hint as its fix. */
export function failure(check: string, error: unknown, fallback: string): Check {
  const hint = error instanceof GraphServeError ? error.hint : undefined;
  return { check, status: "fail", detail: errorMessage(error), fix: hint ?? fallback, cause: error };
}

// Checks of the process and its environment.

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

// Loads each graph separately, to report all errors together.

export async function graphChecks(config: LoadedConfig): Promise<Check[]> {
  const checks: Check[] = [];
  for (const id of Object.keys(config.settings.graphs)) checks.push(...(await graphCheck(config, id)));
  return checks;
}

async function graphCheck(config: LoadedConfig, id: string): Promise<Check[]> {
  const name = `graph ${id}`;
  try {
    // Without runs: what they need, such as the packages of traces, has its own check.
    const options = { mode: "read", standIns: false } as const;
    const service = await openConfigured(onlyGraph(config, id), undefined, options);
    try {
      const [summary] = await service.graphs();
      const schemas = Object.entries(await service.assistants.schemas(id)).flatMap(([field, schema]) =>
        field.endsWith("_schema") && schema ? [field.replace("_schema", "")] : [],
      );
      const notices = service.notices.filter((notice) => !notice.startsWith("two copies of"));
      return [
        ok(name, `${summary ? describeGraph(summary) : id}, schemas ${schemas.join(" ") || "none"}`),
        ...notices.map((notice) => warn(name, notice, fixOf(notice))),
      ];
    } finally {
      await service.close(0);
    }
  } catch (error) {
    return [failure(name, error, "see graph-serve validate --verbose")];
  }
}

/** Loads the optional packages of settings, without which a server does not start. */
export async function optionalChecks({ settings, baseDir: cwd }: LoadedConfig): Promise<Check[]> {
  const loads = {
    a2a: async () => (await import("../../support/a2a-sdk.js")).loadA2aSdk(cwd),
    mcp: async () => (await import("../../support/mcp-sdk.js")).loadMcpSdk(cwd),
    metrics: async () => loadOptional("prom-client", { cwd, setting: "metrics" }),
  };
  const checks: Check[] = [];
  for (const name of ["a2a", "mcp", "metrics"] as const)
    if (settings[name])
      checks.push(
        await loads[name]().then(
          () => ok(name, "its package is installed"),
          (error: unknown) => failure(name, error, `install its package, or turn ${name} off`),
        ),
      );
  return checks;
}

/** Loads the packages of OpenTelemetry if the environment names a collector: no run starts without them. */
export async function collectorCheck(cwd: string, env: Variables): Promise<Check[]> {
  const { isDisabled, loadSdk, variableOf } = await import("../../tracing/provider.js");
  const variable = isDisabled(env) ? undefined : variableOf(env);
  if (variable === undefined) return [];
  try {
    loadSdk(cwd, env, variable);
    return [ok("traces", `exported to ${variable}`)];
  } catch (error) {
    return [failure("traces", error, "install the packages of OpenTelemetry, or remove the variable")];
  }
}

/** Loads the function or the object of the setting `auth`. */
export async function authCheck({ settings, baseDir: cwd }: LoadedConfig): Promise<Check[]> {
  const { auth, auth_timeout_seconds: timeoutSeconds } = settings;
  if (auth === undefined) return [];
  try {
    const { AuthHook } = await import("../../service/auth-hook.js");
    await AuthHook.open(auth, { cwd, timeoutSeconds }, silentLogger);
    return [ok("auth", auth)];
  } catch (error) {
    return [failure("auth", error, "name a file and an export that authenticates requests")];
  }
}

/** Loads the app of the setting `http_app`. */
export async function appCheck({ settings: { http_app }, baseDir }: LoadedConfig): Promise<Check[]> {
  if (http_app === undefined) return [];
  try {
    const { HttpAppHook } = await import("../../service/http-app.js");
    await HttpAppHook.open(http_app, baseDir);
    return [ok("http_app", http_app)];
  } catch (error) {
    return [failure("http_app", error, "name a file and an export that is an app")];
  }
}

/** Calls the embedding function of the setting `store_index`. */
export async function embeddingCheck({ settings: { store_index }, baseDir }: LoadedConfig): Promise<Check[]> {
  if (!store_index) return [];
  const { embed, dims } = store_index;
  try {
    const { EmbeddingHook } = await import("../../service/embeddings.js");
    await (await EmbeddingHook.open(store_index, baseDir)).index(silentLogger).probe();
    return [ok("store_index", `${embed}, ${dims} numbers per vector`)];
  } catch (error) {
    const check = failure("store_index", error, "name a file and an export that is an embedding function");
    const { cause } = error as Error;
    return [cause === undefined ? check : { ...check, detail: `${check.detail}: ${errorMessage(cause)}` }];
  }
}

function fixOf(notice: string): string {
  if (notice.includes("its own checkpointer")) return "compile it without a checkpointer";
  if (notice.includes("was not compiled")) return "export builder.compile()";
  return "see graph-serve validate";
}

// Checks of the LangGraph packages used by graphs and server.

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

// Checks of the storage: reachable, configured correctly, and without unfinished runs of a crashed server.

export async function storageChecks(config: DevConfig): Promise<Check[]> {
  const { checkpointer_scheme: scheme } = config.settings;
  if (config.notKept)
    return [
      warn(
        "storage",
        `${config.notKept.message}: threads are lost when the server exits`,
        config.notKept.hint ?? "",
      ),
    ];
  if (scheme === "memory") return [ok("storage", "memory: threads are lost when the server exits")];
  try {
    const service = await openStorageOf(config, "read");
    try {
      return await look(service);
    } finally {
      await service.close(0);
    }
  } catch (error) {
    const check = await startable(config, error);
    return [check ?? failure("storage", error, "check checkpointer_scheme and checkpointer_uri")];
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
          `${stale.length} left unfinished by a crashed server, at attempt ${[...new Set(attempts)].sort().join(", ")}`,
          "start a server to resume them if possible, or end them: graph-serve recover --apply",
        ),
    ...(await searchCheck(service)),
    await ttlCheck(service),
  ];
}

/** What compares items in searches of the store by query. */
async function searchCheck(service: Service): Promise<Check[]> {
  const search = await service.vectorSearch();
  if (!search) return [];
  const detail = "name" in search ? search.name : `exact scan in the server: ${search.reason}`;
  return [ok("vector search", detail)];
}

/** Maximum number of expired threads that are counted. */
const EXPIRED_SHOWN = 1000;

/** What the next sweep would remove. */
async function ttlCheck(service: Service): Promise<Check> {
  const { threads } = service.settings.ttl ?? {};
  const rule = threads
    ? `new threads are ${threads.strategy === "keep_latest" ? "pruned" : "deleted"} ${threads.minutes} minutes after their last change`
    : "new threads are kept until they are deleted";
  const expired = await service.expiredThreads(EXPIRED_SHOWN);
  const deleted = expired.filter(({ ttl }) => ttl?.strategy !== "keep_latest").length;
  const many = (count: number) => (count >= EXPIRED_SHOWN ? `at least ${count}` : String(count));
  if (expired.length === 0) return ok("ttl", `${rule}; no thread has expired`);
  const stored = await service.threads.count({});
  const next = `${many(deleted)} of ${stored} threads have expired and are deleted by the next sweep, ${many(expired.length - deleted)} pruned`;
  if (deleted < stored) return ok("ttl", `${rule}; ${next}`);
  return warn(
    "ttl",
    `every thread has expired: the next sweep deletes all ${stored}`,
    "copy the database before you start a server, or set another ttl with PATCH /threads/{thread_id}",
  );
}

/** The check of a storage that cannot be read yet, because its tables are missing or old: a server creates or migrates them. */
async function startable(config: DevConfig, error: unknown): Promise<Check | undefined> {
  if (!(error instanceof StorageUnavailableError)) return undefined;
  const { storageSchema } = await import("../../service/migration.js");
  const place = configuredStorage(config);
  const { location = "", parts = [] } = (await storageSchema(place).catch(() => undefined)) ?? {};
  const tables = parts.some(({ name }) => name === "documents") ? "collections" : "tables";
  const storage = `${place.checkpointer_scheme} ${location}`;
  if (parts.some(({ version, wanted }) => version > wanted)) return undefined;
  if (parts.some(({ version, wanted }) => version > 0 && version < wanted))
    return warn(
      "storage",
      `${storage}: ${tables} of an earlier release, which graph-serve start migrates`,
      "stop the servers of the earlier release, then start a server or run graph-serve migrate up; other commands cannot read the storage before",
    );
  if (!parts.some(({ version }) => version === 0)) return undefined;
  return ok("storage", `${storage}: no ${tables} yet, graph-serve start or the first run creates them`);
}

/** Parses versions as far as the ranges in our package.json need it. */
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
