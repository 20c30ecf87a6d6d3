import type { Client } from "../../client/client.js";
import type { DeadRun } from "../../models/dead-run.js";
import { GraphServeError, InvalidRequestError } from "../../support/errors.js";
import { findRun, LAST } from "../session/find.js";
import { withClient } from "../session/open-client.js";
import { type ClientFlags, pageOf, type PageFlags } from "../session/options.js";
import type { Session } from "../session/session.js";
import { slicePage, printPage } from "../terminal/page.js";
import type { Printer } from "../terminal/print.js";
import type { Column } from "../terminal/table.js";
import { shownId, shownTime } from "../terminal/text.js";

const MOST_AT_ONCE = 1000;

/** `runs dead`: lists runs that failed because their processes crashed, newest first. */
export async function listDeadRuns(session: Session, flags: ClientFlags & PageFlags): Promise<number> {
  const { print } = session;
  const page = pageOf(flags, MOST_AT_ONCE - 1);
  await withClient(session, flags, {}, async (client) => {
    const found = await client.runs.dead({ ...page, limit: page.limit + 1 });
    printPage(print, slicePage(found, page), {
      columns: columns(print),
      none: `no dead runs in ${client.place}`,
    });
  });
  return 0;
}

const columns = (print: Printer): Column<DeadRun>[] => [
  { title: "RUN", cell: ({ run_id }) => shownId(print, run_id) },
  { title: "THREAD", cell: ({ thread_id }) => shownId(print, thread_id) },
  { title: "GRAPH", cell: ({ graph_id, assistant_id }) => graph_id ?? assistant_id },
  { title: "DIED", cell: ({ died_at }) => shownTime(print, died_at) },
  { title: "ATTEMPTS", cell: ({ attempts }) => String(attempts) },
  { title: "REASON", cell: ({ reason }) => reason ?? "" },
];

interface RedriveFlags extends ClientFlags {
  all?: boolean;
}

/** `runs redrive`: requeues the named dead runs, or all. Exits with code 5 if one of several cannot be requeued. */
export async function redriveRuns(
  session: Session,
  ids: readonly string[],
  { all: isAll = false, ...flags }: RedriveFlags,
): Promise<number> {
  if (isAll === ids.length > 0)
    throw new InvalidRequestError(
      isAll ? "--all cannot be combined with run ids" : "specify runs, or use --all",
      undefined,
      { hint: "list dead runs that can be requeued: graph-serve runs dead" },
    );
  return withClient(session, flags, { access: "write" }, async (client) => {
    const asked = isAll ? await allDead(client) : await named(client, ids);
    const done = await redrive(client, asked, { isOnlyOne: ids.length === 1 });
    printRedriven(session.print, client, done);
    return done.refused.length > 0 ? 5 : 0;
  });
}

interface Redriven {
  redriven: string[];
  refused: { run_id: string; code: string; reason: string }[];
}

type RunKey = Pick<DeadRun, "run_id" | "thread_id">;

async function named(client: Client, ids: readonly string[]): Promise<RunKey[]> {
  const found: RunKey[] = [];
  for (const id of ids) found.push(id === LAST ? await newestDead(client) : (await findRun(client, id)).run);
  return found;
}

async function newestDead({ runs, place }: Client): Promise<RunKey> {
  const [newest] = await runs.dead({ limit: 1, offset: 0 });
  if (newest) return newest;
  throw new GraphServeError("run_not_found", `there are no dead runs in ${place}`);
}

/** Reports each run that cannot be requeued, and requeues the others. @throws GraphServeError if there is only one run */
async function redrive(
  client: Client,
  asked: readonly RunKey[],
  { isOnlyOne }: { isOnlyOne: boolean },
): Promise<Redriven> {
  const done: Redriven = { redriven: [], refused: [] };
  for (const { thread_id, run_id } of asked) {
    try {
      await client.runs.redrive(thread_id, run_id);
      done.redriven.push(run_id);
    } catch (error) {
      if (isOnlyOne || !(error instanceof GraphServeError) || error.status >= 500) throw error;
      done.refused.push({ run_id, code: error.code, reason: error.message });
    }
  }
  return done;
}

/** All dead runs, oldest first. */
async function allDead(client: Client): Promise<DeadRun[]> {
  const found: DeadRun[] = [];
  for (;;) {
    const page = await client.runs.dead({ limit: MOST_AT_ONCE, offset: found.length });
    found.push(...page);
    if (page.length < MOST_AT_ONCE) return found.reverse();
  }
}

function printRedriven(print: Printer, client: Client, { redriven, refused }: Redriven): void {
  if (print.isJson) return print.json({ redriven, refused });
  for (const { reason } of refused) print.warn(reason);
  if (redriven.length === 0 && refused.length === 0) print.note(`no dead runs in ${client.place}`);
  if (redriven.length === 0) return;
  const who = client.url === undefined ? "a server that uses this storage" : "the server";
  print.note(`${who} will continue ${redriven.length === 1 ? "run" : "runs"} ${redriven.join(", ")}`);
}
