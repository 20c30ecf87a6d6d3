/** One pass over the cases: which there are, where they run, and what came of them. */
import { InvalidRequestError } from "../../errors.js";
import { findCaseFiles, readCaseFile, type CaseFile } from "../../testing/case-files.js";
import { Coverage } from "../../testing/coverage.js";
import { Hosts, localHosts, type HostPlanner } from "../../testing/hosts.js";
import { createRedaction } from "../../testing/redact.js";
import type { CaseResult } from "../../testing/result.js";
import { selectCases, type PlannedCase } from "../../testing/run-suite.js";
import { runCaseFiles } from "../../testing/run-case-files.js";
import { smokeTest } from "../../testing/smoke.js";
import type { LoadedConfig } from "../../config/load.js";
import { createConsoleLogger } from "../dev/console-logger.js";
import { openConfigured } from "../open.js";
import { shortPath } from "../report-error.js";
import { serverOf } from "../server-client.js";
import { loadSettings, type Session } from "../session.js";
import type { TestFlags, TestOptions } from "./flags.js";
import type { SuiteReport } from "./reporters/reporter.js";
import { lockFaults } from "./schema-lock.js";

export interface SuitePass {
  report: SuiteReport;
  /** Files whose change calls for another pass. */
  files: string[];
}

export interface SuiteInput {
  paths: readonly string[];
  flags: TestFlags;
  options: TestOptions;
  signal: AbortSignal;
  onResult: (result: CaseResult) => void;
}

/** @throws ConfigError for a fault of a case file or the configuration (`config_invalid`) */
export async function runPass(session: Session, input: SuiteInput): Promise<SuitePass> {
  const { flags, options, paths } = input;
  const config = await loadSettings(session);
  const files = await findCaseFiles(session.io.cwd, paths);
  const cases = await Promise.all(files.map(readCaseFile));
  const planned = selectCases(cases, options);
  if (files.length > 0 && planned.length === 0 && !flags.passWithNoTests) throw emptySelection(options);
  const hosts = new Hosts(await planner(session, config, flags));
  const coverage = flags.coverage || options.minNodeCoverage !== undefined ? new Coverage() : undefined;
  try {
    const report =
      files.length === 0
        ? await smokePass(session, config, hosts, coverage, input)
        : await casesPass(session, config, cases, planned, hosts, coverage, input);
    const graphs = await hosts.all();
    report.faults.push(...(await lockFaults(session, graphs, options)));
    if (coverage) withCoverage(report, coverage, options);
    return { report, files: [...config.files, ...files, ...graphs.flatMap((host) => host.files())] };
  } finally {
    await hosts.close();
  }
}

function emptySelection({ name, shard }: TestOptions): InvalidRequestError {
  const why =
    name !== undefined ? `no case is named like "${name}"` : shard ? "the shard has no case" : "no case";
  return new InvalidRequestError(why, undefined, {
    hint: "--pass-with-no-tests lets an empty selection pass",
  });
}

async function planner(
  session: Session,
  config: LoadedConfig,
  { url, apiKey, server }: TestFlags,
): Promise<HostPlanner> {
  if (url !== undefined) {
    const { deployedHosts } = await import("./remote-hosts.js");
    return deployedHosts(serverOf(session.io, { url, apiKey }), config);
  }
  // The results tell what went wrong; the log would only tell it again.
  const { print } = session;
  const logger = createConsoleLogger(print, print.flags.verbose ? config.settings.log_level : "silent");
  const connect = server ? (await import("./remote-hosts.js")).overHttp : undefined;
  return localHosts(config, (one) => openConfigured(one, logger), connect);
}

async function smokePass(
  { io }: Session,
  config: LoadedConfig,
  hosts: Hosts,
  coverage: Coverage | undefined,
  { flags, options, signal, onResult }: SuiteInput,
): Promise<SuiteReport> {
  const start = performance.now();
  const graphs =
    flags.url === undefined
      ? Object.keys(config.settings.graphs)
      : await (await import("./remote-hosts.js")).deployedGraphs(serverOf(io, { ...flags, url: flags.url }));
  if (graphs.length === 0 && !flags.passWithNoTests) {
    throw new InvalidRequestError("there is nothing to test: no case file, and no graph", undefined, {
      hint: "write a case file such as agent.graph.yaml, or name a graph in the configuration",
    });
  }
  const cases: CaseResult[] = [];
  for (const graph of graphs) {
    if (signal.aborted) break;
    cases.push(
      ...(await smokeTest(graph, {
        hosts,
        coverage,
        signal,
        onResult,
        timeoutSeconds: options.timeoutSeconds,
      })),
    );
  }
  return reportOf({ cases, durationMs: performance.now() - start }, signal);
}

async function casesPass(
  session: Session,
  config: LoadedConfig,
  files: readonly CaseFile[],
  planned: readonly PlannedCase[],
  hosts: Hosts,
  coverage: Coverage | undefined,
  { flags, options, signal, onResult }: SuiteInput,
): Promise<SuiteReport> {
  if (flags.fault !== undefined) {
    const { faultPass } = await import("./fault/fault-pass.js");
    const { fault } = flags;
    return faultPass(session, config, planned, { ...options, fault, signal, onResult });
  }
  const { io, print } = session;
  const isRemote = flags.url !== undefined;
  if (isRemote && files.some(({ source }) => source.mock !== undefined))
    print.warn("recorded answers are not used: the server calls its models itself");
  const result = await runCaseFiles(files, planned, {
    ...options,
    hosts,
    tapeMode: isRemote || options.tapeMode === "live" ? undefined : options.tapeMode,
    redact: createRedaction({ ...io.env, ...config.env }),
    ...(coverage && { coverage }),
    signal,
    onResult,
    onWritten: (file) => print.note(`wrote ${shortPath(file, io.cwd)}`),
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
