/** Runs a suite: selection, concurrency, retries and timeouts of cases. */
import { GraphServeError } from "../support/errors.js";
import { withOutputSource } from "../support/output-source.js";
import { type Case, type CaseFile, findCaseFiles, folderOf, readCaseFile } from "./cases/case-files.js";
import { type CaseContext, type CaseOutcome, newOutcome, runCase } from "./case.js";
import type { Coverage } from "./coverage.js";
import { FIRST_TIME, makeDeterministic } from "./deterministic.js";
import { edgesOf } from "./edges.js";
import { type GraphPlanner, GraphsUnderTest, type GraphUnderTest } from "./graphs.js";
import { regularExpression } from "./cases/matcher.js";
import { nameRecordings, writeMockKey } from "./recording/mock-key.js";
import { type RecordingMode, Recordings } from "./recording/recorder.js";
import type { Redact } from "./cases/redact.js";
import type { CaseResult, Failure, SuiteResult } from "./cases/result.js";
import { SnapshotFile, type SnapshotPolicy } from "./snapshot.js";

export interface SuiteOptions {
  graphs: GraphsUnderTest;
  /** Opens the snapshots of a case file; if not set, snapshots are not compared. */
  snapshots?: (file: string) => Promise<SnapshotFile>;
  /** Answers model and tool calls from recordings, or records them. */
  recordings?: Recordings;
  coverage?: Coverage;
  bail?: boolean;
  /** Maximum number of retries of a failing case. */
  retries?: number;
  /** Number of cases to run in parallel. Default: 1. */
  concurrency?: number;
  timeoutSeconds: number;
  /** Aborts with the signal name as its reason to stop the suite. */
  signal: AbortSignal;
  onResult?: (result: CaseResult) => void;
}

/** A case and its file. */
export interface PlannedCase {
  file: CaseFile;
  one: Case;
}

interface Selection {
  name?: string;
  shard?: { index: number; count: number };
}

/** The cases whose name matches `name` (a text or a regular expression) and that are in the shard. */
function selectCases(files: readonly CaseFile[], { name, shard }: Selection): PlannedCase[] {
  const all = files.flatMap((file) => file.cases.map((one) => ({ file, one })));
  const fits = name === undefined ? () => true : nameTest(name);
  const chosen = all.filter(({ one }) => fits(one.name));
  return shard ? chosen.filter((_, index) => index % shard.count === shard.index - 1) : chosen;
}

function nameTest(name: string): (text: string) => boolean {
  try {
    const pattern = regularExpression(name);
    return (text) => text.includes(name) || pattern.test(text);
  } catch {
    return (text) => text.includes(name);
  }
}

/** The cases of one pass and their graphs. */
export interface Pass {
  files: readonly CaseFile[];
  planned: readonly PlannedCase[];
  graphs: GraphsUnderTest;
}

interface PassOptions extends Selection {
  cwd: string;
  /** Case files or folders; if empty, all below `cwd`; undefined for a pass without case files. */
  paths: readonly string[] | undefined;
  planner: GraphPlanner;
}

/**
 * Runs `work` with the cases of one pass: reads their files, opens graphs on first use and closes them at the end.
 * @throws ConfigError if a case file is invalid (`config_invalid`)
 */
export async function withCases<T>(
  { cwd, paths, planner, ...selection }: PassOptions,
  work: (pass: Pass) => Promise<T>,
): Promise<T> {
  const found = paths === undefined ? [] : await findCaseFiles(cwd, paths);
  const files = await Promise.all(found.map(readCaseFile));
  const graphs = new GraphsUnderTest(planner);
  try {
    return await work({ files, planned: selectCases(files, selection), graphs });
  } finally {
    await graphs.close();
  }
}

