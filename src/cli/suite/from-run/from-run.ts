/** `test --from-run`: a stored run as a case file, with what was recorded of its models and tools. */
import { access, mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { Document, isScalar, visit } from "yaml";
import { parseGraphTarget } from "../../../config/graph-target.js";
import type { LoadedConfig } from "../../../config/load.js";
import { isRecord } from "../../../models/common.js";
import { reportedTokens, type Run } from "../../../models/run.js";
import { ConfigError, InvalidRequestError } from "../../../support/errors.js";
import type { CaseFileSource, CaseSource, Step } from "../../../testing/case-model.js";
import { readTranscript } from "../../../testing/recording/recorder.js";
import { type RecordedCall, recordingText } from "../../../testing/recording/recording.js";
import { createRedaction, type Redact } from "../../../testing/redact.js";
import { TRANSCRIPTS, withRememberedGraphs } from "../../open.js";
import { shortPath } from "../../report-error.js";
import { loadSettings, type Session } from "../../session.js";
import { findRun } from "../../find.js";
import { warnHidden, withClient } from "../../open-client.js";
import { type StoredRun, storedRuns } from "./stored-runs.js";
import { expectationOf, expectedValues, stepOf } from "./stored-step.js";

interface FromRunFlags {
  fromRun: string;
  url?: string;
  apiKey?: string;
  out?: string;
  transcripts?: string;
}

/**
 * Write the case file. A thread's earlier runs come before the run as steps of the case.
 * @throws NotFoundError (`run_not_found`), ThreadBusyError (`thread_busy`)
 * @throws InvalidRequestError for a run that no case can repeat (`invalid_request`)
 * @throws ConfigError when the graph cannot be named, or a file is there already (`config_invalid`)
 */
export async function writeCaseOfRun(
  session: Session,
  graphs: readonly string[],
  { fromRun, url, apiKey, out, transcripts = TRANSCRIPTS }: FromRunFlags,
): Promise<void> {
  const { io, print } = session;
  const config = await loadSettings(session);
  const { targets: remembered } = await withRememberedGraphs(config, io.cwd);
  const redact = createRedaction({ ...io.env, ...config.env });
  await withClient(session, { url, apiKey }, {}, async (client) => {
    const { threadId, run } = await findRun(client, fromRun);
    const { graph_id } = run.metadata;
    const graphId = typeof graph_id === "string" ? graph_id : run.assistant_id;
    const place = `${graphId}-${run.run_id.slice(-8)}`.replaceAll(/[^\w-]+/g, "-");
    const file = resolve(io.cwd, out ?? `${place}.graph.yaml`);
    const graph = graphOf(graphs, graphId, file, { ...config, remembered }, session, fromRun);
    const thread = await client.threads.get(threadId);
    const runs = await storedRuns(client, run, thread);
    warnHidden(print, client, [thread]);
    const recording = await recordedCalls(runs, resolve(config.baseDir, transcripts));
    const name = caseName(run);
    const mock =
      recording.length > 0
        ? join(dirname(file), "fixtures", `${basename(file).replace(/\.graph\.\w+$/, "")}.jsonl`)
        : undefined;
    const cases = [caseOf(name, runs, { redact, recording })];
    const content: CaseFileSource = {
      graph,
      ...(mock !== undefined && { mock: posix(relative(dirname(file), mock)) }),
      cases,
    };
    await refuseTaken([file, ...(mock === undefined ? [] : [mock])], io.cwd);
    await write(file, caseText(file, content, { run, schema: await schemaBeside(file, config.baseDir) }));
    if (mock !== undefined)
      await write(mock, recordingText(recording.map((entry) => ({ ...entry, case: name }))));
    tell(session, { file, mock, name, runs, recording });
  });
}

/** What `graph` says in the case file: a key of the configuration, or the file that was named. */
function graphOf(
  graphs: readonly string[],
  graphId: string,
  file: string,
  { settings, remembered }: Pick<LoadedConfig, "settings"> & { remembered: Record<string, string> },
  { io }: Session,
  runId: string,
): string {
  const [named, ...more] = graphs;
  if (more.length > 0) throw new InvalidRequestError("--from-run takes one graph at most");
  const isKey = (id: string) => Object.hasOwn(settings.graphs, id);
  const target = named ?? (isKey(graphId) ? undefined : remembered[graphId]);
  if (target !== undefined && !isKey(target)) {
    const { path, exportName } = parseGraphTarget(target);
    const from = posix(relative(dirname(file), resolve(io.cwd, path)));
    return `${from.startsWith(".") ? from : `./${from}`}${exportName === undefined ? "" : `:${exportName}`}`;
  }
  if (isKey(target ?? graphId)) return target ?? graphId;
  throw new ConfigError(`the run is of the graph "${graphId}", which the configuration does not have`, {
    hint: `name its file: graph-serve test ./graph.ts --from-run ${runId}`,
  });
}

const posix = (path: string): string => path.replaceAll("\\", "/");

/** The calls of all the runs; none when a run that asked a model has no recording: half a recording answers nothing. */
async function recordedCalls(runs: readonly StoredRun[], folder: string): Promise<RecordedCall[]> {
  const found = await Promise.all(runs.map(({ run }) => readTranscript(folder, run.run_id)));
  const isWhole = runs.every(({ run }, index) => found[index] !== undefined || !askedModel(run.usage));
  return isWhole ? found.flatMap((entries) => entries ?? []) : [];
}

const askedModel = (usage: StoredRun["run"]["usage"]): boolean => reportedTokens(usage).total_tokens > 0;

function caseOf(
  name: string,
  runs: readonly StoredRun[],
  { redact, recording }: { redact: Redact; recording: readonly RecordedCall[] },
): CaseSource {
  const isRecorded = recording.length > 0;
  const steps = runs.map((stored): Step => ({
    ...stepOf(stored, redact),
    expect: expectationOf(stored, redact, isRecorded),
  }));
  const last = steps.at(-1);
  const end = runs.at(-1)?.end;
  const isRepeatable = isRecorded || !runs.some(({ run }) => askedModel(run.usage));
  if (last?.expect && end && last.expect.status !== "error") {
    const values = expectedValues(end.values, { redact, isRepeatable });
    if (Object.keys(values).length > 0) last.expect.values = values;
  }
  return steps.length === 1 && last ? { name, ...last } : { name, steps };
}

async function refuseTaken(files: readonly string[], cwd: string): Promise<void> {
  for (const file of files) {
    if (!(await exists(file))) continue;
    throw new ConfigError(`there is already ${shortPath(file, cwd)}`, {
      hint: "name another file with --out, or move this one away",
    });
  }
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text, { flag: "wx" });
}

