import type { Command } from "@commander-js/extra-typings";
import type { Thread } from "../../models/thread.js";
import { GraphServeError } from "../../support/errors.js";
import { addFormerCommand, addFormerFlag, examples, type Runner } from "../session/command.js";
import { Option } from "../session/commander.js";
import {
  addClientOptions,
  keyValues,
  listOption,
  clientOptions,
  timeOf,
  wholeNumber,
  checkpointOption,
  oneOf,
  THREAD,
  pageOf,
  type PageFlags,
} from "../session/options.js";
import { confirm, type Session } from "../session/session.js";
import { findThreadId } from "../session/find.js";
import { warnHidden, withClient, withRows } from "../session/open-client.js";
import type { Client } from "../../client/client.js";
import type { RowsClient } from "../../client/rows.js";
import type { ClientFlags } from "../session/options.js";
import { threadArgument } from "../threads/pick.js";
import { printPageTable } from "../terminal/page.js";
import {
  type FilterFlags,
  filterOf,
  sortOf,
  threadColumns,
  listThreadPage,
  type ListedThreadPage,
  listedThread,
  type ListedThread,
} from "../threads/list.js";

const filters = {
  status: () =>
    new Option("--status <status>", "only threads with this status: idle, busy, interrupted or error"),
  metadata: () => listOption("--metadata <k=v>", "only threads with this metadata; V is JSON or a string"),
  values: () => listOption("--values <k=v>", "only threads with this value in their state"),
};

export function threadsCommand(threads: Command, run: Runner): void {
  threads.addHelpText(
    "after",
    examples("graph-serve threads list", "graph-serve threads prune --older-than 30d --dry-run"),
  );
  addReading(threads, run);
  addWriting(threads, run);
  addRemoving(threads, run);
}

function addReading(threads: Command, run: Runner): void {
  addClientOptions(
    threads
      .command("list")
      .description("List threads, last changed first.")
      .addOption(filters.status())
      .addOption(filters.metadata())
      .addOption(filters.values())
      .option("--utc", "show times in UTC instead of relative to now")
      .option("--messages", "show the last message of each thread (loads the graphs)")
      .option("--limit <n>", "maximum number of threads", "10")
      .option("--offset <n>", "number of threads to skip")
      .option(
        "--sort <field>",
        "sort by updated_at, created_at, state_updated_at, status or thread_id; append :asc or :desc",
      )
      .option("--since <time>", "only threads changed since this time; a time, or a duration such as 12h"),
  )
    .addOption(clientOptions.raw())
    .addHelpText(
      "after",
      examples(
        "graph-serve threads list",
        "graph-serve threads list --status interrupted --since 12h",
        "graph-serve threads list --metadata user=ada --json",
        "graph-serve threads list --url http://127.0.0.1:2024 --sort created_at:asc",
      ),
    )
    .action((options, command) => run(command, async (session) => listThreads(session, options)));
  addClientOptions(
    addFormerCommand(threads, "get", "inspect thread")
      .argument("<thread>", THREAD)
      .addOption(clientOptions.raw()),
  ).action((thread, options, command) =>
    run(command, async (session) =>
      (await import("./inspect.js")).inspectThread(session, thread, options, { alone: true }),
    ),
  );
}

function addWriting(threads: Command, run: Runner): void {
  addClientOptions(
    threads
      .command("create")
      .description("Create a thread and print its id.")
      .option("--id <uuid>", "id of the thread (default: generated)")
      .addOption(listOption("--metadata <k=v>", "metadata of the thread; V is JSON or a string"))
      .option("--ttl <minutes>", "delete the thread this many minutes after its last change")
      .option("--if-exists <what>", "if the thread exists: raise exits with code 5, do_nothing prints it"),
  )
    .addHelpText(
      "after",
      examples(
        "graph-serve threads create --metadata user=ada",
        "graph-serve threads create --ttl 60 --json",
      ),
    )
    .action((options, command) => run(command, async (session) => createThread(session, options)));
  addFormerFlag(
    addClientOptions(
      addFormerCommand(threads, "copy", "fork")
        .argument("<thread>", THREAD)
        .addOption(checkpointOption("copy this checkpoint")),
    ).action((thread, options, command) =>
      run(command, async (session) =>
        (await import("./fork.js")).forkThread(session, thread, options, { alone: true }),
      ),
    ),
    "--at <checkpoint>",
    "--checkpoint",
  );
  addClientOptions(
    threads
      .command("patch")
      .description("Merge metadata into a thread, key by key.")
      .argument("[thread]", THREAD)
      .addOption(listOption("--metadata <k=v>", "metadata to merge; V is JSON or a string"))
      .option("--ttl <minutes>", "delete the thread this many minutes after its last change"),
  )
    .addHelpText(
      "after",
      examples("graph-serve threads patch 0198c0de-0000-7000-8000-000000000000 --metadata reviewed=true"),
    )
    .action((thread, options, command) =>
      run(command, async (session) =>
        patchThread(session, await threadArgument(session, options, thread), options),
      ),
    );
}

