import { Option } from "@commander-js/extra-typings";
import { examples, type Parent, type Runner } from "../command.js";
import { listOption } from "../key-values.js";
import { sourceOptions } from "../source/source-options.js";

const THREAD = "id of the thread, or its beginning";
const CHECKPOINT = "a checkpoint's id or the beginning of it, a step, or -1 for the latest";
const filters = {
  status: () => new Option("--status <status>", "only threads that are idle, busy, interrupted or error"),
  metadata: () => listOption("--metadata <k=v>", "only threads with this metadata; V is JSON, or else text"),
  values: () => listOption("--values <k=v>", "only threads with this value in their state"),
};

export function addThreadsCommand(program: Parent, run: Runner): void {
  const threads = program
    .command("threads")
    .description("List, read, make, change and delete threads, with or without a server.")
    .addHelpText(
      "after",
      examples("graph-serve threads list", "graph-serve threads prune --older-than 30d --dry-run"),
    );
  addReading(threads, run);
  addWriting(threads, run);
  addRemoving(threads, run);
}

const load = () => import("../actions/threads.js");

function addReading(threads: Parent, run: Runner): void {
  threads
    .command("list")
    .description("List threads, the one changed last first.")
    .addOption(filters.status())
    .addOption(filters.metadata())
    .addOption(filters.values())
    .option("--limit <n>", "most threads to list", "10")
    .option("--offset <n>", "threads to skip")
    .option(
      "--sort <field>",
      "updated_at, created_at, state_updated_at, status or thread_id, with :asc or :desc",
    )
    .option("--since <time>", "only threads changed since: a time, or a duration such as 12h")
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addOption(sourceOptions.raw())
    .addHelpText(
      "after",
      examples(
        "graph-serve threads list",
        "graph-serve threads list --status interrupted --since 12h",
        "graph-serve threads list --metadata user=ada --json",
        "graph-serve threads list --url http://127.0.0.1:2024 --sort created_at:asc",
      ),
    )
    .action((options, command) =>
      run(command, async (session) => (await load()).listThreads(session, options)),
    );
  threads
    .command("get")
    .description("Show a thread with its latest values.")
    .argument("<thread>", THREAD)
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addOption(sourceOptions.raw())
    .addHelpText("after", examples("graph-serve threads get 0198c0de-0000-7000-8000-000000000000 --json"))
    .action((thread, options, command) =>
      run(command, async (session) => (await load()).getThread(session, thread, options)),
    );
}

function addWriting(threads: Parent, run: Runner): void {
  threads
    .command("create")
    .description("Make a thread and print its id.")
    .option("--id <uuid>", "id of the thread; made up when left out")
    .addOption(listOption("--metadata <k=v>", "metadata of the thread; V is JSON, or else text"))
    .option("--ttl <minutes>", "delete the thread so long after its last change")
    .option("--if-exists <what>", "when there is such a thread: raise exits 5, do_nothing prints it")
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addHelpText(
      "after",
      examples(
        "graph-serve threads create --metadata user=ada",
        "graph-serve threads create --ttl 60 --json",
      ),
    )
    .action((options, command) =>
      run(command, async (session) => (await load()).createThread(session, options)),
    );
  threads
    .command("copy")
    .description("Make a thread with the latest state of another, without its history, and print its id.")
    .argument("<thread>", THREAD)
    .option("--at <checkpoint>", `${CHECKPOINT} (default the latest)`)
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addHelpText(
      "after",
      examples(
        "graph-serve threads copy 0198c0de-0000-7000-8000-000000000000",
        "graph-serve threads copy 0198c0de-0000-7000-8000-000000000000 --at -2 --json",
      ),
    )
    .action((thread, options, command) =>
      run(command, async (session) => (await load()).copyThread(session, thread, options)),
    );
  threads
    .command("patch")
    .description("Change the metadata of a thread, key by key.")
    .argument("<thread>", THREAD)
    .addOption(listOption("--metadata <k=v>", "metadata to merge in; V is JSON, or else text"))
    .option("--ttl <minutes>", "delete the thread so long after its last change")
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addHelpText(
      "after",
      examples("graph-serve threads patch 0198c0de-0000-7000-8000-000000000000 --metadata reviewed=true"),
    )
    .action((thread, options, command) =>
      run(command, async (session) => (await load()).patchThread(session, thread, options)),
    );
}

function addRemoving(threads: Parent, run: Runner): void {
  threads
    .command("delete")
    .description("Delete threads with their runs and checkpoints.")
    .argument("<thread...>", THREAD)
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addHelpText("after", examples("graph-serve threads delete 0198c0de-0000-7000-8000-000000000000 --yes"))
    .action((ids, options, command) =>
      run(command, async (session) => (await load()).deleteThreads(session, ids, options)),
    );
  threads
    .command("prune")
    .description("Delete the threads that have not changed for a while; busy ones stay.")
    .requiredOption("--older-than <time>", "a duration since the last change, such as 30d, or a time")
    .option("--dry-run", "only list them")
    .addOption(filters.status())
    .addOption(filters.metadata())
    .addOption(filters.values())
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addHelpText(
      "after",
      examples(
        "graph-serve threads prune --older-than 30d --dry-run",
        "graph-serve threads prune --older-than 12h --status error --yes",
      ),
    )
    .action((options, command) =>
      run(command, async (session) =>
        (await import("../actions/threads-prune.js")).pruneThreads(session, options),
      ),
    );
}
