import { examples, type Parent, type Runner } from "../command.js";
import { sourceOptions } from "../source/source-options.js";

const EXAMPLE = "0198c0de-0000-7000-8000-000000000000";

export function addHistoryCommand(program: Parent, run: Runner): void {
  program
    .command("history")
    .description(
      "Show the checkpoints of a thread, newest first, with the branches of forks and time travel.",
    )
    .argument("<thread>", "id of the thread, or its beginning")
    .option("--limit <n>", "most checkpoints to show; all when left out")
    .option("--before <checkpoint>", "only checkpoints before this one")
    .option("--run <run>", "only checkpoints of this run")
    .option("--node <node>", "only checkpoints that this node led to")
    .option("--ns <namespace>", "namespace of a subgraph")
    .option("--reverse", "oldest first")
    .option("--graph", "draw the branches; done anyway unless --oneline, --reverse or --node is given")
    .option("--oneline", "a line a checkpoint")
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addOption(sourceOptions.raw())
    .addHelpText(
      "after",
      examples(
        `graph-serve history ${EXAMPLE}`,
        `graph-serve history ${EXAMPLE} --oneline --graph --limit 20`,
        `graph-serve history ${EXAMPLE} --run 0198c0de-0000-7000-8000-000000000001 --reverse`,
        `graph-serve history ${EXAMPLE} --url http://127.0.0.1:2024 --jsonl`,
      ),
    )
    .action((thread, options, command) =>
      run(command, async (session) =>
        (await import("../actions/history.js")).history(session, thread, options),
      ),
    );
}
