/** The `inspect` output of threads and runs. */
import type { Run, TokenUsage } from "../../models/run.js";
import { isFinished } from "../../models/run-status.js";
import { reportedTokens } from "../../models/token-counts.js";
import type { ListedRun } from "../../client/rows.js";
import type { ThreadState } from "../../models/state.js";
import { pendingQuestions, entryOf, type HistoryEntry, RunLabels, sourceText } from "../history/entries.js";
import type { Client } from "../../client/client.js";
import type { RunFault } from "../../support/run-fault.js";
import { faultText } from "../session/report-error.js";
import { CheckpointPath, runTotals, walkRuns, walkStates } from "../../client/walk.js";
import { type Column, type Field, printColumns, printColumnsAsRead, printFields } from "../terminal/table.js";
import type { Printer } from "../terminal/print.js";
import { clipped, indentedPath, msBetween, shownId, shownMs, shownTime } from "../terminal/text.js";
import { userNodes } from "../../view/diagram.js";
import { errorLine } from "../../view/text.js";
import type { Thread } from "../../models/thread.js";
import { faultOf } from "../history/faults.js";
import { innerSteps, withSubgraphs } from "../history/subgraphs.js";
import { within } from "../session/namespace.js";
import { nextCommand } from "../run/outcome.js";
import type { PlaceFlags } from "../session/options.js";
import type { Session } from "../session/session.js";
import { valueTree } from "../terminal/value-tree.js";

// A thread.

const MOST_RUNS = 10;

interface InspectedThread {
  thread: Thread;
  state: ThreadState;
  /** The newest runs. */
  runs: Run[];
  totals: { runs: number; tokens: number; errors: number };
  /** The error of the newest run, if the client reports it. */
  fault?: RunFault;
}

/** @throws NotFoundError (`thread_not_found`) */
export async function inspectedThread(client: Client, threadId: string): Promise<InspectedThread> {
  const thread = await client.threads.get(threadId);
  const state = await client.threads.getState(threadId);
  const runs: Run[] = [];
  for await (const run of walkRuns(client, threadId, { limit: MOST_RUNS })) runs.push(run);
  const [newest] = runs;
  const fault = newest?.error == null ? undefined : await faultOf(client, newest);
  return { thread, state, runs, totals: await runTotals(client, threadId), ...(fault && { fault }) };
}

interface CardFlags extends PlaceFlags {
  /** Print only the values. */
  values?: boolean;
  /** Do not fold or truncate values. */
  full?: boolean;
}

export function printInspectedThread(
  session: Session,
  client: Client,
  found: InspectedThread,
  flags: CardFlags,
): void {
  const { print } = session;
  const { values, full } = flags;
  const { colors, width } = print;
  const tree = valueTree(found.state.values, { colors, width, full }, values ? 0 : 1);
  if (values) {
    for (const line of tree) print.data(line);
    return;
  }
  printCard(print, found);
  printInterrupts(session, client, found, flags);
  print.data(colors.dim("values"));
  const none = client.whyHidden(found.thread) ? "  hidden" : "  none";
  for (const line of tree.length > 0 ? tree : [none]) print.data(line);
  if (found.fault) printFault(print, found.fault);
  if (found.runs.length === 0) return;
  print.data("");
  printColumns(print, runColumns(print), found.runs);
  const more = found.totals.runs - found.runs.length;
  if (more > 0) print.note(`${more} older runs: graph-serve runs list ${found.thread.thread_id}`);
  // A server reports only runs that a server is still executing.
  if (client.url === undefined && found.thread.status === "busy")
    print.note("if the server of the running run has crashed: graph-serve recover");
}

function printCard(print: Printer, { thread, state, totals }: InspectedThread): void {
  const { graph_id, graph_version, ...metadata } = thread.metadata;
  const failed = totals.errors > 0 ? `, ${totals.errors} failed` : "";
  const errors = state.tasks.flatMap(({ name, error }) =>
    error === null ? [] : [`${name}: ${errorLine(error)}`],
  );
  printFields(print, [
    ["thread", thread.thread_id],
    ["status", thread.status],
    ["graph", typeof graph_id === "string" ? graph_id : undefined],
    ["version", typeof graph_version === "string" ? graph_version : undefined],
    ["created", shownTime(print, thread.created_at)],
    ["updated", shownTime(print, thread.updated_at)],
    ["metadata", JSON.stringify(metadata)],
    ["runs", `${totals.runs}${failed}, ${totals.tokens} tokens`],
    ["checkpoint", state.checkpoint?.checkpoint_id ?? "none"],
    ["next", state.next.join(", ")],
    ...unfinishedFields(state),
    ["error", thread.error ?? undefined],
    [
      "expires",
      thread.ttl ? `${shownTime(print, thread.ttl.expires_at)} (${thread.ttl.strategy})` : undefined,
    ],
    ...errors.map((error) => ["failed", error] as const),
  ]);
}

