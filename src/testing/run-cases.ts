/** Runs case files from code, for use in another test runner. */
import { dirname, resolve } from "node:path";
import { parseGraphTarget } from "../config/graph-target.js";
import { loadConfig } from "../config/load.js";
import { useLangGraphOf } from "../support/user-langgraph.js";
import { localGraphs, type OpenService } from "./graphs.js";
import type { RecordingMode } from "./recording/recorder.js";
import { createRedaction } from "./cases/redact.js";
import type { SuiteResult } from "./cases/result.js";
import type { SnapshotPolicy } from "./snapshot.js";
import { runCaseFiles, withCases } from "./suite.js";

/**
 * Options of `runCases`.
 * @example
 * ```ts
 * import { runCases, type RunCasesOptions } from "graph-serve/testing";
 *
 * const options: RunCasesOptions = { cwd: import.meta.dirname, timeout: 10, snapshots: "check" };
 * const { cases } = await runCases(options);
 * cases.length; // => 1
 * ```
 */
export interface RunCasesOptions {
  /** Folder in which the configuration is searched. Default: the working directory. */
  cwd?: string;
  /** Case files or folders. Default: all case files below `cwd`. */
  paths?: readonly string[];
  /** Configuration file to read instead of searching for one. */
  config?: string;
  /** Runs only cases whose name matches this text or regular expression. */
  name?: string;
  /** Maximum number of cases that run at the same time. Default: 1. */
  concurrency?: number;
  /** Maximum number of retries of a case that fails. Default: 0. */
  retries?: number;
  /** Timeout of a case in seconds. Default: 30. */
  timeout?: number;
  /** What to do with snapshots. Default: `write`. */
  snapshots?: SnapshotPolicy;
  /** Source of model and tool responses; `live` calls them without a recording. Default: `replay`. */
  recordings?: RecordingMode | "live";
  /** Aborting it stops the suite: the current case ends, the others are skipped. */
  signal?: AbortSignal;
}

/** Names of options in 0.1.0. */
interface FormerOptions {
  /** @deprecated Use `recordings`. */
  tapes?: RunCasesOptions["recordings"];
}

/**
 * Runs case files in this process, as `graph-serve test` does. A failed case does not throw.
 * @param options which cases to run, and how; `timeout` is in seconds
 * @returns one result per case; `failures` is empty for a case that passed
 * @throws ConfigError for an error in a case file or the configuration (`config_invalid`)
 * @example
 * ```ts
 * import { runCases } from "graph-serve/testing";
 *
 * const { cases } = await runCases({ cwd: import.meta.dirname, paths: ["greeting.graph.yaml"] });
 * cases.map(({ name, status }) => [name, status]); // => [["greets by name", "passed"]]
 * ```
 */
export async function runCases(options: RunCasesOptions & FormerOptions = {}): Promise<SuiteResult> {
  const cwd = resolve(options.cwd ?? ".");
  const config = await loadConfig({ cwd, ...(options.config !== undefined && { file: options.config }) });
  const {
    name,
    retries,
    concurrency,
    timeout = 30,
    tapes = "replay",
    recordings = tapes,
    snapshots = "write",
  } = options;
  const pass = {
    cwd,
    paths: options.paths ?? [],
    planner: localGraphs(config, openGraphs),
    ...(name !== undefined && { name }),
  };
  return withCases(pass, ({ files, planned, graphs }) =>
    runCaseFiles(files, planned, {
      graphs,
      timeoutSeconds: timeout,
      signal: options.signal ?? new AbortController().signal,
      snapshots,
      recordingMode: recordings === "live" ? undefined : recordings,
      redact: createRedaction({ ...process.env, ...config.env }),
      ...(retries !== undefined && { retries }),
      ...(concurrency !== undefined && { concurrency }),
    }),
  );
}

/** Opens services like the command line: sets env file variables and selects the project's copy of LangGraph first. */
const openGraphs: OpenService = async ({ settings, baseDir, env }) => {
  for (const [name, value] of Object.entries(env)) process.env[name] ??= value;
  const [source = ""] = Object.values(settings.graphs);
  useLangGraphOf(dirname(resolve(baseDir, parseGraphTarget(source).path)));
  const { openService } = await import("../service/open.js");
  return openService({ mode: "run", settings: { ...settings, http_app: undefined }, cwd: baseDir });
};
