/** Threads as the rows of a table. */
import type { Thread } from "../../models/thread.js";
import { lastMessageLine } from "../message-text.js";
import type { Printer } from "../print.js";
import type { Source } from "../source/source.js";
import { walkRuns } from "../source/walk.js";
import { shownId, shownTime } from "../view/text.js";
import type { Column } from "../view/columns.js";

export interface ThreadRow {
  thread: Partial<Thread>;
  runs: number;
  tokens: number;
}

/** The thread with what its runs add up to. */
export async function threadRow(source: Source, thread: Partial<Thread>): Promise<ThreadRow> {
  return { thread, ...(await runTotals(source, thread.thread_id ?? "")) };
}

export async function runTotals(
  source: Source,
  threadId: string,
): Promise<{ runs: number; tokens: number; errors: number }> {
  const totals = { runs: 0, tokens: 0, errors: 0 };
  for await (const { usage, status } of walkRuns(source, threadId)) {
    totals.runs += 1;
    totals.tokens += usage?.total_tokens ?? 0;
    if (status === "error" || status === "timeout") totals.errors += 1;
  }
  return totals;
}

const LEAST_MESSAGE = 8;

export function threadColumns(print: Printer): Column<ThreadRow>[] {
  return [
    { title: "ID", cell: ({ thread }) => shownId(print, thread.thread_id ?? "") },
    { title: "STATUS", cell: ({ thread }) => thread.status ?? "" },
    { title: "UPDATED", cell: ({ thread }) => shownTime(print, thread.updated_at), spare: 1 },
    { title: "RUNS", cell: ({ runs }) => String(runs), spare: 2 },
    { title: "TOKENS", cell: ({ tokens }) => String(tokens), spare: 3 },
    { title: "LAST MESSAGE", cell: ({ thread }) => lastMessageLine(thread.values), least: LEAST_MESSAGE },
  ];
}