/** The schema that editors complete the file by, where the package is installed. */
async function schemaBeside(file: string, folder: string): Promise<string | undefined> {
  const schema = join(folder, "node_modules/graph-serve/case-file.schema.json");
  if (!(await exists(schema))) return undefined;
  const path = posix(relative(dirname(file), schema));
  return path.startsWith(".") ? path : `./${path}`;
}

interface Written {
  file: string;
  mock: string | undefined;
  name: string;
  runs: readonly StoredRun[];
  recording: readonly RecordedCall[];
}

function tell({ io, print }: Session, { file, mock, name, runs, recording }: Written): void {
  const files = [file, ...(mock === undefined ? [] : [mock])].map((path) => shortPath(path, io.cwd));
  if (print.isJson)
    print.json({
      file,
      mock: mock ?? null,
      case: name,
      steps: runs.length,
      recorded_calls: recording.length,
    });
  else for (const path of files) print.data(path);
  const asked = runs.some(({ run }) => askedModel(run.usage));
  if (asked && recording.length === 0)
    print.warn(
      "the run asked a model, and no recording of it is there: what the model said is not expected; graph-serve dev --record keeps recordings",
    );
  print.note(`try   graph-serve test ${files[0] ?? ""}`);
}

// A case file as YAML, with a head that says where it is from.

const LONGEST_NAME = 60;
const LINE_WIDTH = 110;

/** What the run was asked, in its own words where it has some. */
export function caseName({ run_id, kwargs }: Run): string {
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
  { run, schema }: { run: Run; schema: string | undefined },
): string {
  if (extname(file) === ".json")
    return `${JSON.stringify({ ...(schema !== undefined && { $schema: schema }), ...content }, null, 2)}\n`;
  const head = [
    ...(schema === undefined ? [] : [`# yaml-language-server: $schema=${schema}`]),
    `# Made from run ${run.run_id} of ${run.created_at}.`,
  ];
  const document = new Document(content);
  // Short lists read better on one line.
  visit(document, { Seq: (_, list) => void (list.flow = list.items.every((item) => isScalar(item))) });
  return `${head.join("\n")}\n${document.toString({ lineWidth: LINE_WIDTH, flowCollectionPadding: false })}`;
}
