/** What `inspect thread` finds, and its card. */
import type { Run } from "../../models/run.js";
import type { ThreadState } from "../../models/state.js";
import type { Thread } from "../../models/thread.js";
import type { RunFault } from "../../support/run-fault.js";
import { faultOf } from "../history/faults.js";
import { nextCommand } from "../run/outcome.js";
import type { PlaceFlags } from "../options.js";
import type { Session } from "../session.js";
import type { Client } from "../../client/client.js";
import { runTotals, walkRuns } from "../../client/walk.js";
import { type Field, printColumns, printFields } from "../terminal/table.js";
import type { Printer } from "../terminal/print.js";
import { clipped, shownTime } from "../terminal/text.js";
import { valueTree } from "../terminal/value-tree.js";
import { printFault, runColumns } from "./run.js";
import { errorLine } from "../../view/text.js";

const MOST_RUNS = 10;

interface InspectedThread {
  thread: Thread;
  state: ThreadState;
  /** The newest ones. */
  runs: Run[];
  totals: { runs: number; tokens: number; errors: number };
  /** What the newest run threw, where the client tells. */
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
  /** The values alone. */
  values?: boolean;
  /** Fold nothing. */
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
  const tree = valueTree(found.thread.values, { colors, width, full }, values ? 0 : 1);
  if (values) {
    for (const line of tree) print.data(line);
    return;
  }
  printCard(print, found);
  printInterrupts(session, client, found, flags);
  print.data(colors.dim("values"));
  for (const line of tree.length > 0 ? tree : ["  none"]) print.data(line);
  if (found.fault) printFault(print, found.fault);
  if (found.runs.length === 0) return;
  print.data("");
  printColumns(print, runColumns(print), found.runs);
  const more = found.totals.runs - found.runs.length;
  if (more > 0) print.note(`and ${more} runs before: graph-serve runs list ${found.thread.thread_id}`);
}

function printCard(print: Printer, { thread, state, totals }: InspectedThread): void {
  const { graph_id, ...metadata } = thread.metadata;
  const failed = totals.errors > 0 ? `, ${totals.errors} failed` : "";
  const errors = state.tasks.flatMap(({ name, error }) =>
    error === null ? [] : [`${name}: ${errorLine(error)}`],
  );
  printFields(print, [
    ["thread", thread.thread_id],
    ["status", thread.status],
    ["graph", typeof graph_id === "string" ? graph_id : undefined],
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

/** Each open question, and the one command that answers. The command is not cut: it is there to be copied. */
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
      `${yellow("waits for".padEnd(10))} ${clipped(`${mark}${JSON.stringify(value)}`, print.width - 11)}`,
    );
  }
  const command = nextCommand({ thread_id: thread.thread_id, interrupts }, client.graphOf(thread), {
    ...flags,
    ...place,
    url: client.url,
  });
  print.data(`${dim("answer".padEnd(10))} ${bold(print.asCalled(command))}`);
}

/** Which tasks of an unfinished superstep have ended, and the run that it is of; nothing without one. */
export function unfinishedFields({ unfinished_step: step, tasks }: ThreadState): Field[] {
  if (!step) return [];
  const names = tasks.filter(({ id }) => step.tasks.includes(id)).map(({ name }) => name);
  return [
    ["unfinished", `${names.join(", ")} ended, its superstep did not: what it wrote is in no checkpoint`],
    ["of run", step.run_id ?? "unknown"],
  ];
}
