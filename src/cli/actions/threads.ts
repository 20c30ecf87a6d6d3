import type { Thread } from "../../models/thread.js";
import { GraphServeError } from "../../errors.js";
import { confirm } from "../confirm.js";
import { keyValues } from "../key-values.js";
import { optionalNumber, timeOf, wholeNumber } from "../numbers.js";
import type { Session } from "../session.js";
import { findState, findThreadId } from "../source/find.js";
import { warnHidden } from "../source/hidden.js";
import type { Source, SourceFlags } from "../source/source.js";
import { withSource } from "../source/with-source.js";
import { printThread } from "../threads/card.js";
import { filterOf, oneOf, sortOf, type FilterFlags } from "../threads/filters.js";
import { threadPage } from "../threads/page.js";
import { threadColumns, threadRow, type ThreadRow } from "../threads/rows.js";
import { printColumns } from "../view/columns.js";

export interface ListFlags extends SourceFlags, FilterFlags {
  limit: string;
  offset?: string;
  sort?: string;
  since?: string;
}

/** `threads list`: one page of threads, newest first unless `--sort` says otherwise. */
export async function listThreads(session: Session, flags: ListFlags): Promise<number> {
  const { print } = session;
  const request = { ...filterOf(flags), ...sortOf(flags.sort) };
  const page = {
    limit: wholeNumber("--limit", flags.limit, 1),
    offset: optionalNumber("--offset", flags.offset) ?? 0,
    since: flags.since === undefined ? undefined : timeOf("--since", flags.since),
  };
  await withSource(session, flags, {}, async (source) => {
    const { items, next } = await threadPage(source, request, page);
    warnHidden(print, source, items);
    if (print.flags.jsonl) items.forEach((thread) => print.json(thread));
    else if (print.flags.json) print.json({ items, next });
    else await showThreads(session, source, items, next);
  });
  return 0;
}

async function showThreads(
  { print }: Session,
  source: Source,
  threads: Partial<Thread>[],
  next: number | null,
): Promise<void> {
  if (threads.length === 0) print.note(`no such threads in ${source.place}`);
  const rows: ThreadRow[] = [];
  for (const thread of threads) rows.push(await threadRow(source, thread));
  await printColumns(print, threadColumns(print), rows);
  if (next !== null) print.note(`there are more: --offset ${next}`);
}

/** `threads get`: one thread. */
export async function getThread(session: Session, thread: string, flags: SourceFlags): Promise<number> {
  const { print } = session;
  await withSource(session, flags, {}, async (source) => {
    const found = await source.threads.get(await findThreadId(source, thread));
    warnHidden(print, source, [found]);
    if (print.isJson) print.json(found);
    else printThread(print, found);
  });
  return 0;
}

export interface WriteFlags extends SourceFlags {
  metadata?: string[];
  ttl?: string;
}

export interface CreateFlags extends WriteFlags {
  id?: string;
  ifExists?: string;
}

const IF_EXISTS = ["raise", "do_nothing"] as const;

/** `threads create`: prints the new thread's id. */
export async function createThread(session: Session, flags: CreateFlags): Promise<number> {
  const { id, ifExists } = flags;
  const request = {
    ...written(flags),
    ...(id !== undefined && { thread_id: id }),
    ...(ifExists !== undefined && { if_exists: oneOf("--if-exists", ifExists, IF_EXISTS) }),
  };
  return change(session, flags, (source) => source.threads.create(request).catch(explainTaken(id)));
}

const explainTaken =
  (id = "") =>
  (error: unknown): never => {
    if (!(error instanceof GraphServeError) || error.code !== "thread_exists") throw error;
    throw new GraphServeError("thread_exists", `thread "${id}" already exists`, {
      hint: "add --if-exists do_nothing to print it",
      cause: error,
    });
  };

export interface CopyFlags extends SourceFlags {
  at?: string;
}

/** `threads copy`: a new thread with the latest state, or that of `--at`; prints its id. */
export function copyThread(session: Session, thread: string, flags: CopyFlags): Promise<number> {
  const { at } = flags;
  return change(session, flags, async (source) => {
    const threadId = await findThreadId(source, thread);
    if (at === undefined) return source.threads.copy(threadId);
    const { checkpoint } = await findState(source, threadId, { at });
    return source.threads.copy(threadId, { checkpoint_id: checkpoint?.checkpoint_id ?? undefined });
  });
}

/** `threads patch`: metadata is merged key by key. */
export function patchThread(session: Session, thread: string, flags: WriteFlags): Promise<number> {
  const request = written(flags);
  return change(session, flags, async (source) =>
    source.threads.update(await findThreadId(source, thread), request),
  );
}

function written({ metadata, ttl }: WriteFlags) {
  return {
    ...(metadata && { metadata: keyValues("--metadata", metadata) }),
    ...(ttl !== undefined && { ttl: wholeNumber("--ttl", ttl, 1) }),
  };
}

/** Change a thread and print it: with `--json` in full, else its id alone, for the next command. */
async function change(
  session: Session,
  flags: SourceFlags,
  work: (source: Source) => Promise<Thread>,
): Promise<number> {
  const { print } = session;
  const thread = await withSource(session, flags, { access: "write" }, work);
  if (print.isJson) print.json(thread);
  else print.data(thread.thread_id);
  return 0;
}

/** `threads delete`: with their runs and checkpoints. */
export async function deleteThreads(
  session: Session,
  threads: readonly string[],
  flags: SourceFlags,
): Promise<number> {
  const { print } = session;
  await withSource(session, flags, { access: "write" }, async (source) => {
    const ids: string[] = [];
    for (const thread of threads)
      ids.push((await source.threads.get(await findThreadId(source, thread))).thread_id);
    const what = ids.length === 1 ? `thread ${ids[0]}` : `${ids.length} threads`;
    if (!(await confirm(session, `Delete ${what} with all its runs and checkpoints?`))) return;
    for (const id of ids) await source.threads.delete(id);
    if (print.isJson) print.json({ deleted: ids });
    else print.note(`deleted ${what}`);
  });
  return 0;
}