export async function runSuite(planned: readonly PlannedCase[], options: SuiteOptions): Promise<SuiteResult> {
  const start = performance.now();
  const results = new Array<CaseResult>(planned.length);
  let next = 0;
  let bailed = false;
  const work = async (): Promise<void> => {
    for (let index = next++; index < planned.length; index = next++) {
      const plan = planned[index] as PlannedCase;
      const result =
        options.signal.aborted || bailed || plan.one.skip
          ? skipped(plan, bailed ? "--bail" : options.signal.aborted ? "stopped before it started" : "skip")
          : await runPlanned(plan, options);
      results[index] = result;
      bailed ||= options.bail === true && result.status === "failed";
      options.onResult?.(result);
    }
  };
  const workers = Math.max(1, Math.min(options.concurrency ?? 1, planned.length));
  await Promise.all(Array.from({ length: workers }, work));
  return {
    cases: results,
    durationMs: performance.now() - start,
    ...(options.signal.aborted && { stoppedBy: String(options.signal.reason) }),
  };
}

function resultOf({ file, one }: PlannedCase, parts: Partial<CaseResult>): CaseResult {
  return {
    file: file.file,
    name: one.name,
    graph: file.source.graph ?? "",
    status: "passed",
    failures: [],
    durationMs: 0,
    attempts: 0,
    nodes: [],
    tokens: 0,
    ...parts,
  };
}

const skipped = (plan: PlannedCase, why: string): CaseResult =>
  resultOf(plan, { status: "skipped", note: why });

async function runPlanned(plan: PlannedCase, options: SuiteOptions): Promise<CaseResult> {
  const start = performance.now();
  const { file } = plan;
  let graph: GraphUnderTest;
  let snapshots: SnapshotFile | undefined;
  try {
    graph = await options.graphs.open({ graph: file.source.graph, folder: folderOf(file) });
    await options.recordings?.prepare();
    snapshots = await options.snapshots?.(file.file);
  } catch (error) {
    return faulty(plan, error, performance.now() - start);
  }
  for (let attempt = 1; ; attempt += 1) {
    const result = await attemptCase(plan, graph, snapshots, options);
    const isLast = result.status !== "failed" || attempt > (options.retries ?? 0) || result.fault;
    if (!isLast) continue;
    const note = result.status === "passed" && attempt > 1 ? `passed at attempt ${attempt}` : result.note;
    return { ...result, attempts: attempt, durationMs: performance.now() - start, ...(note && { note }) };
  }
}

/** Known errors, such as a graph that fails to open, fail the case; unexpected errors end the command. */
function faulty(plan: PlannedCase, error: unknown, durationMs: number): CaseResult {
  if (!(error instanceof GraphServeError)) throw error;
  const { file, one } = plan;
  const failure: Failure = {
    expectation: "runs",
    message: error.message,
    location: error.location ?? one.location,
  };
  const graph = file.source.graph ?? "";
  return resultOf(plan, {
    graph,
    status: "failed",
    failures: [failure],
    fault: error,
    durationMs,
    attempts: 1,
  });
}

async function attemptCase(
  plan: PlannedCase,
  graph: GraphUnderTest,
  snapshots: SnapshotFile | undefined,
  options: SuiteOptions,
): Promise<CaseResult> {
  const { file, one } = plan;
  const { recordings } = options;
  const outcome = newOutcome();
  const seeded = new Set<string>();
  const restore = one.isDeterministic
    ? await makeDeterministic((id) => (seeded.has(id) ? { seed: one.name, time: FIRST_TIME } : undefined))
    : undefined;
  const limit = deadline(one.timeoutSeconds ?? options.timeoutSeconds, options.signal);
  const context: CaseContext = {
    graph,
    edges: edgesOf(graph.drawing),
    snapshots,
    signal: limit.signal,
    onThread(threadId) {
      seeded.add(threadId);
      return recordings?.begin(file, one.name, threadId) ?? { end: () => [] };
    },
  };
  const running = withOutputSource(one.name, () => runCase(one, context, outcome));
  try {
    await Promise.race([running, limit.passed]);
  } catch (error) {
    return faulty(plan, error, 0);
  } finally {
    limit.clear();
    restore?.();
  }
  const { nodes, tokens } = outcome;
  options.coverage?.take(graph, outcome);
  const failures = limit.isOver ? [timeoutFailure(one, limit.seconds, outcome)] : outcome.failures;
  const status = failures.length > 0 ? "failed" : options.signal.aborted ? "stopped" : "passed";
  return resultOf(plan, { graph: graph.graph, status, failures, nodes, tokens });
}

