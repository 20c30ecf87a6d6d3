/** Runs one pass over the cases: selects cases and graphs, and collects the results. */
import { writeFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { LoadedConfig } from "../../config/load.js";
import type { ConfigDocument } from "../../config/document.js";
import { parseConfigText } from "../../config/parse.js";
import type { GraphSchema } from "../../models/assistant.js";
import { isRecord } from "../../models/common.js";
import { ConfigError, InvalidRequestError } from "../../support/errors.js";
import { readIfExists } from "../../support/read-text.js";
import { findCaseFiles } from "../../testing/cases/case-files.js";
import { Coverage } from "../../testing/coverage.js";
import {
  type GraphPlanner,
  type GraphUnderTest,
  localGraphs,
  type OpenService,
} from "../../testing/graphs.js";
import { createRedaction } from "../../testing/cases/redact.js";
import type { CaseResult } from "../../testing/cases/result.js";
import { Recordings } from "../../testing/recording/recorder.js";
import { smokeTest } from "../../testing/smoke.js";
import { type Pass, runCaseFiles, withCases } from "../../testing/suite.js";
import { FileWatcher } from "../dev/watch.js";
import { createConsoleLogger, openConfigured, withRememberedGraphs } from "../session/open.js";
import { errorText, shortPath } from "../session/report-error.js";
import { compareSchemas } from "../schemas/compare.js";
import { schemaKinds, schemaOfKind } from "../schemas/resolve.js";
import { serverOf } from "../session/open-client.js";
import { loadSettings, type Session } from "../session/session.js";
import { watchCommand } from "../session/watchdog.js";
import { SIGNAL_EXITS } from "../session/stop.js";
import { targetsOf, type TestFlags, type TestOptions } from "./flags.js";
import { createReporter } from "./reporters/create.js";
import type { SuiteReport } from "./reporters/reporter.js";

interface SuitePass {
  report: SuiteReport;
  /** Files whose changes trigger another pass. */
  files: string[];
}

interface SuiteInput {
  paths: readonly string[];
  flags: TestFlags;
  options: TestOptions;
  signal: AbortSignal;
  onResult: (result: CaseResult) => void;
}

/** @throws ConfigError if a case file or the configuration is invalid (`config_invalid`) */
export async function runPass(session: Session, input: SuiteInput): Promise<SuitePass> {
  const { flags, options, paths } = input;
  const { graphs: targets, cases } = targetsOf(paths, flags);
  const config = await graphsToTest(session, targets, flags);
  const { name, shard } = options;
  const planner = await plannerOf(session, config, flags);
  return withCases({ cwd: session.io.cwd, paths: cases, name, shard, planner }, async (pass) => {
    const { files, planned, graphs } = pass;
    if (files.length > 0 && planned.length === 0 && !flags.passWithNoTests) throw emptySelection(options);
    const coverage = flags.coverage || options.minNodeCoverage !== undefined ? new Coverage() : undefined;
    const execute = files.length === 0 ? smokePass : casesPass;
    const report = await execute(session, config, { ...pass, coverage }, input);
    const opened = await graphs.all();
    report.faults.push(...(await lockFaults(session, opened, options)));
    if (coverage) withCoverage(report, coverage, options);
    const watched = [...files.map(({ file }) => file), ...opened.flatMap((graph) => graph.files())];
    return { report, files: [...config.files, ...watched] };
  });
}

/** The configuration with the graph files to test; without any, with the files that earlier commands loaded. */
async function graphsToTest(
  session: Session,
  targets: readonly string[],
  { url }: TestFlags,
): Promise<LoadedConfig> {
  const config = await loadSettings(session, { graphs: targets });
  if (url !== undefined || Object.keys(config.settings.graphs).length > 0) return config;
  return (await withRememberedGraphs(config, session.io.cwd)).config;
}

function emptySelection({ name, shard }: TestOptions): InvalidRequestError {
  const why =
    name !== undefined ? `no case matches "${name}"` : shard ? "the shard has no cases" : "no cases";
  return new InvalidRequestError(why, undefined, {
    hint: "use --pass-with-no-tests to succeed without cases",
  });
}

async function plannerOf(
  session: Session,
  config: LoadedConfig,
  { url, apiKey, server }: TestFlags,
): Promise<GraphPlanner> {
  if (url !== undefined) {
    const { deployedGraphs } = await import("./remote-graphs.js");
    return deployedGraphs(serverOf(session.io, { url, apiKey }), config);
  }
  // The results already report failures; the log would repeat them.
  const { print } = session;
  const logger = createConsoleLogger(print, print.flags.verbose ? config.settings.log_level : "silent");
  const connect = server ? (await import("./remote-graphs.js")).overHttp : undefined;
  const mode = server ? "serve" : "run";
  await watchCommand(session.io, config.settings);
  const openOne: OpenService = ({ settings, ...rest }) =>
    openConfigured({ ...rest, settings: { ...settings, http_app: undefined } }, logger, { mode });
  return localGraphs(config, openOne, connect);
}

interface CoveredPass extends Pass {
  coverage: Coverage | undefined;
}

async function smokePass(
  { io }: Session,
  config: LoadedConfig,
  { graphs, coverage }: CoveredPass,
  { flags, options, signal, onResult }: SuiteInput,
): Promise<SuiteReport> {
  const start = performance.now();
  const names =
    flags.url === undefined
      ? Object.keys(config.settings.graphs)
      : await (await import("./remote-graphs.js")).listedGraphs(serverOf(io, { ...flags, url: flags.url }));
  if (names.length === 0 && !flags.passWithNoTests) {
    throw new InvalidRequestError("nothing to test: no case files and no graphs", undefined, {
      hint: "name a graph file: graph-serve test ./graph.ts; or write a case file such as agent.graph.yaml, or add a graph to the configuration",
    });
  }
  const { recordingMode, timeoutSeconds } = options;
  if (recordingMode === "record")
    throw new InvalidRequestError("--record needs a case file, and there is none", undefined, {
      hint: "write a case file such as agent.graph.yaml, or create one from a run: graph-serve test --from-run @last",
    });
  const refuses = flags.url === undefined && (recordingMode === "ci" || recordingMode === "strict");
  const recordings = refuses
    ? await Recordings.open([], recordingMode, createRedaction({ ...io.env, ...config.env }))
    : undefined;
  const cases: CaseResult[] = [];
  try {
    const parts = { graphs, coverage, signal, onResult, timeoutSeconds, ...(recordings && { recordings }) };
    for (const graph of names) {
      if (signal.aborted) break;
      cases.push(...(await smokeTest(graph, parts)));
    }
  } finally {
    await recordings?.close();
  }
  return reportOf({ cases, durationMs: performance.now() - start }, signal);
}

async function casesPass(
  session: Session,
  config: LoadedConfig,
  { files, planned, graphs, coverage }: CoveredPass,
  { flags, options, signal, onResult }: SuiteInput,
): Promise<SuiteReport> {
  if (flags.fault !== undefined) {
    const { faultPass } = await import("./fault/fault-case.js");
    const { fault } = flags;
    return faultPass(session, config, planned, { ...options, fault, signal, onResult });
  }
  const { io, print } = session;
  const isRemote = flags.url !== undefined;
  if (isRemote && files.some(({ source }) => source.mock !== undefined))
    print.warn("recordings are not used: the server calls its own models");
  if (isRemote && planned.some(({ one }) => one.isDeterministic))
    print.warn("deterministic is ignored: the clock and the random numbers are those of the server");
  const result = await runCaseFiles(files, planned, {
    ...options,
    graphs,
    recordingMode: isRemote || options.recordingMode === "live" ? undefined : options.recordingMode,
    redact: createRedaction({ ...io.env, ...config.env }),
    ...(coverage && { coverage }),
    signal,
    onResult,
    onWritten: (file) => print.note(`wrote ${shortPath(file, io.cwd)}`),
    onUnnamed: (file, mock) => print.warn(`add to ${shortPath(file, io.cwd)}: mock: ${mock}`),
  });
  return reportOf(result, signal);
}

function reportOf(result: Pick<SuiteReport, "cases" | "durationMs">, signal: AbortSignal): SuiteReport {
  return { ...result, faults: [], ...(signal.aborted && { stoppedBy: String(signal.reason) }) };
}

function withCoverage(report: SuiteReport, coverage: Coverage, { minNodeCoverage }: TestOptions): void {
  const { graphs, nodePercent } = coverage;
  report.coverage = { graphs, nodePercent };
  if (minNodeCoverage === undefined || nodePercent >= minNodeCoverage) return;
  const missing = graphs.flatMap(({ nodes }) => nodes.missing);
  report.faults.push(
    `node coverage is ${Math.round(nodePercent)} %, --min-node-coverage asks for ${minNodeCoverage} %: never reached ${missing.join(", ")}`,
  );
}

// `--schema-lock`: the schemas of the graphs against a committed file.

type Lock = Record<string, GraphSchema>;

/**
 * Schema changes since the file was written, one per line; `-u` accepts them. A graph that is missing from the file is
 * added, except with `--ci`.
 * @throws ConfigError if the file is malformed (`config_invalid`)
 */
async function lockFaults(
  { io, print }: Session,
  graphs: readonly GraphUnderTest[],
  { schemaLock, snapshots }: Pick<TestOptions, "schemaLock" | "snapshots">,
): Promise<string[]> {
  if (schemaLock === undefined) return [];
  const file = resolve(io.cwd, schemaLock);
  const document = await readLock(file);
  const before = document.value as Lock;
  const now: Lock = { ...before };
  const faults: string[] = [];
  for (const { graph, client, assistantId } of graphs) {
    const name = shortPath(graph, io.cwd);
    const schemas = await client.assistants.getSchemas(assistantId);
    const locked = before[name];
    if (locked && snapshots !== "update") faults.push(...changes(name, locked, schemas, document));
    else if (snapshots === "check")
      faults.push(`${schemaLock} has no schemas of ${name}, and --ci does not write them`);
    else now[name] = schemas;
  }
  if (JSON.stringify(now) !== JSON.stringify(before)) {
    await writeFile(file, `${JSON.stringify(now, null, 2)}\n`);
    print.note(`wrote ${schemaLock}`);
  }
  return faults;
}

function changes(graph: string, before: GraphSchema, now: GraphSchema, document: ConfigDocument): string[] {
  return schemaKinds(undefined).flatMap((kind) =>
    compareSchemas(kind, schemaOfKind(before, kind), schemaOfKind(now, kind)).changes.map(
      ({ level, path, message }) => {
        const keys = path.split(/[.[\]{}]+/).filter(Boolean);
        const { line } = document.locate([graph, `${kind}_schema`, "properties", ...keys]);
        const change = `the ${kind} schema of ${graph} changed (${level}): ${path === "" ? "" : `${path}: `}${message}`;
        return `${change}; locked in ${basename(document.file)}:${line}, -u accepts it`;
      },
    ),
  );
}

async function readLock(file: string): Promise<ConfigDocument> {
  const document = parseConfigText(file, (await readIfExists(file)) ?? "{}", "json");
  if (isRecord(document.value)) return document;
  throw new ConfigError("the locked schemas are not a JSON object", {
    hint: "delete the file and run the command again to recreate it",
    location: document.locate([]),
  });
}

// `test --watch`: runs another pass when a case file, a graph or the configuration changes.

type WatchInput = Pick<SuiteInput, "flags" | "options" | "signal">;

/** Runs until stopped; shows errors of invalid files and waits for changes. */
export async function watchCases(
  session: Session,
  paths: readonly string[],
  input: WatchInput,
): Promise<number> {
  const { signal } = input;
  let wake: () => void = () => undefined;
  let changed = false;
  const watcher = new FileWatcher({
    onChange: () => {
      changed = true;
      wake();
    },
    warn: (message) => session.print.warn(message),
  });
  try {
    await watcher.watch(await findCaseFiles(session.io.cwd, paths).catch(() => []));
    while (!signal.aborted) {
      changed = false;
      await watcher.watch(await pass(session, paths, input));
      session.print.note("watching for changes");
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (changed || signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  } finally {
    await watcher.close();
  }
  return SIGNAL_EXITS[String(signal.reason)] ?? 1;
}

/** Runs one pass; returns the files to watch. */
async function pass({ ...session }: Session, paths: readonly string[], input: WatchInput): Promise<string[]> {
  const { io, print } = session;
  const reporter = createReporter(input.options.reporter, {
    write: (text) => print.part(text),
    colors: print.colors,
    cwd: io.cwd,
    asCalled: (text) => print.asCalled(text),
  });
  try {
    const { report, files } = await runPass(session, {
      ...input,
      paths,
      onResult: (result) => reporter.caseEnded?.(result),
    });
    reporter.ended(report);
    return files;
  } catch (error) {
    io.stderr.write(errorText(error, { colors: print.noteColors, io, verbose: print.flags.verbose }));
    return findCaseFiles(io.cwd, paths).catch(() => []);
  }
}
