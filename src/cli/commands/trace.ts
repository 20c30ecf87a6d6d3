import type { Command } from "@commander-js/extra-typings";
import type { Client } from "../../client/client.js";
import { walkPages } from "../../client/walk.js";
import type { Run, RunTasks } from "../../models/run.js";
import { isFinished } from "../../models/run-status.js";
import { InvalidRequestError } from "../../support/errors.js";
import { INPUT_TOKENS, OUTPUT_TOKENS, STATE, STEP } from "../../tracing/names.js";
import { storedSpan } from "../../tracing/run-span.js";
import { openStoredExport } from "../../tracing/stored-export.js";
import type { TaskSpan } from "../../tracing/task-spans.js";
import { parseTraceparent, TRACEPARENT_KEY } from "../../tracing/traceparent.js";
import { escapeControl } from "../../view/text.js";
import { examples, type Runner } from "../session/command.js";
import { findRun, findThreadId } from "../session/find.js";
import { withClient } from "../session/open-client.js";
import { addClientOptions, type ClientFlags, RUN, THREAD, timeOf } from "../session/options.js";
import { loadSettings, type Session, setVariables } from "../session/session.js";
import { printColumns, printFields } from "../terminal/table.js";
import { counted, shownMs, shownTime } from "../terminal/text.js";
import { runArgument } from "../threads/pick.js";

const EXAMPLE = "0198c0de-0000-7000-8000-000000000001";

export function traceCommand(trace: Command, run: Runner): void {
  addClientOptions(
    trace
      .argument("[run]", RUN)
      .option("--thread <thread>", "thread of the run (default: search all threads)"),
  )
    .addHelpText("after", examples("graph-serve trace @last", `graph-serve trace ${EXAMPLE} --json`))
    .action((runId, options, command) =>
      run(command, async (session) =>
        showTrace(session, await runArgument(session, options, runId), options),
      ),
    );
  addClientOptions(
    trace
      .command("export")
      .description(
        "Export stored runs that have ended to the collector of OTEL_EXPORTER_OTLP_ENDPOINT, also runs of servers that had none.",
      )
      .argument("[runs...]", RUN)
      .option("--since <time>", "all runs since a time (2026-01-31T12:00) or a duration (1h, 30d)")
      .option("--thread <thread>", `only runs of this thread: ${THREAD}`),
  )
    .addHelpText(
      "after",
      examples("graph-serve trace export --since 1h", `graph-serve trace export ${EXAMPLE}`),
    )
    // Flags that `trace` has too are parsed as its own, wherever they are.
    .action((ids, _, command) =>
      run(command, (session) => exportTraces(session, ids, command.optsWithGlobals())),
    );
}

interface TraceFlags extends ClientFlags {
  thread?: string;
}

async function showTrace(session: Session, runId: string, flags: TraceFlags): Promise<number> {
  const { print } = session;
  await withClient(session, flags, {}, async (client) => {
    const { threadId, run } = await findRun(client, runId, flags.thread);
    const tasks = await client.runs.tasks(threadId, run.run_id);
    const span = storedSpan(run, tasks);
    const trace_id = parseTraceparent(run.metadata[TRACEPARENT_KEY])?.traceId ?? null;
    if (print.isJson) {
      const { run_id, status } = run;
      print.json({ run_id, thread_id: threadId, status, trace_id, ...documentOf(span) });
      return;
    }
    printFields(print, [
      ["run", run.run_id],
      ["thread", threadId],
      ["status", run.status],
      ["trace", trace_id ?? undefined],
      ["started", shownTime(print, new Date(span.from).toISOString())],
      ["took", shownMs(span.to - span.from)],
      ["error", run.error ?? undefined],
    ]);
    print.data("");
    printSpans(session, span);
    noteMissing(session, client, run, tasks);
  });
  return 0;
}

interface SpanDocument {
  name: string;
  kind: "client" | "internal";
  started_at: string;
  ended_at: string;
  failed: boolean;
  attributes: TaskSpan["attributes"];
  spans: SpanDocument[];
}

const documentOf = ({
  name,
  isClient,
  from,
  to,
  hasFailed,
  attributes,
  children,
}: TaskSpan): SpanDocument => ({
  name,
  kind: isClient ? "client" : "internal",
  started_at: new Date(from).toISOString(),
  ended_at: new Date(to).toISOString(),
  failed: hasFailed,
  attributes,
  spans: children.map(documentOf),
});