/** Prints open interrupts and the command that answers them. The command is not truncated, so that it can be copied. */
function printInterrupts(
  { print, flags }: Session,
  client: Client,
  { thread, state }: InspectedThread,
  place: PlaceFlags,
): void {
  const { interrupts } = state;
  if (interrupts.length === 0) return;
  const { yellow, dim, bold } = print.colors;
  for (const { id, value } of interrupts) {
    const mark = interrupts.length > 1 ? `${id} ` : "";
    print.data(
      `${yellow("interrupt".padEnd(10))} ${clipped(`${mark}${JSON.stringify(value)}`, print.width - 11)}`,
    );
  }
  const command = nextCommand({ thread_id: thread.thread_id, interrupts }, client.graphOf(thread), {
    ...flags,
    ...place,
    url: client.url,
  });
  print.data(`${dim("answer".padEnd(10))} ${bold(print.asCalled(command))}`);
}

/** The finished tasks of an unfinished superstep, and its run; empty without an unfinished superstep. */
export function unfinishedFields({ unfinished_step: step, tasks }: ThreadState): Field[] {
  if (!step) return [];
  const names = tasks.filter(({ id }) => step.tasks.includes(id)).map(({ name }) => name);
  return [
    [
      "unfinished",
      `${names.join(", ")} finished, but the superstep did not: the writes are not in a checkpoint yet`,
    ],
    ["of run", step.run_id ?? "unknown"],
  ];
}

// The supersteps of a run.

interface Superstep {
  step: number | null;
  source: string;
  /** Executed nodes; empty for the input. */
  nodes: string[];
  next: string[];
  /** Milliseconds since the previous checkpoint, or since the start of the run. */
  ms: number | null;
  changed: string[];
  checkpoint_id: string;
  created_at: string | null;
  /** Errors that ended the run after this checkpoint, as JSON text. */
  errors: string[];
  interrupts: number;
  /** Set if it is not the first attempt. */
  attempt?: number;
  /** Version of the graph that a migration converted the thread from. */
  migrated_from?: string;
  /** Supersteps of the subgraphs that the nodes ran, in order; omitted without subgraphs. */
  subgraphs?: InnerSuperstep[];
}

interface InnerSuperstep extends Omit<Superstep, "subgraphs"> {
  namespace: string;
  /** Nodes around it, from the outermost. */
  path: string[];
}

/** The supersteps of a run, oldest first. Keeps the checkpoint ids and one page of checkpoints in memory. */
export async function* superstepsOf(client: Client, threadId: string, run: Run): AsyncGenerator<Superstep> {
  const read = (namespace: string) =>
    withSubgraphs(entriesOf(client, threadId, run.run_id, namespace), "oldest first");
  for await (const { entry, subgraphs } of read("")) {
    const inner: InnerSuperstep[] = [];
    for await (const { namespace, path, step } of innerSteps(subgraphs, read))
      inner.push({ namespace, path, ...superstep(step.entry) });
    yield { ...superstep(entry), ...(inner.length > 0 && { subgraphs: inner }) };
  }
}

/** The entries of a run in a namespace, oldest first. */
async function* entriesOf(
  client: Client,
  threadId: string,
  run_id: string,
  namespace: string,
): AsyncGenerator<{ entry: HistoryEntry }> {
  const states = walkStates(client, threadId, { ...within(namespace), metadata: { run_id } });
  const path = await CheckpointPath.of(client, threadId, states);
  const runs = new RunLabels(client, threadId);
  let before: ThreadState | undefined;
  for await (const state of path.states()) {
    yield { entry: await entryOf(client, threadId, state, before, runs) };
    before = state;
  }
}

function superstep(entry: HistoryEntry): Superstep {
  const { id, step, source, nodes, next, ms, changed, created_at, errors, interrupts } = entry;
  const { attempt, migrated_from } = entry;
  return {
    step: step ?? null,
    source,
    nodes,
    next,
    ms: ms ?? null,
    changed,
    checkpoint_id: id,
    created_at,
    errors,
    interrupts,
    ...(attempt !== undefined && { attempt }),
    ...(migrated_from !== undefined && { migrated_from }),
  };
}

