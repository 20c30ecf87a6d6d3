/** Generates a case file from a stored run and its recorded model and tool calls. */
import { access, mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { Document, isScalar, parseDocument, visit } from "yaml";
import type { Client } from "../../client/client.js";
import { parseGraphTarget } from "../../config/graph-target.js";
import type { LoadedConfig } from "../../config/load.js";
import { isRecord } from "../../models/common.js";
import type { Run } from "../../models/run.js";
import { reportedTokens } from "../../models/token-counts.js";
import { ConfigError, InvalidRequestError } from "../../support/errors.js";
import type { CaseFileSource, CaseSource, Step } from "../../testing/cases/case-model.js";
import { readTranscript } from "../../testing/recording/recorder.js";
import { type RecordedCall, recordingText } from "../../testing/recording/recording.js";
import { createRedaction, type Redact } from "../../testing/cases/redact.js";
import { withRememberedGraphs } from "../session/open.js";
import { hiddenText } from "../session/open-client.js";
import { shortPath } from "../session/report-error.js";
import { type RecordedRun, storedRuns } from "./stored-runs.js";
import { caseStep, chosenValue, expectationOf, expectedValues } from "./stored-step.js";

/** The project that the case file is generated for. */
export interface CaseHome {
  config: LoadedConfig;
  /** Base folder of relative paths. */
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The graph, by key or file; by default the graph that served the run. */
  graphs?: readonly string[];
  /** Path of the case file; named after the graph and the run by default. */
  out?: string;
  /** Folder of the recordings. */
  transcripts: string;
  /** Whether a failed run is expected to succeed. */
  fixed?: boolean;
  /** Path of the only final value to expect; all by default. */
  expect?: string;
}

export interface CaseOfRun {
  /** Absolute path of the case file. */
  file: string;
  text: string;
  /** The recorded model and tool responses, in a file next to it. */
  mock: { file: string; text: string } | undefined;
  name: string;
  /** Expected final values by path. */
  values: Record<string, unknown>;
  steps: number;
  recordedCalls: number;
  /** Limitations of the case, as messages for the user. */
  notes: string[];
}

/**
 * Generates the case. Earlier runs of the thread become earlier steps.
 * @throws ThreadBusyError (`thread_busy`)
 * @throws InvalidRequestError if a case cannot repeat the run (`invalid_request`)
 * @throws ConfigError if the graph is not configured (`config_invalid`)
 */
export async function caseOfRun(client: Client, run: Run, home: CaseHome): Promise<CaseOfRun> {
  const { config, cwd, env, out, fixed = false, expect } = home;
  if (fixed && run.status !== "error")
    throw new InvalidRequestError(`run ${run.run_id} did not fail: its status is ${run.status}`, undefined, {
      hint: "remove --fixed",
    });
  const { graph_id } = run.metadata;
  const graphId = typeof graph_id === "string" ? graph_id : run.assistant_id;
  const place = `${graphId}-${run.run_id.slice(-8)}`.replaceAll(/[^\w-]+/g, "-");
  const file = resolve(cwd, out ?? `${place}.graph.yaml`);
  const graph = await graphOf(graphId, file, run.run_id, home);
  const thread = await client.threads.get(run.thread_id);
  const runs = await storedRuns(client, run, thread);
  const redact = createRedaction({ ...env, ...config.env });
  const recording = await recordedCalls(runs, home.transcripts);
  const name = redact(caseName(run));
  const mock =
    recording.length > 0
      ? join(dirname(file), "fixtures", `${basename(file).replace(/\.graph\.\w+$/, "")}.jsonl`)
      : undefined;
  const source = caseSource(name, runs, { redact, recording, fixed, expect });
  const content: CaseFileSource = {
    graph,
    ...(mock !== undefined && { mock: posix(relative(dirname(file), mock)) }),
    cases: [source],
  };
  const hidden = hiddenText(client.whyHidden(thread));
  const isUnrecorded = recording.length === 0 && runs.some(({ run: { usage } }) => askedModel(usage));
  return {
    file,
    text: caseText(file, content, { run, fixed, schema: await schemaBeside(file, config.baseDir) }),
    mock: mock === undefined ? undefined : { file: mock, text: recordingText(recordingOf(name, recording)) },
    name,
    values: (source.steps?.at(-1) ?? source).expect?.values ?? {},
    steps: runs.length,
    recordedCalls: recording.length,
    notes: [
      ...(hidden === undefined ? [] : [hidden]),
      ...(isUnrecorded ? [UNRECORDED] : []),
      ...(run.status === "error" && !fixed ? [EXPECTS_FAILURE] : []),
    ],
  };
}

const UNRECORDED =
  "the run called a model without a recording, so the case has no expectations about model responses; record runs with graph-serve dev --record";

const EXPECTS_FAILURE =
  "the run failed, so the case expects this failure; to expect success, generate it with --fixed";

const recordingOf = (name: string, calls: readonly RecordedCall[]): RecordedCall[] =>
  calls.map((call) => ({ ...call, case: name }));

/** The value of `graph` in the case file: a key of the configuration, or the given file. */
async function graphOf(
  graphId: string,
  file: string,
  runId: string,
  { config, cwd, graphs = [] }: CaseHome,
): Promise<string> {
  const [named, ...more] = graphs;
  if (more.length > 0) throw new InvalidRequestError("--from-run takes at most one graph");
  const { targets: remembered } = await withRememberedGraphs(config, cwd);
  const isKey = (id: string) => Object.hasOwn(config.settings.graphs, id);
  const target = named ?? (isKey(graphId) ? undefined : remembered[graphId]);
  if (target !== undefined && !isKey(target)) {
    const { path, exportName } = parseGraphTarget(target);
    const from = posix(relative(dirname(file), resolve(cwd, path)));
    return `${from.startsWith(".") ? from : `./${from}`}${exportName === undefined ? "" : `:${exportName}`}`;
  }
  if (isKey(target ?? graphId)) return target ?? graphId;
  throw new ConfigError(`graph "${graphId}" of the run is not configured`, {
    hint: `pass its file: graph-serve test ./graph.ts --from-run ${runId}`,
  });
}

const posix = (path: string): string => path.replaceAll("\\", "/");

/** The calls of all runs; empty if any run that called a model has no recording, because replaying needs all calls. */
async function recordedCalls(runs: readonly RecordedRun[], folder: string): Promise<RecordedCall[]> {
  const found = await Promise.all(runs.map(({ run }) => readTranscript(folder, run.run_id)));
  const isWhole = runs.every(({ run }, index) => found[index] !== undefined || !askedModel(run.usage));
  return isWhole ? found.flatMap((entries) => entries ?? []) : [];
}

const askedModel = (usage: RecordedRun["run"]["usage"]): boolean => reportedTokens(usage).total_tokens > 0;

interface CaseParts {
  redact: Redact;
  recording: readonly RecordedCall[];
  fixed: boolean;
  expect: string | undefined;
}

function caseSource(
  name: string,
  runs: readonly RecordedRun[],
  { redact, recording, fixed, expect }: CaseParts,
): CaseSource {
  const isRecorded = recording.length > 0;
  const steps = runs.map((stored): Step => ({
    ...caseStep(stored, redact),
    expect: expectationOf(stored, redact, isRecorded),
  }));
  const last = steps.at(-1);
  // Nodes and tokens of the failed run do not hold after the fix.
  if (fixed && last) last.expect = { status: "success" };
  const end = runs.at(-1)?.end;
  if (expect !== undefined && last)
    last.expect = { status: runs.at(-1)?.run.status, values: chosenValue(end?.values, expect, redact) };
  const isRepeatable = isRecorded || !runs.some(({ run }) => askedModel(run.usage));
  if (expect === undefined && last?.expect && end && last.expect.status !== "error" && !fixed) {
    const values = expectedValues(end.values, { redact, isRepeatable });
    if (Object.keys(values).length > 0) last.expect.values = values;
  }
  return steps.length === 1 && last ? { name, ...last } : { name, steps };
}

/** Path of the JSON schema for editors, if the package is installed. */
async function schemaBeside(file: string, folder: string): Promise<string | undefined> {
  const schema = join(folder, "node_modules/graph-serve/case-file.schema.json");
  if (!(await exists(schema))) return undefined;
  const path = posix(relative(dirname(file), schema));
  return path.startsWith(".") ? path : `./${path}`;
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

// Formats a case file as YAML, with a header comment about its source.

const LONGEST_NAME = 60;
const LAYOUT = { lineWidth: 110, flowCollectionPadding: false };

const FAILED_HEAD = "# The run failed: the case expects this failure. After the fix, expect status: success.";

/** The last user message, or the run id if there is none. */
function caseName({ run_id, kwargs }: Run): string {
  const text = lastQuestion(kwargs.input) ?? `run ${run_id.slice(-8)}`;
  const [line = ""] = text.trim().split("\n");
  return line.length > LONGEST_NAME ? `${line.slice(0, LONGEST_NAME - 3)}...` : line;
}

function lastQuestion(input: unknown): string | undefined {
  const messages = isRecord(input) ? input.messages : undefined;
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : messages;
  const content = isRecord(last) ? last.content : last;
  return typeof content === "string" && content.trim() !== "" ? content : undefined;
}

function caseText(
  file: string,
  content: CaseFileSource,
  { run, schema, fixed }: { run: Run; schema: string | undefined; fixed: boolean },
): string {
  if (extname(file) === ".json")
    return `${JSON.stringify({ ...(schema !== undefined && { $schema: schema }), ...content }, null, 2)}\n`;
  const head = [
    ...(schema === undefined ? [] : [`# yaml-language-server: $schema=${schema}`]),
    `# Generated from run ${run.run_id} of ${run.created_at}.`,
    ...(run.status === "error" && !fixed ? [FAILED_HEAD] : []),
  ];
  const document = new Document(content);
  // Print lists of scalars on one line.
  visit(document, { Seq: (_, list) => void (list.flow = list.items.every((item) => isScalar(item))) });
  return `${head.join("\n")}\n${document.toString(LAYOUT)}`;
}

/**
 * The text of an existing YAML case file, with expected values added to the case of that name, or to its only case.
 * @throws InvalidRequestError if the text has no cases (`invalid_request`)
 */
export function withExpected(text: string, { file, name, values }: CaseOfRun): string {
  const document = parseDocument(text);
  const { cases } = (document.errors.length > 0 ? {} : (document.toJS() ?? {})) as Partial<CaseFileSource>;
  const last = Array.isArray(cases)
    ? cases.findLastIndex((each, _, all) => each.name === name || all.length === 1)
    : -1;
  if (last < 0 || extname(file) === ".json")
    throw new InvalidRequestError(
      `${basename(file)} is not a YAML case file with the case "${name}"`,
      undefined,
      {
        hint: "choose another file",
      },
    );
  const steps = cases?.[last]?.steps;
  const place = ["cases", last, ...(steps ? ["steps", steps.length - 1] : []), "expect", "values"];
  for (const [path, matcher] of Object.entries(values))
    document.setIn([...place, path], document.createNode(matcher));
  return document.toString(LAYOUT);
}

// Existing files of a case are only overwritten on request.

type CaseFiles = Pick<CaseOfRun, "file" | "mock">;

export const caseFiles = ({ file, mock }: CaseFiles): string[] => [file, ...(mock ? [mock.file] : [])];

/** The files of the case that already exist. */
export async function existingCaseFiles(made: CaseFiles): Promise<string[]> {
  const found = await Promise.all(caseFiles(made).map(async (file) => ((await exists(file)) ? [file] : [])));
  return found.flat();
}

/** @throws ConfigError if a file already exists, unless it may be replaced (`config_invalid`) */
export async function writeCase(
  made: CaseOfRun,
  { cwd, replace = false }: { cwd: string; replace?: boolean },
): Promise<void> {
  const [taken] = replace ? [] : await existingCaseFiles(made);
  if (taken !== undefined)
    throw new ConfigError(`already exists: ${shortPath(taken, cwd)}`, {
      hint: "choose another file with --out, or move this one",
    });
  const flag = replace ? "w" : "wx";
  for (const { file, text } of [made, ...(made.mock ? [made.mock] : [])]) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag });
  }
}
