/** What `inspect run` finds: a run superstep by superstep. */
import { reportedTokens, type Run, type TokenUsage } from "../../models/run.js";
import type { ListedRun } from "../../client/rows.js";
import type { ThreadState } from "../../models/state.js";
import { asked, entryOf, type HistoryEntry, ownNodes, RunFacts } from "../history/entries.js";
import type { Client } from "../../client/client.js";
import type { RunFault } from "../../support/run-fault.js";
import { faultText } from "../report-error.js";
import { CheckpointPath, walkStates } from "../../client/walk.js";
import { type Column, printColumnsAsRead, printFields } from "../terminal/table.js";
import type { Printer } from "../terminal/print.js";
import { msBetween, shownId, shownMs, shownTime } from "../terminal/text.js";
import { errorLine } from "../../view/text.js";

interface Superstep {
  step: number | null;
  source: string;
  /** Nodes that ran; empty for the input. */
  nodes: string[];
  next: string[];
  /** From the checkpoint before, or from the start of the run. */
  ms: number | null;
  changed: string[];
  checkpoint_id: string;
  created_at: string | null;
  /** Errors that ended the run after this checkpoint, as JSON text. */
  errors: string[];
  interrupts: number;
}

/** The supersteps of a run, oldest first; the ids of its checkpoints are held, and a page of them. */
export async function* superstepsOf(client: Client, threadId: string, run: Run): AsyncGenerator<Superstep> {
  const states = walkStates(client, threadId, { metadata: { run_id: run.run_id } });
  const path = await CheckpointPath.of(client, threadId, states);
  const runs = new RunFacts(client, threadId);
  let before: ThreadState | undefined;
  for await (const state of path.states()) {
    yield superstep(await entryOf(client, threadId, state, before, runs));
    before = state;
  }
}

function superstep(entry: HistoryEntry): Superstep {
  const { id, step, source, nodes, next, ms, changed, created_at, errors, interrupts } = entry;
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
  };
}

/** The card of the run at once, then a row a superstep as they are read. */
export async function printInspectedRun(
  print: Printer,
  run: Run,
  supersteps: AsyncIterable<Superstep>,
  fault: RunFault | undefined,
): Promise<void> {
  printRun(print, run);
  if (fault) printFault(print, fault);
  let last: Superstep | undefined;
  async function* rows(): AsyncGenerator<Superstep> {
    for await (const superstep of supersteps) {
      if (!last) print.data("");
      last = superstep;
      yield superstep;
    }
  }
  await printColumnsAsRead(print, superstepColumns(print), rows());
  if (!last) {
    print.note("the run left no checkpoint");
    return;
  }
  printFields(print, [
    ...last.errors.map((error) => ["failed", errorLine(error)] as const),
    ["ended", last.interrupts > 0 ? `${asked(last.interrupts)} in ${last.next.join(", ")}` : ""],
  ]);
}

function nodesText(nodes: readonly string[], source: string): string {
  const own = ownNodes(nodes);
  if (own.length > 0) return own.join(", ");
  return nodes.length > 0 ? "(start)" : `(${source})`;
}

function superstepColumns(print: Printer): Column<Superstep>[] {
  return [
    { title: "STEP", cell: ({ step }) => String(step ?? "") },
    {
      title: "NODES",
      cell: ({ nodes, source }) => nodesText(nodes, source),
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

/** What a run threw, and where, below its card. */
export function printFault(print: Printer, fault: RunFault): void {
  print.data("");
  print.data(faultText(fault, { colors: print.colors, cwd: print.cwd }));
}

/** A run's own fields, a line each. */
export function printRun(print: Printer, run: Run): void {
  const { kwargs, usage } = run;
  printFields(print, [
    ["run", run.run_id],
    ["thread", run.thread_id],
    ["assistant", run.assistant_id],
    ["status", run.status],
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

// Runs as the rows of a table.

const ENDED = new Set<Run["status"]>(["success", "error", "timeout", "interrupted"]);

/** How long a run took from its acceptance to its end. */
function runMs({ status, created_at, updated_at }: ListedRun): number | undefined {
  return ENDED.has(status) ? msBetween(created_at, updated_at) : undefined;
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