/** Prints the run, then one row per superstep while they are read. */
export async function printInspectedRun(
  print: Printer,
  run: Run,
  supersteps: AsyncIterable<Superstep>,
  fault: RunFault | undefined,
): Promise<void> {
  printRun(print, run);
  if (fault) printFault(print, fault);
  let last: Superstep | undefined;
  async function* rows(): AsyncGenerator<Superstep & Partial<InnerSuperstep>> {
    for await (const superstep of supersteps) {
      if (!last) print.data("");
      last = superstep;
      yield superstep;
      yield* superstep.subgraphs ?? [];
    }
  }
  await printColumnsAsRead(print, superstepColumns(print), rows());
  if (!last) {
    print.note("the run wrote no checkpoints");
    return;
  }
  printFields(print, [
    ...last.errors.map((error) => ["failed", errorLine(error)] as const),
    ["ended", last.interrupts > 0 ? `${pendingQuestions(last.interrupts)} in ${last.next.join(", ")}` : ""],
  ]);
}

const INDENT = "  ";

function nodesText(nodes: readonly string[], source: string): string {
  const own = userNodes(nodes);
  if (own.length > 0) return own.join(", ");
  return nodes.length > 0 ? "(start)" : `(${source})`;
}

function superstepColumns(print: Printer): Column<Superstep & Partial<InnerSuperstep>>[] {
  return [
    { title: "STEP", cell: ({ step }) => String(step ?? "") },
    {
      title: "NODES",
      cell: ({ nodes, attempt, path = [], ...made }) => {
        const text = indentedPath([...path, nodesText(nodes, sourceText(made))]).slice(INDENT.length);
        return attempt === undefined ? text : `${text} (attempt ${attempt})`;
      },
      least: 8,
    },
    { title: "MS", cell: ({ ms }) => String(ms ?? ""), spare: 1 },
    { title: "CHANGED", cell: ({ changed }) => changed.join(", "), spare: 2, least: 8 },
    { title: "CHECKPOINT", cell: ({ checkpoint_id }) => shownId(print, checkpoint_id), spare: 3 },
  ];
}

function tokensText(usage: TokenUsage): string {
  const { total_tokens, input_tokens, output_tokens } = reportedTokens(usage);
  const reported = `${total_tokens} (${input_tokens} in, ${output_tokens} out)`;
  return usage.source === "messages"
    ? `${reported}, ${usage.total_tokens} in the thread's messages`
    : reported;
}

/** Prints the error of a run and its location. */
export function printFault(print: Printer, fault: RunFault): void {
  print.data("");
  print.data(faultText(fault, { colors: print.colors, cwd: print.cwd }));
}

/** Prints the fields of a run, one per line. */
function printRun(print: Printer, run: Run): void {
  const { kwargs, usage } = run;
  printFields(print, [
    ["run", run.run_id],
    ["thread", run.thread_id],
    ["assistant", run.assistant_id],
    ["status", run.status],
    ["attempts", run.attempt > 1 ? `${run.attempt}: its process crashed` : undefined],
    ["error", run.error ?? undefined],
    ["started", shownTime(print, run.created_at)],
    ["took", shownMs(runMs(run))],
    ["tokens", usage ? tokensText(usage) : undefined],
    ["strategy", run.multitask_strategy],
    ["input", kwargs.input == null ? undefined : JSON.stringify(kwargs.input)],
    ["command", kwargs.command == null ? undefined : JSON.stringify(kwargs.command)],
    ["metadata", JSON.stringify(run.metadata)],
  ]);
}

// Runs as table rows.

/** Milliseconds from the acceptance to the end of a run; undefined before its end. */
function runMs(run: ListedRun): number | undefined {
  return isFinished(run) ? msBetween(run.created_at, run.updated_at) : undefined;
}

const LEAST_ERROR = 10;

export function runColumns(print: Printer): Column<ListedRun>[] {
  return [
    { title: "RUN", cell: ({ run_id }) => shownId(print, run_id) },
    { title: "STATUS", cell: ({ status }) => status },
    { title: "STRATEGY", cell: ({ multitask_strategy }) => multitask_strategy, spare: 4 },
    { title: "STARTED", cell: ({ created_at }) => shownTime(print, created_at), spare: 3 },
    { title: "MS", cell: (run) => String(runMs(run) ?? ""), spare: 1 },
    {
      title: "TOKENS",
      cell: ({ usage }) => (usage ? String(reportedTokens(usage).total_tokens) : ""),
      spare: 2,
    },
    { title: "ERROR", cell: ({ error }) => error ?? "", least: LEAST_ERROR },
  ];
}
