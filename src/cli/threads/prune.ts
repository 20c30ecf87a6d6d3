import type { Thread } from "../../models/thread.js";
import { timeOf } from "../session/options.js";
import { confirm, type Session } from "../session/session.js";
import { withClient } from "../session/open-client.js";
import type { Client } from "../../client/client.js";
import type { ClientFlags } from "../session/options.js";
import { walkThreads } from "../../client/walk.js";
import { printColumns } from "../terminal/table.js";
import { shownId, shownTime } from "../terminal/text.js";
import { type FilterFlags, filterOf } from "./list.js";

interface PruneFlags extends ClientFlags, FilterFlags {
  olderThan: string;
  dryRun?: boolean;
}

type Outdated = Pick<Thread, "thread_id" | "status" | "updated_at">;

/** `threads prune`: deletes threads that have not changed since a given time; busy threads are kept. */
export async function pruneThreads(session: Session, flags: PruneFlags): Promise<number> {
  const { print } = session;
  const before = timeOf("--older-than", flags.olderThan);
  const access = flags.dryRun ? "read" : "write";
  await withClient(session, flags, { access }, async (client) => {
    const threads = await outdated(client, filterOf(flags), before);
    if (!flags.dryRun && threads.length > 0) {
      if (!(await confirm(session, `Delete ${threads.length} threads with all their runs and checkpoints?`)))
        return;
      for (const { thread_id } of threads) await client.threads.delete(thread_id);
    }
    report(session, threads, flags.dryRun ?? false);
  });
  if (flags.dryRun) print.note("--dry-run: nothing was deleted");
  return 0;
}

/** Least recently changed threads first. Reads all ids before the first deletion, because deletions shift the pages. */
async function outdated(
  client: Client,
  filter: ReturnType<typeof filterOf>,
  before: string,
): Promise<Outdated[]> {
  const found: Outdated[] = [];
  const select: ("thread_id" | "status" | "updated_at")[] = ["thread_id", "status", "updated_at"];
  const request = { ...filter, select, sort_by: "updated_at", sort_order: "asc" } as const;
  for await (const { thread_id = "", status = "idle", updated_at = "" } of walkThreads(client, request)) {
    if (updated_at >= before) break;
    if (status !== "busy") found.push({ thread_id, status, updated_at });
  }
  return found;
}

function report({ print }: Session, items: Outdated[], dryRun: boolean): void {
  if (print.flags.jsonl) {
    for (const thread of items) print.json(thread);
    return;
  }
  if (print.flags.json) {
    print.json({ items, next: null, deleted: dryRun ? 0 : items.length });
    return;
  }
  printColumns(
    print,
    [
      { title: "ID", cell: ({ thread_id }: Outdated) => shownId(print, thread_id) },
      { title: "STATUS", cell: ({ status }) => status, spare: 1 },
      { title: "UPDATED", cell: ({ updated_at }) => shownTime(print, updated_at) },
    ],
    items,
  );
  print.note(`${items.length} threads ${dryRun ? "would be deleted" : "deleted"}`);
}
