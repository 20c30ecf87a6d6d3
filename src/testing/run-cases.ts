/** Case files from code: for those who would rather have their test runner around them. */
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

export interface RunCasesOptions {
  /** Folder to work in: the configuration is searched from here; the working directory when left out. */
  cwd?: string;
  /** Case files or folders; all case files below `cwd` when left out. */
  paths?: readonly string[];
  /** Configuration file to read instead of searching for one. */
  config?: string;
  /** Only the cases whose name fits this text or regular expression. */
  name?: string;
  /** Cases at once; 1 when left out. */
  concurrency?: number;
  /** Further attempts of a case that fails; none when left out. */
  retries?: number;
  /** Seconds that a case may take; 30 when left out. */
  timeout?: number;
  /** What becomes of snapshots: `write` the missing (default), `update` all, or only `check`. */
  snapshots?: SnapshotPolicy;
  /** Where models and tools answer from: `replay` (default), `record`, `strict`, or `live` for no recording. */
  recordings?: RecordingMode | "live";
  /** Aborts to stop: the case that runs ends, the others are left out. */
  signal?: AbortSignal;
}

/** What options were called in 0.1.0. */
interface FormerOptions {
  /** @deprecated Now `recordings`. */
  tapes?: RunCasesOptions["recordings"];
}

/**
 * Run case files in this process, as `graph-serve test` does. A case that fails does not throw: each result has its
 * `failures`, an empty list when all is well.
 * @throws ConfigError for a fault of a case file or the configuration (`config_invalid`)
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

/** As the command line opens them: the env file's variables and the project's copy of LangGraph first. */
const openGraphs: OpenService = async ({ settings, baseDir, env }) => {
  for (const [name, value] of Object.entries(env)) process.env[name] ??= value;
  const [source = ""] = Object.values(settings.graphs);
  useLangGraphOf(dirname(resolve(baseDir, parseGraphTarget(source).path)));
  const { openService } = await import("../service/service.js");
  return openService({ settings: { ...settings, http_app: undefined }, cwd: baseDir });
};
