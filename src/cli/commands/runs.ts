import type { Command } from "@commander-js/extra-typings";
import type { Run } from "../../models/run.js";
import { RUN_STATUSES } from "../../models/run-status.js";
import { addFormerCommand, examples, type Runner } from "../session/command.js";
import { runColumns } from "../inspect/cards.js";
import { addClientOptions, oneOf, THREAD, pageOf, type PageFlags } from "../session/options.js";
import type { Session } from "../session/session.js";
import { findThreadId } from "../session/find.js";
import { withClient, withRows } from "../session/open-client.js";
import type { ListedRun, RowsClient } from "../../client/rows.js";
import type { ClientFlags } from "../session/options.js";
import { rerunCommand } from "../shadow/command.js";
import { walkAllRuns, walkRuns } from "../../client/walk.js";
import { collect } from "../../support/read-ahead.js";
import type { Printer } from "../terminal/print.js";
import type { Column } from "../terminal/table.js";
import { type ListPage, slicePage, printPage } from "../terminal/page.js";
import { shownId } from "../terminal/text.js";

export function runsCommand(runs: Command, run: Runner): void {
  runs.addHelpText("after", examples("graph-serve runs list 0198c0de-0000-7000-8000-000000000000"));
  addClientOptions(
    runs
      .command("list")
      .description("List the runs of a thread, or of all threads, newest first.")
      .argument("[thread]", `${THREAD}; default all threads`)
      .option(
        "--status <status>",
        "only runs with this status: pending, running, success, error, timeout or interrupted",
      )
      .option("--limit <n>", "maximum number of runs", "10")
      .option("--offset <n>", "number of runs to skip"),
  )
    .addHelpText(
      "after",
      examples(
        "graph-serve runs list 0198c0de-0000-7000-8000-000000000000",
        "graph-serve runs list --status error --json",
      ),
    )
    .action((thread, options, command) =>
      run(command, async (session) => listRuns(session, thread, options)),
    );
  addClientOptions(
    runs
      .command("tail")
      .description(
        "Follow the runs of a server as they start, run nodes and end; without --url, of this project's dev server or storage.",
      ),
  )
    .addHelpText(
      "after",
      examples(
        "graph-serve runs tail",
        "graph-serve runs tail --url http://127.0.0.1:2024",
        "graph-serve runs tail --json",
      ),
    )
    .action((options, command) =>
      run(command, async (session) => (await import("../tail/tail.js")).tailRuns(session, options)),
    );
  addRerunCommand(runs, run);
  addDeadCommands(runs, run);
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

function addRerunCommand(runs: Command, run: Runner): void {
  const command = runs
    .command("rerun")
    .description(
      "Execute stored runs again on the graphs of now, in memory, and list which of them still fail; changes nothing.",
    );
  rerunCommand(command, run);
}

function addDeadCommands(runs: Command, run: Runner): void {
  addClientOptions(
    runs
      .command("dead")
      .description(
        "List dead runs, newest first: runs that failed because their processes crashed and that can be requeued.",
      )
      .option("--limit <n>", "maximum number of runs", "10")
      .option("--offset <n>", "number of runs to skip"),
  )
    .addHelpText("after", examples("graph-serve runs dead", "graph-serve runs dead --json"))
    .action((options, command) =>
      run(command, async (session) => (await import("../runs/dead-runs.js")).listDeadRuns(session, options)),
    );
  addClientOptions(
    runs
      .command("redrive")
      .description("Requeue dead runs from their last checkpoints.")
      .argument("[runs...]", "ids of runs")
      .option("--all", "requeue all dead runs"),
  )
    .addHelpText(
      "after",
      examples(
        "graph-serve runs redrive 0198c0de-0000-7000-8000-000000000000",
        "graph-serve runs redrive --all",
      ),
    )
    .action((ids, options, command) =>
      run(command, async (session) =>
        (await import("../runs/dead-runs.js")).redriveRuns(session, ids, options),
      ),
    );
}

interface RunsFlags extends ClientFlags, PageFlags {
  status?: string;
}

/** `runs list`: lists the runs of a thread, or of all threads, newest first. */
async function listRuns(session: Session, thread: string | undefined, flags: RunsFlags): Promise<number> {
  const { print } = session;
  const query = {
    ...pageOf(flags),
    ...(flags.status !== undefined && { status: oneOf("--status", flags.status, RUN_STATUSES) }),
  };
  const list = async (client: RowsClient) => {
    printPage(print, await runPage(client, thread, query), {
      columns: thread === undefined ? withThread(print) : runColumns(print),
      none: thread === undefined ? "no runs found" : "no runs found on this thread",
    });
  };
  // JSON output includes the run's arguments, which `withRows` does not read.
  await (print.isJson ? withClient(session, flags, {}, list) : withRows(session, flags, list));
  return 0;
}

/** Reads one extra run to detect whether there are more. */
async function runPage(
  client: RowsClient,
  thread: string | undefined,
  query: { limit: number; offset: number; status?: Run["status"] },
): Promise<ListPage<ListedRun>> {
  const filter = { ...query, limit: query.limit + 1 };
  const runs =
    thread === undefined
      ? walkAllRuns(client, filter)
      : walkRuns(client, await findThreadId(client, thread), filter);
  return slicePage(await collect(runs), query);
}

function withThread(print: Printer): Column<ListedRun>[] {
  const [run, ...others] = runColumns(print);
  const thread = { title: "THREAD", cell: ({ thread_id }: ListedRun) => shownId(print, thread_id) };
  return [...(run ? [run] : []), thread, ...others];
}