function timeoutFailure(one: Case, seconds: number, { current }: CaseOutcome): Failure {
  const node = current?.nodes.at(-1);
  const where = node === undefined ? "no node had started" : `node ${node} was running`;
  return {
    expectation: "timeout",
    message: `the case did not finish within ${seconds} s: ${where}`,
    expected: `at most ${seconds} s`,
    actual: "still running",
    location: one.location,
  };
}

/** Time for a run to react to its abort signal, in milliseconds; after that, the case is abandoned. */
const GRACE_MS = 3_000;

function deadline(seconds: number, stop: AbortSignal) {
  const controller = new AbortController();
  let leave: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => (leave = resolve));
  const grace = () => setTimeout(leave, GRACE_MS).unref();
  const timer = setTimeout(
    () => {
      controller.abort(new Error("timeout"));
      grace();
    },
    Math.min(seconds * 1000, 2 ** 31 - 1),
  );
  stop.addEventListener("abort", grace, { once: true });
  return {
    seconds,
    signal: AbortSignal.any([stop, controller.signal]),
    passed,
    get isOver() {
      return controller.signal.aborted;
    },
    clear: () => {
      clearTimeout(timer);
      stop.removeEventListener("abort", grace);
    },
  };
}

// Runs cases with snapshots and recordings, and saves both.

interface CaseFilesOptions extends Omit<SuiteOptions, "snapshots" | "recordings"> {
  snapshots: SnapshotPolicy;
  /** Undefined: models and tools are called, and recordings are not used. */
  recordingMode: RecordingMode | undefined;
  redact: Redact;
  /** Called with the path of each written file. */
  onWritten?: (file: string) => void;
  /** Called with a case file that could not be edited, and the `mock` that it needs. */
  onUnnamed?: (file: string, mock: string) => void;
}

/** Runs the planned cases of the files. @throws ConfigError for an invalid recording or snapshot file */
export async function runCaseFiles(
  files: readonly CaseFile[],
  planned: readonly PlannedCase[],
  { snapshots: policy, recordingMode, redact, onWritten, onUnnamed, ...options }: CaseFilesOptions,
): Promise<SuiteResult> {
  const snapshots = new Map<string, Promise<SnapshotFile>>();
  const snapshotsOf = (file: string): Promise<SnapshotFile> => {
    const opened = snapshots.get(file) ?? SnapshotFile.open(file, policy, redact);
    snapshots.set(file, opened);
    return opened;
  };
  const named = recordingMode === "record" ? nameRecordings(files) : new Map<string, CaseFile>();
  const recordings = await openRecordings(files, recordingMode, redact, new Set(named.keys()));
  let result: SuiteResult;
  try {
    result = await runSuite(planned, {
      ...options,
      snapshots: snapshotsOf,
      ...(recordings && { recordings }),
    });
  } finally {
    for (const path of (await recordings?.close()) ?? []) {
      onWritten?.(path);
      const file = named.get(path);
      if (file && (await writeMockKey(file))) onWritten?.(file.file);
      else if (file) onUnnamed?.(file.file, file.source.mock ?? "");
    }
  }
  for (const { file, cases } of files) {
    const opened = await snapshots.get(file)?.catch(() => undefined);
    if (opened && (await opened.save(cases.map(({ name }) => name)))) onWritten?.(`${file}.snap`);
  }
  return result;
}

async function openRecordings(
  files: readonly CaseFile[],
  mode: RecordingMode | undefined,
  redact: Redact,
  optional: ReadonlySet<string>,
): Promise<Recordings | undefined> {
  const named = files.some(({ source }) => source.mock !== undefined);
  return mode !== undefined && (named || mode === "strict" || mode === "ci")
    ? Recordings.open(files, mode, redact, optional)
    : undefined;
}