interface SpanRow {
  depth: number;
  span: TaskSpan;
}

function* rowsOf(span: TaskSpan, depth = 0): Generator<SpanRow> {
  yield { depth, span };
  for (const child of span.children) yield* rowsOf(child, depth + 1);
}

function printSpans({ print }: Session, root: TaskSpan): void {
  const attribute = ({ span }: SpanRow, name: string) => String(span.attributes[name] ?? "");
  printColumns(
    print,
    [
      { title: "SPAN", cell: ({ depth, span }) => "  ".repeat(depth) + escapeControl(span.name), least: 20 },
      { title: "START", cell: ({ span }) => `+${shownMs(span.from - root.from)}`, spare: 1 },
      { title: "TOOK", cell: ({ span }) => shownMs(span.to - span.from) },
      { title: "STEP", cell: (row) => attribute(row, STEP), spare: 3 },
      { title: "TOKENS", cell: tokensText, spare: 2 },
      { title: "STATE", cell: (row) => (row.span.hasFailed ? "failed" : attribute(row, STATE)) },
    ],
    [...rowsOf(root)],
  );
}

function tokensText({ span: { attributes } }: SpanRow): string {
  const { [INPUT_TOKENS]: input, [OUTPUT_TOKENS]: output } = attributes;
  return input === undefined ? "" : `${input} in, ${output} out`;
}

function noteMissing({ print }: Session, { url }: Client, run: Run, tasks: RunTasks): void {
  const { length } = tasks.tasks;
  if (tasks.omitted > 0)
    print.note(`${tasks.omitted} tasks are not shown: a run keeps its first 200 and its last 800`);
  if (length > 0) return;
  if (isFinished(run)) print.note("the run has no recorded tasks");
  else if (url === undefined)
    print.note(
      `the run has not ended: only its server has its tasks, graph-serve trace ${run.run_id} --url URL reads them`,
    );
}

interface ExportFlags extends TraceFlags {
  since?: string;
}

async function exportTraces(session: Session, ids: string[], flags: ExportFlags): Promise<number> {
  const { print } = session;
  const { since, thread } = flags;
  if (ids.length === 0 && since === undefined && thread === undefined)
    throw new InvalidRequestError("no runs to export were named", undefined, {
      hint: "name runs, or a time: graph-serve trace export --since 1h",
    });
  if (ids.length > 0 && since !== undefined)
    throw new InvalidRequestError("--since selects runs by time, and runs were also named", undefined, {
      hint: "remove one of them",
    });
  const { settings, baseDir, env } = await loadSettings(session);
  setVariables(env);
  const collector = openStoredExport(baseDir, process.env, settings);
  const counts = { runs: 0, unfinished: 0, spans: 0 };
  await withClient(session, flags, {}, async (client) => {
    for await (const run of ids.length > 0
      ? named(client, ids, thread)
      : selected(client, { since, thread })) {
      if (!isFinished(run)) {
        counts.unfinished += 1;
        continue;
      }
      await collector.add(run, await client.runs.tasks(run.thread_id, run.run_id));
      counts.runs += 1;
    }
    counts.spans = await collector.end();
  });
  const { runs, spans, unfinished } = counts;
  if (print.isJson) print.json({ ...counts, endpoint: collector.endpoint });
  else print.data(`${counted(runs, "run")}, ${counted(spans, "span")} exported to ${collector.endpoint}`);
  if (unfinished > 0) print.note(`${counted(unfinished, "run")} not exported: not ended yet`);
  return 0;
}

async function* named(client: Client, ids: string[], thread: string | undefined): AsyncGenerator<Run> {
  for (const id of ids) yield (await findRun(client, id, thread)).run;
}

/** Newest first. Runs that are accepted meanwhile are left out, because they would move the pages. */
async function* selected(client: Client, { since, thread }: ExportFlags): AsyncGenerator<Run> {
  const filter = {
    created_before: new Date().toISOString(),
    ...(since !== undefined && { created_after: timeOf("--since", since) }),
    ...(thread !== undefined && { thread_id: await findThreadId(client, thread) }),
  };
  yield* walkPages(async (page) => (await client.runs.search({ ...filter, ...page })) as Run[]);
}
