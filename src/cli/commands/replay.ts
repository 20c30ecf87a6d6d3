import { Option } from "@commander-js/extra-typings";
import { examples, type Parent, type Runner } from "../command.js";
import { sourceOptions } from "../source/source-options.js";

export function addReplayCommand(program: Parent, run: Runner): void {
  program
    .command("replay")
    .description("Go through a thread checkpoint by checkpoint; no node is executed, but with --execute.")
    .argument("<thread>", "id of the thread, or its beginning")
    .option("--from <checkpoint>", "first checkpoint: an id, its beginning, a step, or -1 for the latest")
    .option("--to <checkpoint>", "last checkpoint")
    .option("--delay <ms>", "wait this long between two")
    .option("--step", "go on by keys: space, p back, q quit")
    .option("--changed-only", "leave out those that changed nothing")
    .addOption(
      new Option("--format <format>", "html is one page that needs nothing else")
        .choices(["text", "html"] as const)
        .default("text"),
    )
    .option("--execute", "run the thread again from a checkpoint, on a copy")
    .option("--in-place", "with --execute: run on the thread itself, as a branch")
    .option("--at <checkpoint>", "with --execute: checkpoint to run from (default the start of the last run)")
    .option("--values <json>", "with --execute: values to write first")
    .option("--as-node <node>", "with --execute: node that the values are attributed to")
    .option("--against <graph>", "with --execute: graph to run instead, such as ./graph.ts:graph")
    .option("--compare", "with --execute: show old and new side by side")
    .option("--exit-code", "with --compare: exit 1 when they differ")
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addOption(sourceOptions.raw())
    .addHelpText(
      "after",
      examples(
        "graph-serve replay 0198c0de",
        "graph-serve replay 0198c0de --step",
        "graph-serve replay 0198c0de --format html > thread.html",
        "graph-serve replay 0198c0de --execute --against ./graph.ts:graph --compare",
      ),
    )
    .action((thread, options, command) =>
      run(command, async (session) =>
        options.execute
          ? (await import("../actions/replay-execute.js")).replayExecute(session, thread, options)
          : (await import("../actions/replay.js")).replay(session, thread, options),
      ),
    );
}
