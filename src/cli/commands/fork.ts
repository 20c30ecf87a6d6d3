import { examples, type Parent, type Runner } from "../command.js";
import { sourceOptions } from "../source/source-options.js";

const CHECKPOINT = "checkpoint: an id, its beginning, a step, or -1 for the latest";

export function addForkCommand(program: Parent, run: Runner): void {
  program
    .command("fork")
    .description("Give a thread another future: on a copy of it, or as a branch.")
    .argument("<thread>", "id of the thread, or its beginning")
    .option("--at <checkpoint>", `${CHECKPOINT} (default the latest)`)
    .option("--values <json>", "values to write first, through the graph's reducers")
    .option("--as-node <node>", "node that the values are attributed to")
    .option("--branch", "stay on the thread: the checkpoint gets another successor")
    .option("--run", "go on at once")
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addHelpText(
      "after",
      examples(
        "graph-serve fork 0198c0de",
        "graph-serve fork 0198c0de --at 2 --values '{\"count\": 3}' --run",
        "graph-serve fork 0198c0de --at -2 --branch --run",
      ),
    )
    .action((thread, options, command) =>
      run(command, async (session) =>
        (await import("../actions/fork.js")).forkThread(session, thread, options),
      ),
    );
}

export function addStateCommand(program: Parent, run: Runner): void {
  const state = program
    .command("state")
    .description("Edit the state of a thread.")
    .addHelpText("after", examples("graph-serve state set 0198c0de --values '{\"count\": 3}'"));
  state
    .command("set")
    .description("Write values into the state of a thread, through the graph's reducers.")
    .argument("<thread>", "id of the thread, or its beginning")
    .option("--values <json>", "values to write")
    .option("--as-node <node>", "node that the values are attributed to")
    .option("--at <checkpoint>", `${CHECKPOINT} (default the latest)`)
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addHelpText(
      "after",
      examples(
        "graph-serve state set 0198c0de --values '{\"count\": 3}'",
        "graph-serve state set 0198c0de --values '{\"count\": 3}' --as-node reply --at 1",
      ),
    )
    .action((thread, options, command) =>
      run(command, async (session) =>
        (await import("../actions/state.js")).setState(session, thread, options),
      ),
    );
}
