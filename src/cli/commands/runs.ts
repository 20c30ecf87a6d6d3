import type { Command } from "@commander-js/extra-typings";
import { type Run, RUN_STATUSES } from "../../models/run.js";
import { addFormerCommand, examples, type Runner } from "../command.js";
import { runColumns } from "../inspect/run.js";
import { addClientOptions, oneOf, optionalNumber, THREAD, wholeNumber } from "../options.js";
import type { Session } from "../session.js";
import { findThreadId } from "../find.js";
import { withClient, withRows } from "../open-client.js";
import type { ListedRun, RowsClient } from "../../client/rows.js";
import type { ClientFlags } from "../options.js";
import { walkRuns } from "../../client/walk.js";
import { printColumns } from "../terminal/table.js";

export function runsCommand(runs: Command, run: Runner): void {
  runs.addHelpText("after", examples("graph-serve runs list 0198c0de-0000-7000-8000-000000000000"));
  addClientOptions(
    runs
      .command("list")
      .description("List the runs of a thread, newest first.")
      .argument("<thread>", THREAD)
      .option(
        "--status <status>",
        "only runs that are pending, running, success, error, timeout or interrupted",
      )
      .option("--limit <n>", "most runs to list", "10")
      .option("--offset <n>", "runs to skip"),
  )
    .addHelpText(
      "after",
      examples(
        "graph-serve runs list 0198c0de-0000-7000-8000-000000000000",
        "graph-serve runs list 0198c0de-0000-7000-8000-000000000000 --status error --json",
      ),
    )
    .action((thread, options, command) =>
      run(command, async (session) => listRuns(session, thread, options)),
    );
  addClientOptions(
    addFormerCommand(runs, "get", "inspect run")
      .argument("<thread>", THREAD)
      .argument("<run>", "id of the run"),
  ).action((thread, runId, options, command) =>
    run(command, async (session) =>
      (await import("./inspect.js")).inspectRun(session, runId, { ...options, thread }, { alone: true }),
    ),
  );
}

interface RunsFlags extends ClientFlags {
  status?: string;
  limit: string;
  offset?: string;
}

/** `runs list`: the runs of a thread, newest first. */
async function listRuns(session: Session, thread: string, flags: RunsFlags): Promise<number> {
  const { print } = session;
  const query = {
    limit: wholeNumber("--limit", flags.limit, 1),
    offset: optionalNumber("--offset", flags.offset) ?? 0,
    ...(flags.status !== undefined && { status: oneOf("--status", flags.status, RUN_STATUSES) }),
  };
  const list = async (client: RowsClient) => {
    const { items, next } = await runPage(client, await findThreadId(client, thread), query);
    if (print.flags.jsonl) items.forEach((run) => print.json(run));
    else if (print.flags.json) print.json({ items, next });
    else {
      if (items.length === 0) print.note("no such runs on this thread");
      printColumns(print, runColumns(print), items);
      if (next !== null) print.note(`there are more: --offset ${next}`);
    }
  };
  // JSON has what the runs were called with, which rows leave out.
  await (print.isJson ? withClient(session, flags, {}, list) : withRows(session, flags, list));
  return 0;
}

/** One run more than asked for tells whether there are more. */
async function runPage(
  client: RowsClient,
  threadId: string,
  query: { limit: number; offset: number; status?: Run["status"] },
): Promise<{ items: ListedRun[]; next: number | null }> {
  const items: ListedRun[] = [];
  for await (const run of walkRuns(client, threadId, { ...query, limit: query.limit + 1 })) items.push(run);
  const hasMore = items.length > query.limit;
  return { items: items.slice(0, query.limit), next: hasMore ? query.offset + query.limit : null };
}
