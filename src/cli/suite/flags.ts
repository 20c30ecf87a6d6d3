/** Parses the flags of `test`. */
import { parseGraphTarget } from "../../config/graph-target.js";
import { InvalidRequestError } from "../../support/errors.js";
import type { RecordingMode } from "../../testing/recording/recorder.js";
import type { SnapshotPolicy } from "../../testing/snapshot.js";
import { oneOf, optionalNumber, wholeNumber } from "../session/options.js";
import type { Session } from "../session/session.js";
import { REPORTERS, type ReporterName } from "./reporters/reporter.js";

export interface TestFlags {
  testName?: string;
  watch?: boolean;
  update?: boolean;
  ci?: boolean;
  reporter?: string;
  out?: string;
  retries?: string;
  concurrency?: string;
  timeout: string;
  shard?: string;
  bail?: boolean;
  server?: boolean;
  url?: string;
  apiKey?: string;
  coverage?: boolean;
  minNodeCoverage?: string;
  schemaLock?: string | true;
  record?: boolean;
  replay?: boolean;
  live?: boolean;
  fault?: string;
  fromRun?: string;
  fixed?: boolean;
  transcripts?: string;
  passWithNoTests?: boolean;
  printSchema?: boolean;
}

export interface TestOptions {
  name?: string;
  snapshots: SnapshotPolicy;
  reporter: ReporterName;
  retries: number;
  concurrency: number;
  timeoutSeconds: number;
  shard?: { index: number; count: number };
  bail: boolean;
  minNodeCoverage?: number;
  /** Path of the schema lock. */
  schemaLock?: string;
  recordingMode: RecordingMode | "live";
}

const LOCK_FILE = "graph-schemas.lock.json";

/** @throws InvalidRequestError (`invalid_request`) */
export function testOptions({ print, io }: Session, flags: TestFlags): TestOptions {
  refuseContradictions(flags);
  const isCi = flags.ci ?? Boolean(io.env.CI);
  const coverage = optionalNumber("--min-node-coverage", flags.minNodeCoverage);
  return {
    ...(flags.testName !== undefined && { name: flags.testName }),
    snapshots: flags.update ? "update" : isCi ? "check" : "write",
    reporter: oneOf("--reporter", flags.reporter ?? (print.isJson ? "json" : "list"), REPORTERS),
    retries: optionalNumber("--retries", flags.retries) ?? 0,
    concurrency: optionalNumber("--concurrency", flags.concurrency, 1) ?? 1,
    timeoutSeconds: wholeNumber("--timeout", flags.timeout, 1),
    ...(flags.shard !== undefined && { shard: shardOf(flags.shard) }),
    bail: flags.bail ?? false,
    ...(coverage !== undefined && { minNodeCoverage: coverage }),
    ...(flags.schemaLock !== undefined && {
      schemaLock: flags.schemaLock === true ? LOCK_FILE : flags.schemaLock,
    }),
    recordingMode: flags.record
      ? "record"
      : flags.replay
        ? "strict"
        : flags.live
          ? "live"
          : isCi
            ? "ci"
            : "replay",
  };
}

function refuseContradictions(flags: TestFlags): void {
  const pairs: [keyof TestFlags, keyof TestFlags, string][] = [
    ["server", "url", "--server and --url cannot be combined"],
    ["record", "replay", "--record and --replay cannot be combined"],
    ["record", "live", "--record and --live cannot be combined"],
    ["replay", "live", "--replay and --live cannot be combined"],
    ["update", "ci", "--update and --ci cannot be combined"],
    ["record", "url", "--record works only in this process: a deployed server calls its own models"],
    ["fault", "url", "--fault works only in this process: it cannot inject failures into a deployed server"],
    ["fault", "record", "--fault and --record cannot be combined"],
    ["watch", "out", "--watch and --out cannot be combined"],
    ["fromRun", "watch", "--from-run writes a case file and runs no cases: remove --watch"],
    ["fromRun", "record", "--from-run uses recordings of dev --record: remove --record"],
    ["fromRun", "update", "--from-run does not overwrite files: remove --update"],
    ["fromRun", "testName", "--from-run names the case after the run: remove --test-name"],
  ];
  for (const [one, other, message] of pairs) {
    if (flags[one] && flags[other]) throw new InvalidRequestError(message);
  }
  if (flags.fixed && flags.fromRun === undefined)
    throw new InvalidRequestError("--fixed requires --from-run", undefined, {
      hint: "name the failed run: --from-run @last --fixed",
    });
  if (flags.transcripts !== undefined && flags.fromRun === undefined)
    throw new InvalidRequestError("--transcripts requires --from-run");
}

const MODULE = /\.[cm]?[jt]sx?$/;
const CASE_MODULE = /\.graph\.(ts|mts)$/;

/**
 * The graph files, or the case files and folders, that the arguments name.
 * @returns `cases` is undefined if there are graph files
 * @throws InvalidRequestError if there are both, or for flags that need case files (`invalid_request`)
 */
export function targetsOf(
  paths: readonly string[],
  { url, fault }: Pick<TestFlags, "url" | "fault">,
): { graphs: readonly string[]; cases: readonly string[] | undefined } {
  const graphs = paths.filter((path) => {
    const { path: file } = parseGraphTarget(path);
    return MODULE.test(file) && !CASE_MODULE.test(file);
  });
  const refuse = (message: string, hint: string): never => {
    throw new InvalidRequestError(message, undefined, { hint });
  };
  if (graphs.length === 0) return { graphs, cases: paths };
  if (graphs.length < paths.length)
    refuse("test runs graph files or case files, not both", "run the command once for each");
  if (url !== undefined)
    refuse(`--url cannot be combined with a graph file: ${graphs[0]}`, "remove --url, or the graph file");
  if (fault !== undefined)
    refuse("--fault injects failures into cases, not into graph files", "name case files, or remove --fault");
  return { graphs, cases: undefined };
}

function shardOf(text: string): { index: number; count: number } {
  const [, index, count] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (index && count && index <= count) return { index, count };
  throw new InvalidRequestError(`--shard must have the form i/n, got ${text}`, undefined, {
    hint: "for example --shard 1/3, --shard 2/3 and --shard 3/3",
  });
}