function addRemoving(threads: Command, run: Runner): void {
  addClientOptions(
    threads
      .command("delete")
      .description("Delete threads with their runs and checkpoints.")
      .argument("[thread...]", THREAD),
  )
    .addHelpText("after", examples("graph-serve threads delete 0198c0de-0000-7000-8000-000000000000 --yes"))
    .action((ids, options, command) =>
      run(command, async (session) =>
        deleteThreads(session, ids.length > 0 ? ids : [await threadArgument(session, options)], options),
      ),
    );
  addClientOptions(
    threads
      .command("prune")
      .description("Delete threads that have not changed for a while; busy threads are kept.")
      .requiredOption("--older-than <time>", "time since the last change, such as 30d, or a point in time")
      .option("--dry-run", "list the threads without deleting them")
      .addOption(filters.status())
      .addOption(filters.metadata())
      .addOption(filters.values()),
  )
    .addHelpText(
      "after",
      examples(
        "graph-serve threads prune --older-than 30d --dry-run",
        "graph-serve threads prune --older-than 12h --status error --yes",
      ),
    )
    .action((options, command) =>
      run(command, async (session) => (await import("../threads/prune.js")).pruneThreads(session, options)),
    );
}

interface ListFlags extends ClientFlags, FilterFlags, PageFlags {
  messages?: boolean;
  utc?: boolean;
  sort?: string;
  since?: string;
}

/** `threads list`: one page of threads, last changed first unless `--sort` is set. */
async function listThreads(session: Session, flags: ListFlags): Promise<number> {
  const { print } = session;
  const request = { ...filterOf(flags), ...sortOf(flags.sort) };
  const page = {
    ...pageOf(flags),
    since: flags.since === undefined ? undefined : timeOf("--since", flags.since),
  };
  const asJson = print.isJson;
  if (!asJson && !flags.messages && !request.values) {
    await withRows(session, flags, async (client) =>
      showThreads(session, client, await listThreadPage(client, request, page), flags),
    );
    return 0;
  }
  await withClient(session, flags, {}, async (client) => {
    const { items, next } = await listThreadPage(client, request, page);
    warnHidden(print, client, items);
    if (print.flags.jsonl) items.forEach((thread) => print.json(thread));
    else if (print.flags.json) print.json({ items, next });
    else await showThreads(session, client, { items, next }, flags);
  });
  return 0;
}

async function showThreads(
  { print }: Session,
  client: RowsClient,
  { items: threads, next }: ListedThreadPage,
  columns: { messages?: boolean; utc?: boolean },
): Promise<void> {
  const rows: ListedThread[] = [];
  for (const thread of threads) rows.push(await listedThread(client, thread));
  const form = { columns: threadColumns(print, columns), none: `no threads found in ${client.place}` };
  printPageTable(print, { items: rows, next }, form);
}

interface WriteFlags extends ClientFlags {
  metadata?: string[];
  ttl?: string;
}

interface CreateFlags extends WriteFlags {
  id?: string;
  ifExists?: string;
}

const IF_EXISTS = ["raise", "do_nothing"] as const;

/** `threads create`: creates a thread and prints its id. */
async function createThread(session: Session, flags: CreateFlags): Promise<number> {
  const { id, ifExists } = flags;
  const request = {
    ...written(flags),
    ...(id !== undefined && { thread_id: id }),
    ...(ifExists !== undefined && { if_exists: oneOf("--if-exists", ifExists, IF_EXISTS) }),
  };
  return change(session, flags, (client) => client.threads.create(request).catch(explainTaken(id)));
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

/** `threads patch`: merges metadata key by key. */
function patchThread(session: Session, thread: string, flags: WriteFlags): Promise<number> {
  const request = written(flags);
  return change(session, flags, async (client) =>
    client.threads.update(await findThreadId(client, thread), request),
  );
}

function written({ metadata, ttl }: WriteFlags) {
  return {
    ...(metadata && { metadata: keyValues("--metadata", metadata) }),
    ...(ttl !== undefined && { ttl: wholeNumber("--ttl", ttl, 1) }),
  };
}

/** Changes a thread and prints it: in full with `--json`, else only its id, for use in other commands. */
async function change(
  session: Session,
  flags: ClientFlags,
  work: (client: Client) => Promise<Thread>,
): Promise<number> {
  const { print } = session;
  const thread = await withClient(session, flags, { access: "write" }, work);
  if (print.isJson) print.json(thread);
  else print.data(thread.thread_id);
  return 0;
}

/** `threads delete`: deletes threads with their runs and checkpoints. */
async function deleteThreads(
  session: Session,
  threads: readonly string[],
  flags: ClientFlags,
): Promise<number> {
  const { print } = session;
  await withClient(session, flags, { access: "write" }, async (client) => {
    const ids: string[] = [];
    for (const thread of threads)
      ids.push((await client.threads.get(await findThreadId(client, thread))).thread_id);
    const what = ids.length === 1 ? `thread ${ids[0]}` : `${ids.length} threads`;
    if (!(await confirm(session, `Delete ${what} with all its runs and checkpoints?`))) return;
    for (const id of ids) await client.threads.delete(id);
    if (print.isJson) print.json({ deleted: ids });
    else print.note(`deleted ${what}`);
  });
  return 0;
}
