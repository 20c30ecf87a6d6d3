import { RUN_STATUSES, type Run } from "../../models/run.js";
import { optionalNumber, wholeNumber } from "../numbers.js";
import { printRun } from "../runs/card.js";
import { runColumns } from "../runs/columns.js";
import type { Session } from "../session.js";
import { findRun, findThreadId } from "../source/find.js";
import type { Source, SourceFlags } from "../source/source.js";
import { walkRuns } from "../source/walk.js";
import { withSource } from "../source/with-source.js";
import { oneOf } from "../threads/filters.js";
import { printColumns } from "../view/columns.js";

export interface RunsFlags extends SourceFlags {
  status?: string;
  limit: string;
  offset?: string;
}

/** `runs list`: the runs of a thread, newest first. */
export async function listRuns(session: Session, thread: string, flags: RunsFlags): Promise<number> {
  const { print } = session;
  const query = {
    limit: wholeNumber("--limit", flags.limit, 1),
    offset: optionalNumber("--offset", flags.offset) ?? 0,
    ...(flags.status !== undefined && { status: oneOf("--status", flags.status, RUN_STATUSES) }),
  };
  await withSource(session, flags, {}, async (source) => {
    const { items, next } = await runPage(source, await findThreadId(source, thread), query);
    if (print.flags.jsonl) items.forEach((run) => print.json(run));
    else if (print.flags.json) print.json({ items, next });
    else {
      if (items.length === 0) print.note("no such runs on this thread");
      await printColumns(print, runColumns(print), items);
      if (next !== null) print.note(`there are more: --offset ${next}`);
    }
  });
  return 0;
}

/** One run more than asked for tells whether there are more. */
async function runPage(
  source: Source,
  threadId: string,
  query: { limit: number; offset: number; status?: Run["status"] },
): Promise<{ items: Run[]; next: number | null }> {
  const items: Run[] = [];
  for await (const run of walkRuns(source, threadId, { ...query, limit: query.limit + 1 })) items.push(run);
  const hasMore = items.length > query.limit;
  return { items: items.slice(0, query.limit), next: hasMore ? query.offset + query.limit : null };
}

/** `runs get`: one run of a thread. */
export async function getRun(
  session: Session,
  thread: string,
  runId: string,
  flags: SourceFlags,
): Promise<number> {
  const { print } = session;
  await withSource(session, flags, {}, async (source) => {
    const { run } = await findRun(source, runId, thread);
    if (print.isJson) print.json(run);
    else printRun(print, run);
  });
  return 0;
}
